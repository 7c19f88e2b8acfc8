import { compareText } from "../../src/rdf/canonical.ts";
import type { LearnedCells } from "./load/cells.ts";
import type { ManifestShard } from "./materialise/manifest.ts";
import type { PlacementOf } from "./rules/placement.ts";

const mostProperties = 1_000;
const mostClasses = 50;
const longestIri = 2_000;

/** A property of a shard, with the classes that its subjects and objects have in the whole dataset. */
type ShardProperty = NonNullable<ManifestShard["properties"]>[number];

interface Seen {
  triples: number;
  readonly subjectClasses: Set<string>;
  readonly objectClasses: Set<string>;
}

/**
 * Each shard's properties by its key, with the classes at both ends, wherever the triples lie that say so. Those with the most
 * triples first; of more than 1,000 properties, or 50 classes at an end, the rest is left out.
 */
export function propertiesOfShards(
  { cells }: Pick<LearnedCells, "cells">,
  placement: PlacementOf,
): ReadonlyMap<string, readonly ShardProperty[]> {
  const shards = new Map<string, Map<string, Seen>>();
  for (const { types, predicate, bucket, triples, objectClasses = [] } of cells) {
    if (predicate.length > longestIri) continue;
    const key = placement(types, predicate, bucket);
    const shard = shards.get(key) ?? new Map<string, Seen>();
    shards.set(key, shard);
    const seen = shard.get(predicate) ?? { triples: 0, subjectClasses: new Set(), objectClasses: new Set() };
    shard.set(predicate, seen);
    seen.triples += triples;
    for (const iri of types) seen.subjectClasses.add(iri);
    for (const iri of objectClasses) seen.objectClasses.add(iri);
  }
  return new Map([...shards].map(([key, properties]) => [key, listed(properties)]));
}

const listed = (properties: ReadonlyMap<string, Seen>): readonly ShardProperty[] =>
  [...properties]
    .toSorted(([left, one], [right, other]) => other.triples - one.triples || compareText(left, right))
    .slice(0, mostProperties)
    .map(([property, { subjectClasses, objectClasses }]) => ({
      property,
      subjectClasses: sorted(subjectClasses),
      objectClasses: sorted(objectClasses),
    }));

const sorted = (classes: ReadonlySet<string>): readonly string[] =>
  [...classes]
    .filter((iri) => iri.length <= longestIri)
    .toSorted(compareText)
    .slice(0, mostClasses);
