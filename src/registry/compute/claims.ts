import type { Count, UnknownFact } from "../void/void-description.ts";
import {
  type ClassFact,
  type DatasetCount,
  type FactBase,
  mergedCount,
  type ObjectFact,
  type PropertyFact,
} from "./fact-base.ts";
import type { Family } from "./families.ts";
import { familyFacts } from "./family-facts.ts";
import type { Observation } from "./observation.ts";
import { sameGroups } from "./evidence.ts";

/** What is shown of a dataset: facts, and claims where there is no fact. */
export interface ClaimedFacts {
  readonly shown: FactBase;
  /** Terms that the publisher names and the data lack. */
  readonly contradicted: readonly UnknownFact[];
}

const mostContradicted = 200;

/**
 * Lays the publisher's claims under the measured facts. A claim fills a gap and never changes a fact: a term that a
 * complete list lacks is left out, and told.
 */
export function withClaims(measured: FactBase, claims: FactBase): ClaimedFacts {
  const contradicted: UnknownFact[] = [];
  const lack = (kind: string, iri: string, { record }: { readonly record: number }): void => {
    if (contradicted.length >= mostContradicted) return;
    contradicted.push({ what: `${kind} <${iri}> of the publisher's description`, why: "contradicted", record });
  };
  const isClass = (iri: string): boolean => !measured.classesComplete || measured.classes.has(iri);
  const isProperty = (iri: string): boolean => !measured.propertiesComplete || measured.properties.has(iri);
  const joinProperty = (fact: PropertyFact | undefined, claim: PropertyFact): PropertyFact => ({
    ...(fact ?? claim),
    ...joinedCounts(fact, claim, ["triples", "distinctSubjects", "distinctObjects"]),
    objectClasses: layered(fact?.objectClasses, claim.objectClasses, {
      has: (iri) => isClass(iri) && fact?.classesOfObjectsComplete !== true,
      join: joinObject,
    }),
    datatypes: layered(fact?.datatypes, claim.datatypes, {
      has: () => fact?.datatypesComplete !== true,
      join: joinObject,
    }),
  });
  const joinClass = (fact: ClassFact | undefined, claim: ClassFact): ClassFact => ({
    ...(fact ?? claim),
    ...joinedCounts(fact, claim, ["entities", "triples"]),
    properties: layered(fact?.properties, claim.properties, {
      has: (iri) => isProperty(iri) && fact?.propertiesComplete !== true,
      join: joinProperty,
    }),
  });
  const shown: FactBase = {
    ...measured,
    totals: joinedTotals(measured.totals, claims.totals),
    classes: layered(measured.classes, claims.classes, {
      has: isClass,
      join: joinClass,
      lack: (iri, claim) => lack("class", iri, claim),
    }),
    properties: layered(measured.properties, claims.properties, {
      has: isProperty,
      join: joinProperty,
      lack: (iri, claim) => lack("property", iri, claim),
    }),
  };
  return { shown, contradicted };
}

interface Layer<T> {
  /** Whether the data may have a term that was not measured. */
  readonly has: (iri: string) => boolean;
  readonly join: (fact: T | undefined, claim: T) => T;
  readonly lack?: (iri: string, claim: T) => void;
}

function layered<T>(
  facts: ReadonlyMap<string, T> | undefined,
  claims: ReadonlyMap<string, T> | undefined,
  { has, join, lack }: Layer<T>,
): Map<string, T> {
  const all = new Map(facts);
  for (const [iri, claim] of claims ?? []) {
    const fact = facts?.get(iri);
    if (fact !== undefined || has(iri)) all.set(iri, join(fact, claim));
    else lack?.(iri, claim);
  }
  return all;
}

const joinObject = (fact: ObjectFact | undefined, claim: ObjectFact): ObjectFact => ({
  ...(fact ?? claim),
  ...joinedCounts(fact, claim, ["triples"]),
});

function joinedCounts<Name extends string>(
  fact: { readonly [name in Name]?: Count } | undefined,
  claim: { readonly [name in Name]?: Count },
  names: readonly Name[],
): { [name in Name]?: Count } {
  const counts: { [name in Name]?: Count } = {};
  for (const name of names) {
    const count = joinedCount(fact?.[name], claim[name]);
    if (count) counts[name] = count;
  }
  return counts;
}

function joinedTotals(
  facts: ReadonlyMap<DatasetCount, Count>,
  claims: ReadonlyMap<DatasetCount, Count>,
): Map<DatasetCount, Count> {
  const totals = new Map(facts);
  for (const [name, claim] of claims) totals.set(name, joinedCount(facts.get(name), claim) ?? claim);
  return totals;
}

/** A claim stands until something exact comes or a bound contradicts it. */
const joinedCount = (fact: Count | undefined, claim: Count | undefined): Count | undefined =>
  fact === undefined ? claim : mergedCount(claim, fact);

/**
 * Whether the publisher claims of a key exactly what an answer says, counts included: a second way to it, though one that
 * may have come from the same endpoint.
 */
export function isAsClaimed(
  claims: FactBase,
  family: Family,
  { key, observation }: { readonly key: string; readonly observation: Observation },
): boolean {
  const claimed = familyFacts[family.name].groups(claims, key);
  return claimed !== undefined && sameGroups(claimed, observation.groups.get(key) ?? new Map());
}
