import { type Clock, sleep } from "../../../clock.ts";
import type { Count, MeasurementRecord, VoidDescription } from "../void-description.ts";
import type { DescribeTarget } from "./describer.ts";
import { describedFacts, hasClaims, type DatasetCount, type FactBase, mergedCount, withClaims } from "./fact-base.ts";
import { type FactKind, type FactKindName, keysOf, sizeOf } from "./fact-kinds.ts";
import { countOf, isCut, type Observation, readObservation } from "./observation.ts";
import { type Dialect, groupsQuery, probedRows, rowCapQuery, type Selection } from "./queries.ts";
import type { Todo } from "./todo.ts";
import type { ReadTriple } from "./read-whole.ts";
import { reconcile } from "./reconcile.ts";
import type { ErrorCode } from "../../../errors/codes.ts";
import type { Asker, WholeAnswer } from "../../../outbound/whole-answer.ts";
import type { AskedEndpoint } from "../../catalog/catalog.ts";
import { type Failed, RequestLog } from "../request-log.ts";

/** All solutions of a list and its distinct keys. */
export interface ListTotal {
  readonly solutions: number;
  /** Undefined where only solutions can be counted. */
  readonly keys: number | undefined;
  readonly record: number;
}

/** One run of the describer, with its knowledge of the endpoint. */
export interface Run {
  readonly target: DescribeTarget;
  readonly clock: Clock;
  /** The description that it goes on from. */
  readonly known: VoidDescription | undefined;
  /** ISO 8601; of a run that goes on, when the first one began. */
  readonly startedAt: string;
  readonly session: Session;
  readonly base: FactBase;
  /** The publisher's description: keys worth asking for, and a second source for what agrees with it. */
  readonly claims: FactBase;
  readonly todo: Todo;
  dialect: Dialect;
  /** Rows after which answers are cut; absent: unknown, or none. */
  cap: number | undefined;
  /** Largest number of rows that arrived whole: smaller answers are not cut. */
  wholeRows: number;
  /** Keys in one query. */
  readonly mostKeys: number;
  /** Characters of all keys in one query. */
  readonly mostText: number;
  /** Rows taken in so far, which bounds memory. */
  rowsSeen: number;
  /** Answers contradicted each other: nothing found from now on is called exact or complete. */
  inconsistent: boolean;
  /** Work (solutions) from which an answer is known to have lacked some. */
  inconsistentFrom: number;
  /** Solutions of which the keys are listed where all are too many; shrinks while that is too much. */
  limit: number;
  /** Weights of the single keys of a kind that have failed. */
  readonly failed: Map<FactKindName, readonly number[]>;
  /** Kinds whose query for all keys failed or was cut. */
  readonly tooMuch: Map<FactKindName, "failed" | "cut">;
  /** Solutions and distinct keys of the lists, each counted in one row. */
  readonly listTotals: Map<FactKindName, ListTotal>;
  /** Takes the description so far, for a later run to go on from. */
  readonly save: ((description: VoidDescription) => Promise<void>) | undefined;
  /** Questions between two times that it is saved. */
  readonly checkpointEvery: number;
  /** Questions since the last time. */
  unsaved: number;
  /** All triples, where the dataset is described from them. */
  triples: readonly ReadTriple[] | undefined;
  /** Reports the progress of the run. */
  readonly progress: (stage: string, done: number, total: number) => void;
}

/**
 * Asks a question, and saves the description so far every few of them.
 * @throws StopRun when the run must end; what saving throws
 */
export async function ask(run: Run, question: Question): Promise<Outcome> {
  const outcome = await run.session.ask(question);
  run.unsaved += 1;
  if (run.unsaved >= run.checkpointEvery) await checkpoint(run);
  return outcome;
}

/** Saves the description so far, unless nothing was asked since the last time. */
export async function checkpoint(run: Run): Promise<void> {
  if (run.unsaved === 0) return;
  run.unsaved = 0;
  await run.save?.(describedBy(run));
}

/** The description so far: facts that agree with each other, above the publisher's claims. */
export function describedBy({ target, clock, known, startedAt, session, base, claims, todo }: Run): VoidDescription {
  reconcile(base, todo);
  const { shown, lacking } = hasClaims(known) ? withClaims(base, claims) : { shown: base, lacking: [] };
  for (const fact of lacking) todo.note({ ...fact, why: "contradicted" });
  const { requests, bytes, ms } = session.spent;
  const before = known?.cost ?? { requests: 0, bytes: 0, ms: 0 };
  return {
    endpoint: target.endpoint.url,
    id: target.endpoint.id,
    dataset: target.dataset ?? known?.dataset ?? `${target.endpoint.url}#dataset`,
    startedAt,
    finishedAt: new Date(clock.now()).toISOString(),
    unfinished: todo.unfinished,
    unknown: todo.unknown(),
    records: [...session.records],
    cost: { requests: before.requests + requests, bytes: before.bytes + bytes, ms: before.ms + ms },
    ...describedFacts(shown, known),
  };
}

