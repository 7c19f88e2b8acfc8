import { rdf } from "../../../rdf/vocabularies.ts";
import type { Fact } from "../facts.ts";
import type { FactStatus } from "../void-description.ts";
import type { DatasetCount, FactBase } from "./fact-base.ts";
import { completeLists, type FactKind, factKinds, isVerifiedKey, keysOf, recordGroups, sizeOf } from "./fact-kinds.ts";
import {
  countOf,
  type Groups,
  type KeyObservation,
  type Observation,
  solutionsOf,
  sumsByFirst,
} from "./observation.ts";
import { listTotalQuery, missingKeyQuery, solutionQuery } from "./queries.ts";
import { ask, type Counted, keepTotal, type ListTotal, type Run } from "./run.ts";
import type { Todo } from "./todo.ts";

/** The keys of a kind about which something is missing: not dealt with, not verified, not stated by the publisher. */
export function missingKeys(base: FactBase, kind: FactKind, todo: Todo): readonly string[] {
  return todo.open(kind, keysOf(base, kind).keys()).filter((key) => !isVerifiedKey(base, kind, key));
}

/** An answer about this much work (solutions) lacked some of it: nothing found from now on is called exact or complete. */
export function markInconsistent(run: Run, work: number, record: number): void {
  run.inconsistent = true;
  run.inconsistentFrom = Math.min(run.inconsistentFrom, Math.max(1, work));
  run.todo.note({ what: inconsistentAnswers, why: "partial", record });
}

/** Name of the unknown fact that keeps an endpoint's contradictions across runs. */
export const inconsistentAnswers = "answers that contradict each other without saying that they are partial";

/** Judges one key of an answer by the facts known already. */
export function judgeKey(run: Run, kind: FactKind, { key, observation }: KeyObservation): Verdict {
  if (!run.dialect.count || observation.flawed.has(key)) return "unknown";
  const verdict = compareWithKnown(run.base, kind, { key, groups: observation.groups.get(key) ?? new Map() });
  return verdict === "agrees" && run.inconsistent ? "unknown" : verdict;
}

/** Keeps what an answer about keys shows at least. */
export function keepBounds(run: Run, kind: FactKind, keys: Iterable<string>, { groups, record }: Observation): void {
  const status: FactStatus = run.dialect.count ? "lowerBound" : "exists";
  for (const key of keys) recordGroups(run.base, kind, { key, groups: groups.get(key), status, record });
}

/**
 * A second way agrees with an answer about a key: its counts are exact and its lists complete. Without counts there is no
 * way to see that both lack the same, so lists are then left open.
 */
export function accept(run: Run, kind: FactKind, { key, observation }: KeyObservation): void {
  const { record } = observation;
  if (observation.flawed.has(key)) return run.todo.settle(kind, key, { why: "refused", record });
  const { count } = run.dialect;
  const groups = observation.groups.get(key);
  recordGroups(run.base, kind, { key, groups, status: count ? "exact" : "exists", record });
  if (count) completeLists(run.base, kind, key);
  run.todo.settle(kind, key);
}

/**
 * Settles keys with which a second way agrees, and those with which none does; none is verified by an endpoint that contradicts
 * itself.
 * @param agreed absent: all of them
 */
export function settle(
  run: Run,
  kind: FactKind,
  observations: Iterable<KeyObservation>,
  agreed?: ReadonlySet<string>,
): void {
  for (const { key, observation } of observations) {
    if (!run.inconsistent && (agreed === undefined || agreed.has(key))) accept(run, kind, { key, observation });
    else run.todo.settle(kind, key, { why: "partial", record: observation.record });
  }
}

/** Judgement of new groups by exact facts: they fit, they lack something, or nothing is known. */
export type Verdict = "agrees" | "contradicts" | "unknown";

/**
 * Compares the groups of a key with what is known exactly from queries of another kind. Kinds of objects add up to the
 * triples of their property, which verifies the groups; the instances of a class are the subjects of its `rdf:type`
 * triples, which can only refute them ("unknown" when it does not).
 */
export function compareWithKnown(
  base: FactBase,
  kind: FactKind,
  found: { readonly key: string; readonly groups: Groups },
): Verdict {
  switch (kind.name) {
    case "classProperties":
      return instancesFit(base, found);
    case "classDatatypes":
      return sumsFit(base.classes.get(found.key)?.properties, found.groups);
    case "propertyDatatypes": {
      const property = base.properties.get(found.key);
      return fits(property, sumsByFirst(found.groups, 1).get("") ?? 0);
    }
    default:
      return "unknown";
  }
}

function instancesFit(base: FactBase, { key, groups }: { readonly key: string; readonly groups: Groups }): Verdict {
  const entities = base.classes.get(key)?.entities;
  const typing = groups.get(rdf.type);
  // Every instance of a class has an rdf:type.
  if (typing === undefined) return "contradicts";
  if (entities?.status !== "exact" || typing.ds === undefined) return "unknown";
  return typing.ds === entities.value ? "unknown" : "contradicts";
}

function sumsFit(properties: ReadonlyMap<string, Fact> | undefined, groups: Groups): Verdict {
  if (properties === undefined || properties.size === 0) return "unknown";
  const sums = sumsByFirst(groups, 2);
  if ([...sums.keys()].some((property) => !properties.has(property))) return "contradicts";
  let verdict: Verdict = "agrees";
  for (const [property, fact] of properties) {
    const one = fits(fact, sums.get(property) ?? 0);
    if (one === "contradicts") return one;
    if (one === "unknown") verdict = one;
  }
  return verdict;
}

function fits(property: Fact | undefined, sum: number): Verdict {
  const triples = property?.triples;
  if (triples?.status === "exact") return triples.value === sum ? "agrees" : "contradicts";
  return triples?.status === "lowerBound" && triples.value > sum ? "contradicts" : "unknown";
}

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
  const outcome = await ask(run, { query: listTotalQuery(kind, {}, run.dialect), level: 1 });
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
