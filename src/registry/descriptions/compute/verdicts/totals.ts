import { rdf } from "../../../../rdf/vocabularies.ts";
import type { DatasetCount } from "../fact-base.ts";
import { type FactKind, factKinds } from "../fact-kinds.ts";
import { keysOf, sizeOf } from "../kind-facts.ts";
import { countOf, type Observation, solutionsOf } from "../observation.ts";
import { listTotalQuery, missingKeyQuery, solutionQuery } from "../queries.ts";
import { ask, type Counted, keepTotal, type ListTotal, type Run } from "../run.ts";
import { markInconsistent, type Verdict } from "./keys.ts";

/** The longest lists that are made, by the variable of their keys. */
export const mostListed = { c: 10_000, p: 10_000, g: 500 } as const;

/** The keys of a list. */
export const listed = (run: Run, kind: FactKind): readonly string[] => [...keysOf(run.base, kind).keys()];

/** Counts all solutions and distinct keys of a list once, and remembers them for its verification. */
async function countAll(run: Run, kind: FactKind): Promise<ListTotal | undefined> {
  const total = run.listTotals.get(kind.name) ?? (run.dialect.count ? await askTotal(run, kind) : undefined);
  if (total !== undefined) run.listTotals.set(kind.name, total);
  return total;
}

/** Counts a list, and makes sure that no solution is behind the last one counted. */
export async function countList(run: Run, kind: FactKind): Promise<ListTotal | undefined> {
  const total = await countAll(run, kind);
  if (total !== undefined) await lookBeyond(run, kind, total);
  return total;
}

async function askTotal(run: Run, kind: FactKind): Promise<ListTotal | undefined> {
  const outcome = await ask(run, { query: listTotalQuery(kind, run.dialect), level: 1 });
  if (!outcome.ok || !outcome.sound) return undefined;
  const [row] = outcome.answer.rows;
  const solutions = countOf(row?.get("n"));
  const keys = countOf(row?.get("d"));
  if (solutions === undefined || outcome.answer.rows.length !== 1) return undefined;
  if (keys === undefined && run.dialect.countDistinct) return undefined;
  return { solutions, keys, record: outcome.record };
}

/** Notes when all solutions of a list that contradicted itself have another number by now: that explains it. */
export async function noteChange(run: Run, kind: FactKind): Promise<void> {
  const before = run.listTotals.get(kind.name);
  if (before === undefined || !run.inconsistent) return;
  const now = await askTotal(run, kind);
  if (now === undefined || now.solutions === before.solutions) return;
  const what = `the data changed meanwhile: ${before.solutions} triples, then ${now.solutions}`;
  run.todo.note({ what, why: "partial", record: now.record });
}

/** Asks for one solution beyond the count: if there is one, only some of them were counted. */
async function lookBeyond(run: Run, kind: FactKind, { solutions, record }: ListTotal): Promise<void> {
  const outcome = await ask(run, { query: solutionQuery(kind, solutions, run.dialect), level: 2 });
  if (outcome.ok && outcome.answer.rows.length > 0) markInconsistent(run, solutions, record);
}

/** A list as an answer showed it. */
export interface AnsweredList {
  /** The answer with counts, where there is one for all keys. */
  readonly observation?: Observation | undefined;
  /** Nothing in the answer says that something is missing. */
  readonly whole: boolean;
}

/**
 * Marks the lists complete whose sums agree with a count of all triples, before their counts are verified. Class by class,
 * the solutions add up to the triples of `rdf:type`, so that classes need no query of their own.
 */
export async function verifyLists(run: Run, classes: AnsweredList, properties: AnsweredList): Promise<void> {
  const { observation, whole } = properties;
  if (observation === undefined || !whole || !run.dialect.count) return;
  const total = await countAll(run, factKinds.properties);
  // Two empty answers may also come from an endpoint that failed on queries over everything.
  if (run.inconsistent || !total?.solutions || sumOf(observation) !== total.solutions) return;
  run.base.properties.complete = true;
  const typed = solutionsOf(observation.groups.get(rdf.type)) ?? 0;
  // A list that an earlier run has verified is not made again.
  if (classes.whole && classes.observation && sumOf(classes.observation) === typed) run.base.classes.complete = true;
}

