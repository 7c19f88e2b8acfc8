import { median } from "../proxy/report.ts";
import type { Members, Traffic } from "./members.ts";
import type { Peer } from "./peers/peer.ts";

/** What one peer made of one query. */
export interface Measured {
  readonly query: string;
  readonly peer: string;
  readonly members: number;
  readonly latencyMs: number;
  readonly outcome: "right" | "wrong" | "timeout" | "failed";
  /** Why it is not right. */
  readonly detail?: string;
  /** Median of the repetitions, in milliseconds. */
  readonly ms: number;
  /** Requests of the first time. */
  readonly firstRequests: number;
  /** Of a repetition: the median of the requests, and the traffic of the last one. */
  readonly requests: number;
  /** Of all times together: the interval of verification is longer than the run. */
  readonly verifications: number;
  readonly membersAsked: number;
  readonly sentBytes: number;
  readonly answerBytes: number;
  /** Where the requests of the last repetition go: the most frequent texts, without keys. */
  readonly texts: readonly (readonly [text: string, requests: number])[];
}

/** One query to measure. */
export interface Task {
  readonly query: string;
  readonly latencyMs: number;
  readonly members: Members;
  readonly repetitions: number;
  /** Says what is wrong with an answer: canonical rows, sorted. */
  readonly check: (rows: readonly string[]) => string | undefined;
}

/** A peer and how it is asked this query. */
export interface Contestant {
  readonly peer: Pick<Peer, "name" | "giveUp">;
  ask(signal: AbortSignal): Promise<readonly string[]>;
}

/** A time-out is a result. */
const patienceMs = 60_000;
/** What has taken so long the first time is not asked again. */
const slowMs = 5_000;

interface Attempt {
  readonly outcome: Measured["outcome"];
  readonly detail: string | undefined;
  readonly ms: number;
  readonly traffic: Traffic;
}

/** Asks once cold and then some times warm; nothing but this may ask the members meanwhile. */
export async function measure(task: Task, contestant: Contestant): Promise<Measured> {
  const { members } = task;
  await members.takeTraffic();
  const first = await attempt(task, contestant);
  const attempts = [first];
  for (let time = 0; time < task.repetitions; time++) {
    const last = attempts.at(-1) ?? first;
    if (last.outcome !== "right" || last.ms > slowMs) break;
    attempts.push(await attempt(task, contestant));
  }
  const last = attempts.at(-1) ?? first;
  const warm = attempts.length > 1 ? attempts.slice(1) : attempts;
  return {
    query: task.query,
    peer: contestant.peer.name,
    members: Object.keys(members.urls).length,
    latencyMs: task.latencyMs,
    outcome: last.outcome,
    ...(last.detail !== undefined && { detail: last.detail }),
    ms: median(warm.map(({ ms }) => ms)),
    firstRequests: first.traffic.requests,
    requests: median(warm.map(({ traffic }) => traffic.requests)),
    verifications: attempts.reduce((sum, { traffic }) => sum + traffic.verifications, 0),
    membersAsked: Object.keys(last.traffic.byMember).length,
    sentBytes: last.traffic.sentBytes,
    answerBytes: last.traffic.answerBytes,
    texts: Object.entries(last.traffic.byText)
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, 8),
  };
}

async function attempt({ members, check }: Task, contestant: Contestant): Promise<Attempt> {
  const signal = AbortSignal.timeout(patienceMs);
  const startedMs = performance.now();
  const ended = async (outcome: Measured["outcome"], detail: string | undefined): Promise<Attempt> => {
    const ms = performance.now() - startedMs;
    if (outcome === "timeout") await contestant.peer.giveUp();
    return { outcome, detail, ms, traffic: await members.takeTraffic() };
  };
  try {
    const wrong = check(await contestant.ask(signal));
    return await ended(wrong === undefined ? "right" : "wrong", wrong);
  } catch (error) {
    const message = error instanceof Error ? error.message.slice(0, 300) : String(error);
    return ended(signal.aborted ? "timeout" : "failed", message);
  }
}

/** What the rows of an answer lack and have too much; undefined when they are right. */
export function difference(right: readonly string[], rows: readonly string[]): string | undefined {
  if (right.length === rows.length && right.every((row, index) => row === rows[index])) return undefined;
  const missing = right.find((row) => !rows.includes(row));
  const extra = rows.find((row) => !right.includes(row));
  const parts = [`${rows.length} rows instead of ${right.length}`];
  if (missing !== undefined) parts.push(`missing ${missing.slice(0, 200)}`);
  if (extra !== undefined) parts.push(`too much ${extra.slice(0, 200)}`);
  return parts.join("; ");
}

/** @throws Error naming the queries that Fedway did not answer rightly; what others get wrong is only told */
export function expectFedwayRight(results: readonly Measured[]): void {
  const wrong = results.filter(({ peer, outcome }) => peer === "Fedway" && outcome !== "right");
  if (wrong.length === 0) return;
  const lines = wrong.map(
    ({ query, members, latencyMs, outcome, detail = "" }) =>
      `  ${query} over ${members} members at ${latencyMs} ms: ${outcome}: ${detail}`,
  );
  throw new Error(`Fedway's answers are not right:\n${lines.join("\n")}`);
}

/** The geometric mean of ratios, over the queries that both sides have answered rightly; undefined without any. */
export function meanRatio(
  above: readonly Measured[],
  below: readonly Measured[],
  of: (each: Measured) => number,
): { readonly ratio: number; readonly queries: number } | undefined {
  const isRight = ({ outcome }: Measured): boolean => outcome === "right";
  const others = new Map(below.filter(isRight).map((each) => [each.query, each]));
  const logs = above.filter(isRight).flatMap((each) => {
    const other = others.get(each.query);
    return other && of(each) > 0 && of(other) > 0 ? [Math.log(of(each) / of(other))] : [];
  });
  if (logs.length === 0) return undefined;
  return { ratio: Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length), queries: logs.length };
}