/** Rows of one run; each may be a fact that is kept. */
const mostRowsSeen = 2_000_000;

/** Asks for the groups of a kind and reads them. */
export async function observe(
  run: Run,
  kind: FactKind,
  options: { readonly selection: Selection; readonly level: MeasurementRecord["rung"] },
): Promise<Observation | Unanswered> {
  const { selection, level } = options;
  const outcome = await ask(run, { query: groupsQuery(kind, selection, run.dialect), level });
  if (!outcome.ok) return outcome;
  const { answer, record, sound } = outcome;
  run.rowsSeen += answer.rows.length;
  if (run.rowsSeen > mostRowsSeen) throw new StopRun("budget");
  const only = selection.keys?.length === 1 ? selection.keys[0] : undefined;
  const observation = readObservation(answer, {
    kind,
    only,
    record,
    sound,
    cut: !hasAll(kind, selection, answer.rows.length) && (await isCutFor(run, answer.rows.length)),
    counted: run.dialect.count,
  });
  return observation;
}

/** The outcome of a query that counts. */
export interface Counted {
  /** Undefined when no such number came. */
  readonly value: number | undefined;
  readonly sound: boolean;
  /** Set when no answer came. */
  readonly why?: Unanswered["why"];
  readonly record: number;
}

/** Asks for the one number `?n`. */
export async function askCount(run: Run, query: string): Promise<Counted> {
  const outcome = await ask(run, { query, level: 1 });
  const { record } = outcome;
  if (!outcome.ok) return { value: undefined, sound: false, why: outcome.why, record };
  const [row, second] = outcome.answer.rows;
  return { value: second === undefined ? countOf(row?.get("n")) : undefined, sound: outcome.sound, record };
}

/** Keeps a count of the whole dataset beside its other facts. */
export function keepTotal({ base }: Run, name: DatasetCount, count: Count): void {
  // "At least none" says nothing.
  if (count.status === "lowerBound" && count.value === 0) return;
  base.totals[name] = mergedCount(base.totals[name], count);
}

/** A row for each of the keys that were asked for: there can be no more. */
function hasAll(kind: FactKind, { keys }: Selection, rows: number): boolean {
  return kind.detail.length === 0 && keys !== undefined && rows === keys.length;
}

/** True if an answer of `rows` rows may have been cut at this endpoint; probes for a cap that large answers may have met. */
export async function isCutFor(run: Run, rows: number): Promise<boolean> {
  const larger = probedRows.find((size) => size > rows);
  const isKnown = run.cap !== undefined || rows < run.wholeRows || !run.dialect.values;
  if (!isKnown && rows >= probedRows[0] && larger !== undefined) await probeRowCap(run, larger);
  return rows < run.wholeRows ? false : isCut(rows, run.cap);
}

/** Asks for `size` rows; receiving fewer reveals the cap, if the endpoint supports VALUES at all. */
export async function probeRowCap(run: Run, size: (typeof probedRows)[number]): Promise<number> {
  const outcome = await ask(run, { query: rowCapQuery(size), level: 1, maxRows: 2 * size });
  const rows = outcome.ok ? outcome.answer.rows.length : 0;
  if (rows >= size) run.wholeRows = run.cap === undefined ? size : run.wholeRows;
  else if (rows >= leastCap) run.cap = Math.min(run.cap ?? rows, rows);
  return rows;
}

/** Fewer rows than this are no cap but a misunderstanding of VALUES. */
export const leastCap = 20;

/** True for observations. */
export const isSeen = (outcome: Observation | Unanswered): outcome is Observation => "groups" in outcome;

/** Weight of a key: the number of solutions of its own pattern, as far as known. */
export function weightIn({ base, claims }: Run, kind: FactKind): (key: string) => number {
  const countIn = (facts: FactBase, key: string) => sizeOf(kind, keysOf(facts, kind).get(key));
  return (key) => (countIn(base, key) ?? countIn(claims, key))?.value ?? 1;
}

/** One query of the description. */
interface Question {
  readonly query: string;
  readonly level: MeasurementRecord["rung"];
  readonly maxRows?: number;
  /** Of the answer, decoded; default: `mostBytes`. */
  readonly maxBytes?: number;
  readonly kind?: "quads";
  /** Media type; default: as rows take the fewest bytes. */
  readonly accept?: string;
}