/** True if a second method confirms that a list is complete. */
export async function isVerified(run: Run, kind: FactKind, observation: Observation | undefined): Promise<boolean> {
  if (run.inconsistent || !run.dialect.count) return false;
  const keys = listed(run, kind);
  // An empty answer may also come from an endpoint that failed on a query over everything.
  if (keys.length === 0) return (await missing(run, kind, keys)) === 0;
  const total = run.listTotals.get(kind.name);
  const sum = observation && sumOf(observation);
  if (!isCountedExactly(run, kind) || (total && sum !== undefined && sum !== total.solutions)) return false;
  return total?.keys === undefined ? isExhausted(run, kind, keys) : total.keys === keys.length;
}

function sumOf(observation: Observation): number | undefined {
  let sum = 0;
  for (const groups of observation.groups.values()) {
    const solutions = solutionsOf(groups);
    if (solutions === undefined) return undefined;
    sum += solutions;
  }
  return sum;
}

/** A query for a key that is not listed finds none, and does find one that was left out on purpose. */
async function isExhausted(run: Run, kind: FactKind, keys: readonly string[]): Promise<boolean> {
  if (keys.length > mostListed[kind.key]) return false;
  if ((await missing(run, kind, keys)) !== 0) return false;
  for (const hidden of [keys.at(0), keys.at(-1)]) {
    const others = keys.filter((key) => key !== hidden);
    if ((await missing(run, kind, others)) !== 1) return false;
  }
  return true;
}

async function missing(run: Run, kind: FactKind, keys: readonly string[]): Promise<number | undefined> {
  const outcome = await ask(run, { query: missingKeyQuery(kind, keys, run.dialect), level: 2 });
  return outcome.ok && outcome.sound ? outcome.answer.rows.length : undefined;
}

/** All keys have exact counts: batches agreed with their sum, or with totals of their own. */
function isCountedExactly({ base }: Run, kind: FactKind): boolean {
  return [...keysOf(base, kind).values()].every((fact) => sizeOf(kind, fact)?.status === "exact");
}

/** Findings about a list. */
interface ListVerdict {
  readonly complete: boolean;
  readonly total: ListTotal | undefined;
  /** Where it shows; undefined when nothing was answered. */
  readonly record: number | undefined;
}

/** Keeps the counts of the dataset that follow from a list and its total. */
export function keepTotals(run: Run, kind: FactKind, { complete, total, record }: ListVerdict): void {
  const list = keysOf(run.base, kind);
  list.complete = complete;
  if (kind.key === "g" || record === undefined) return;
  const keep = (name: DatasetCount, ofKeys: number, counted = 0): void => {
    const value = complete ? ofKeys : Math.max(ofKeys, counted);
    keepTotal(run, name, { value, status: complete ? "exact" : "lowerBound", record });
  };
  keep(kind.key === "c" ? "classes" : "properties", list.size, total?.keys);
  if (kind.key !== "p") return;
  const triples = list.values().reduce((sum, fact) => sum + (fact.triples?.value ?? 0), 0);
  keep("triples", triples, total?.solutions);
}

/**
 * Keeps what two shapes of a query say of the dataset's nodes: exact where nothing was cut and both agree. Where nothing was cut
 * and they differ, one of the shapes is wrong, and nothing is kept.
 */
export function keepNodes(
  run: Run,
  name: DatasetCount,
  { one, other }: { readonly one: Counted | undefined; readonly other: Counted },
): Verdict {
  const whole = isTrusted(run) && one?.sound === true && other.sound;
  const [first, second] = [one?.value ?? 0, other.value ?? 0];
  if (whole && first !== second) return "contradicts";
  const { record } = one ?? other;
  keepTotal(run, name, { value: Math.max(first, second), status: whole ? "exact" : "lowerBound", record });
  return whole ? "agrees" : "unknown";
}

/** All triples were counted whole, so an answer over all of them is not beyond the endpoint. */
const isTrusted = (run: Run): boolean => !run.inconsistent && run.base.totals.triples?.status === "exact";
