import { rdf } from "../../src/rdf/vocabularies.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";
import type { FinishedShard, ShardDataset } from "./finished-folder.ts";
import { entryIdOf } from "./shard-addresses.ts";

const mostParts = 200;
const mostSiblings = 100;
const mostProperties = 50;

/**
 * Facts in the manifest about a shard that its triples alone do not show: the classes at both ends of its properties, and of which
 * classes it has a part. Undefined for shards that were written without these facts.
 */
export function builtFactsOf(dataset: ShardDataset, shard: FinishedShard): VoidDescription["built"] {
  if (shard.properties === undefined) return undefined;
  const others = dataset.shards.filter(({ id }) => id !== shard.id);
  const classes = new Set(shard.properties.flatMap(({ subjectClasses }) => subjectClasses));
  const parts = [...classes].slice(0, mostParts).flatMap((iri) => {
    const siblings = others.flatMap(({ id, properties = [] }) => {
      const own = properties.filter(({ subjectClasses }) => subjectClasses.includes(iri));
      const named = own.map(({ property }) => property).filter((property) => property !== rdf.type);
      const shown = named.slice(0, mostProperties);
      return own.length === 0 ? [] : [{ endpoint: entryIdOf(dataset.dataset, id), properties: shown }];
    });
    return siblings.length === 0
      ? []
      : [{ class: iri, parts: siblings.length + 1, siblings: siblings.slice(0, mostSiblings) }];
  });
  return { properties: shard.properties, parts };
}
