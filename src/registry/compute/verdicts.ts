import type { FactStatus, UnknownFact } from "../void/void-description.ts";
import type { FactKind } from "./fact-kinds.ts";
import { type Groups, type KeyObservation, type Observation, sumsByFirst } from "./observation.ts";
import { kindFacts } from "./kind-facts.ts";
import type { Run } from "./run.ts";
import type { FactBase, PropertyFact } from "./fact-base.ts";

/** What is known already says of one key of an answer. */
export function judgeKey(
  run: Run,
  kind: FactKind,
  { key, observation }: KeyObservation,
): "agrees" | "contradicts" | "unknown" {
  if (!run.dialect.count || observation.flawed.has(key)) return "unknown";
  const verdict = compareWithKnown(run.base, kind, { key, groups: observation.groups.get(key) ?? new Map() });
  return verdict === "agrees" && run.inconsistent ? "unknown" : verdict;
}

/** One answer about some keys. */
interface About {
  readonly keys: readonly string[];
  readonly observation: Observation;
}

/** Keeps what an answer shows at least. */
export function keepBounds(run: Run, kind: FactKind, { keys, observation }: About): void {
  const status: FactStatus = run.dialect.count ? "lowerBound" : "exists";
  for (const key of keys) {
    record(run, kind, { key, groups: observation.groups.get(key), status, record: observation.record });
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
  record(run, kind, { key, groups, status: count ? "exact" : "exists", record: observation.record });
  if (count) kindFacts[kind.name].complete(run.base, key);
  run.todo.settle(kind, key);
}

/** A key stays as it is: known in part. */
export function giveUp(run: Run, kind: FactKind, at: { readonly key: string } & Omit<UnknownFact, "what">): void {
  const { key, ...unknown } = at;
  run.todo.settle(kind, key, unknown);
}

/** Groups of one key, and how they are known. */
interface Finding {
  readonly key: string;
  readonly groups: Groups | undefined;
  readonly status: FactStatus;
  readonly record: number;
}

/** Puts the groups of a key into the facts. */
export function record(run: Run, kind: FactKind, { groups, ...found }: Finding): void {
  for (const group of groups?.values() ?? []) kindFacts[kind.name].record(run.base, { ...found, group });
}

/** What facts that are exact already say of new groups: they fit, they lack something, or nothing is known. */
type Verdict = "agrees" | "contradicts" | "unknown";

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/**
 * Compares the groups of a key with what is known exactly from queries of another kind. Kinds of objects add up to the
 * triples of their property, which proves the groups; the instances of a class are the subjects of its `rdf:type`
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
  const typing = groups.get(rdfType);
  // Every instance of a class has an rdf:type.
  if (typing === undefined) return "contradicts";
  if (entities?.status !== "exact" || typing.ds === undefined) return "unknown";
  return typing.ds === entities.value ? "unknown" : "contradicts";
}

function sumsFit(properties: ReadonlyMap<string, PropertyFact> | undefined, groups: Groups): Verdict {
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

function fits(property: PropertyFact | undefined, sum: number): Verdict {
  const triples = property?.triples;
  if (triples?.status === "exact") return triples.value === sum ? "agrees" : "contradicts";
  return triples?.status === "lowerBound" && triples.value > sum ? "contradicts" : "unknown";
}
