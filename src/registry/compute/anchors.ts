import type { FactBase, PropertyFact } from "./fact-base.ts";
import { type Family } from "./families.ts";
import { sumsByFirst } from "./evidence.ts";
import type { Groups } from "./observation.ts";

/** What facts that are exact already say of new groups: they fit, they lack something, or nothing is known. */
export type AnchorVerdict = "agrees" | "contradicts" | "unknown";

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/**
 * Compares the groups of a key with what is known exactly from queries of another kind. Kinds of objects add up to the
 * triples of their property, which proves the groups; the instances of a class are the subjects of its `rdf:type`
 * triples, which can only refute them ("unknown" when it does not).
 */
export function anchored(
  base: FactBase,
  family: Family,
  found: { readonly key: string; readonly groups: Groups },
): AnchorVerdict {
  switch (family.name) {
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

function instancesFit(
  base: FactBase,
  { key, groups }: { readonly key: string; readonly groups: Groups },
): AnchorVerdict {
  const entities = base.classes.get(key)?.entities;
  const typing = groups.get(rdfType);
  // Every instance of a class has an rdf:type.
  if (typing === undefined) return "contradicts";
  if (entities?.status !== "exact" || typing.ds === undefined) return "unknown";
  return typing.ds === entities.value ? "unknown" : "contradicts";
}

function sumsFit(properties: ReadonlyMap<string, PropertyFact> | undefined, groups: Groups): AnchorVerdict {
  if (properties === undefined || properties.size === 0) return "unknown";
  const sums = sumsByFirst(groups, 2);
  if ([...sums.keys()].some((property) => !properties.has(property))) return "contradicts";
  let verdict: AnchorVerdict = "agrees";
  for (const [property, fact] of properties) {
    const one = fits(fact, sums.get(property) ?? 0);
    if (one === "contradicts") return one;
    if (one === "unknown") verdict = one;
  }
  return verdict;
}

function fits(property: PropertyFact | undefined, sum: number): AnchorVerdict {
  const triples = property?.triples;
  if (triples?.status === "exact") return triples.value === sum ? "agrees" : "contradicts";
  return triples?.status === "lowerBound" && triples.value > sum ? "contradicts" : "unknown";
}