/** A whole answer arrived, perhaps a partial one. */
interface Complete {
  readonly ok: true;
  readonly answer: WholeAnswer;
  readonly record: number;
  /** Nothing speaks against it: not partial, and clearly faster than the endpoint's suspected time limit. */
  readonly sound: boolean;
}

/** No answer came to this query; others may be answered. */
export interface Unanswered {
  readonly ok: false;
  readonly why: Failed["why"];
  /** Failed because the answer is larger than is taken in. */
  readonly tooLarge: boolean;
  readonly record: number;
}

/** The outcome of a question. */
export type Outcome = Complete | Unanswered;

interface SessionOptions {
  readonly asker: Asker;
  readonly clock: Clock;
  readonly endpoint: AskedEndpoint;
  readonly signal: AbortSignal;
  readonly pauseMs: number;
  readonly queryTimeoutMs: number;
  readonly budget: { readonly requests: number; readonly ms: number; readonly bytes: number };
  /** Media types that the endpoint was probed to answer rightly in; undefined: not probed. */
  readonly formats: readonly string[] | undefined;
  /** Records of earlier runs; new ones follow them. */
  readonly records: readonly MeasurementRecord[];
}

/** A row takes a fifth to a third of its bytes in JSON. The client refuses answers in it that change known terms. */
const fewestBytes = "text/tab-separated-values";
const mostRows = 200_000;
/** Of one answer; larger ones are asked for in parts. */
const mostBytes = 4_000_000;
const mostRecords = 5000;
const timeoutsInARow = 5;
const failuresInARow = 10;
const longestWaitMs = 120_000;
const attemptsPerQuery = 8;
/** Below this a duration says nothing of a time limit. */
const shortestLimitMs = 500;

/** The endpoint is to be asked again later. */
interface Postponed {
  readonly waitMs: number;
  /** The endpoint itself named the time. */
  readonly told: boolean;
  readonly unreachable: boolean;
  readonly record: number;
}

