import type { Clock } from "../../../clock.ts";
import type { Count, MeasurementRecord, VoidDescription } from "../void-description.ts";
import type { DescribeTarget } from "./describer.ts";
import { buildDescription } from "./description-builder.ts";
import { type DatasetCount, type FactBase, mergedCount, withClaims } from "./fact-base.ts";
import type { FactKind, FactKindName } from "./fact-kinds.ts";
import { keysOf, sizeOf } from "./kind-facts.ts";
import { countOf, isCut, type Observation, readObservation } from "./observation.ts";
import { type Dialect, groupsQuery, probedRows, rowCapQuery, type Selection } from "./queries.ts";
import { type Outcome, type Question, type Session, type Unanswered, StopRun } from "./session.ts";
import type { Todo } from "./todo.ts";
import type { ReadTriple } from "./triple-facts.ts";
import { reconcile } from "./reconcile.ts";

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
  /** Weight from which single keys of a kind have failed: heavier ones are not tried. */
  readonly heavy: Map<FactKindName, number>;
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
  const { shown, lacking } = withClaims(base, claims);
  for (const fact of lacking) todo.note({ ...fact, why: "contradicted" });
  const { requests, bytes, ms } = session.spent;
  const before = known?.cost ?? { requests: 0, bytes: 0, ms: 0 };
  return buildDescription(shown, {
    endpoint: target.endpoint.url,
    id: target.endpoint.id,
    dataset: target.dataset ?? known?.dataset ?? `${target.endpoint.url}#dataset`,
    known,
    startedAt,
    finishedAt: new Date(clock.now()).toISOString(),
    unfinished: todo.unfinished,
    unknown: todo.unknown(),
    records: session.records,
    cost: { requests: before.requests + requests, bytes: before.bytes + bytes, ms: before.ms + ms },
  });
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
