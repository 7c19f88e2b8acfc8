import { rdf } from "../../../../rdf/vocabularies.ts";
import type { Fact } from "../../facts.ts";
import type { FactStatus, UnknownFact } from "../../void-description.ts";
import type { FactBase } from "../fact-base.ts";
import type { FactKind } from "../fact-kinds.ts";
import { completeLists, isVerifiedKey, keysOf, recordGroups } from "../kind-facts.ts";
import { type Groups, type KeyObservation, type Observation, sumsByFirst } from "../observation.ts";
import type { Run } from "../run.ts";
import type { Todo } from "../todo.ts";

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
export function keepBounds(
  run: Run,
  kind: FactKind,
  { keys, observation }: { readonly keys: readonly string[]; readonly observation: Observation },
): void {
  const status: FactStatus = run.dialect.count ? "lowerBound" : "exists";
  for (const key of keys) {
    recordGroups(run.base, kind, { key, groups: observation.groups.get(key), status, record: observation.record });
  }
}

/**
 * A second way agrees with an answer about a key: its counts are exact and its lists complete. Without counts there is no
 * way to see that both lack the same, so lists are then left open.
 */
export function accept(run: Run, kind: FactKind, { key, observation }: KeyObservation): void {
  if (observation.flawed.has(key)) {
    giveUp(run, kind, { key, why: "refused", record: observation.record });
    return;
  }
  const { count } = run.dialect;
  const groups = observation.groups.get(key);
  recordGroups(run.base, kind, { key, groups, status: count ? "exact" : "exists", record: observation.record });
  if (count) completeLists(run.base, kind, key);
  run.todo.settle(kind, key);
}

/** Settles keys by whether a second way agrees with the answer about each; none is verified by an endpoint that contradicts itself. */
export function settle(
  run: Run,
  kind: FactKind,
  {
    observations,
    agrees,
  }: { readonly observations: Iterable<KeyObservation>; readonly agrees: (key: string) => boolean },
): void {
  for (const { key, observation } of observations) {
    if (agrees(key) && !run.inconsistent) accept(run, kind, { key, observation });
    else giveUp(run, kind, { key, why: "partial", record: observation.record });
  }
}

/** A key stays as it is: known in part. */
export function giveUp(run: Run, kind: FactKind, at: { readonly key: string } & Omit<UnknownFact, "what">): void {
  const { key, ...unknown } = at;
  run.todo.settle(kind, key, unknown);
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