/** Asks one endpoint, one request at a time, within the budget, every request on record. Its clock starts at once. */
export class Session {
  readonly #options: SessionOptions;
  readonly #log: RequestLog;
  #timeouts = 0;
  #failures = 0;
  #suspectedLimitMs = Number.POSITIVE_INFINITY;
  /** How rows are asked for; undefined: in any format. */
  #format: string | undefined;
  /** Rows have come in that format. */
  hasShortRows = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#format = options.formats?.includes(fewestBytes) === false ? undefined : fewestBytes;
    const limits = { timeoutMs: options.queryTimeoutMs, maxRows: mostRows, maxBytes: mostBytes };
    const pause = { ms: options.pauseMs, clock: options.clock };
    this.#log = new RequestLog({ ...options, limits, pause, level: 1 });
  }

  get records(): readonly MeasurementRecord[] {
    return this.#log.records;
  }

  /** Rows of groups that an answer may have: one has two or three IRIs and counts. */
  get mostRows(): number {
    return mostBytes / (this.hasShortRows ? 160 : 640);
  }

  /** Requests, decoded bytes and milliseconds of this run. */
  get spent() {
    return this.#log.cost;
  }

  /** @throws StopRun when the run must end: budget, repeated time-outs, endpoint unreachable, cancelled */
  async ask(question: Question): Promise<Outcome> {
    for (let attempt = 1; ; attempt++) {
      this.#checkEnd();
      const outcome = await this.#askOnce(question);
      if (!("waitMs" in outcome)) return outcome;
      const { unreachable, record } = outcome;
      if (attempt >= attemptsPerQuery) {
        if (unreachable) throw new StopRun("unreachable");
        return { ok: false, why: "failed", tooLarge: false, record };
      }
      const waitMs = outcome.waitMs * (outcome.told ? 1 : 2 ** (attempt - 1));
      if (waitMs > Math.min(longestWaitMs, this.#options.budget.ms - this.spent.ms))
        throw new StopRun(unreachable ? "unreachable" : "busy");
      await this.#pause(waitMs);
    }
  }

  #checkEnd(): void {
    if (this.#options.signal.aborted) throw new StopRun("cancelled");
    if (this.#log.isSpent || this.records.length >= mostRecords) throw new StopRun("budget");
    if (this.#timeouts >= timeoutsInARow || this.#failures >= failuresInARow) throw new StopRun("timeouts");
  }

  async #askOnce(question: Question): Promise<Outcome | Postponed> {
    const attempt = await this.#inFewestBytes(question);
    if (attempt.value === undefined) return this.#unanswered(attempt);
    const { value: answer, record, durationMs } = attempt;
    this.#timeouts = 0;
    this.#failures = 0;
    const partial = answer.partial !== undefined;
    if (partial) this.#suspectLimit(durationMs);
    return { ok: true, answer, record, sound: !partial && durationMs < 0.8 * this.#suspectedLimitMs };
  }

  /** Asks once more, in any format, where the endpoint may lack the one of the fewest bytes. */
  async #inFewestBytes(question: Question) {
    const format = question.query.startsWith("SELECT") ? this.#format : undefined;
    if (format === undefined) return this.#send(question);
    const attempt = await this.#send({ ...question, accept: format });
    this.hasShortRows ||= attempt.value?.mediaType === format;
    if (this.hasShortRows || (attempt.value === undefined && !formatFaults.has(attempt.error.code))) return attempt;
    const usual = attempt.value === undefined ? await this.#send(question) : attempt;
    if (usual.value !== undefined) this.#format = undefined;
    return usual;
  }

  /** @throws StopRun when the budget is spent, or the run was cancelled */
  async #send({ query, ...question }: Question) {
    const attempt = await this.#log.ask(query, question).catch((thrown) => {
      throw new StopRun("cancelled", thrown);
    });
    if (attempt === undefined) throw new StopRun("budget");
    return attempt;
  }

  #unanswered({ error, why, record, durationMs }: Failed): Unanswered | Postponed {
    if (error.code === "ADDRESS_REFUSED" || error.code === "INTERNAL") throw error;
    const retry = retries[error.code];
    if (retry !== undefined) {
      const { retryAfterMs } = error.details;
      const waitMs = retryAfterMs ?? Math.max(1000, this.#options.pauseMs);
      return { waitMs, told: retryAfterMs !== undefined, unreachable: retry === "unreachable", record };
    }
    const tooLarge = error.code === "ANSWER_TOO_LARGE";
    // Too large for what is left of the budget: the next run asks again.
    if (tooLarge && this.#log.isSpent) throw new StopRun("budget");
    const isFault = why !== "refused" && !tooLarge;
    this.#timeouts = why === "timeout" ? this.#timeouts + 1 : 0;
    this.#failures = isFault ? this.#failures + 1 : 0;
    if (isFault) this.#suspectLimit(durationMs);
    return { ok: false, why, tooLarge, record };
  }

  #suspectLimit(durationMs: number): void {
    if (durationMs >= shortestLimitMs) this.#suspectedLimitMs = Math.min(this.#suspectedLimitMs, durationMs);
  }

  /** @throws StopRun "cancelled" when the signal aborts meanwhile */
  async #pause(ms: number): Promise<void> {
    const { clock, signal } = this.#options;
    await sleep(ms, { clock, signal });
    if (signal.aborted) throw new StopRun("cancelled");
  }
}

/** Errors that an endpoint which lacks a format, or changes terms in it, may give. */
const formatFaults: ReadonlySet<ErrorCode> = new Set([
  "ENDPOINT_NOT_SPARQL",
  "ENDPOINT_REFUSED",
  "ENDPOINT_REJECTED_QUERY",
  "ENDPOINT_MALFORMED",
]);

/** Errors with which nothing is wrong with the query: it is asked again later. */
const retries: Partial<Record<ErrorCode, "busy" | "unreachable">> = {
  ENDPOINT_RATE_LIMITED: "busy",
  ENDPOINT_BUSY: "busy",
  CIRCUIT_OPEN: "unreachable",
  ENDPOINT_UNREACHABLE: "unreachable",
};

/** Ends a run from any depth before everything is known; never leaves the describer. */
export class StopRun extends Error {
  override readonly name = "StopRun";
  readonly reason: "lists" | "budget" | "timeouts" | "busy" | "unreachable" | "cancelled";

  constructor(reason: StopRun["reason"], cause?: unknown) {
    super(`The run ends: ${reason}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** Something that is asked for together with others, and how much work it is likely to be. */
export interface Weighed {
  readonly key: string;
  /** Solutions, as far as known; at least 1. */
  readonly weight: number;
}

/** Keys in ascending order of weight, then as strings. */
export function weighed(keys: Iterable<string>, weightOf: (key: string) => number): readonly Weighed[] {
  return [...keys]
    .map((key) => ({ key, weight: Math.max(1, weightOf(key)) }))
    .toSorted((one, other) => one.weight - other.weight || (one.key < other.key ? -1 : 1));
}

/** Work of some keys together. */
export const workOf = (items: readonly Weighed[]): number => items.reduce((sum, { weight }) => sum + weight, 0);
