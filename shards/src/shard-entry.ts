import { createHash } from "node:crypto";
import { rdf } from "../../src/rdf/vocabularies.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";
import type { FinishedShard, ShardDataset } from "./finished-folder.ts";

/** The URL of a shard's endpoint. */
export const shardUrl = (publicUrl: string, dataset: string, shard: string): string =>
  `${publicUrl}/shards/${dataset}/${shard}/sparql`;

const mostIdLength = 64;

/**
 * The catalogue id of a shard. A long one is cut and made unique by a hash, and so is one that another dataset may have:
 * `pets-name` and `x` are the shard `name-x` of `pets` too, unless the shard's own id has a hash.
 */
export function entryIdOf(dataset: string, shard: string): string {
  const id = `${dataset}-${shard}`;
  const isAmbiguous = dataset.includes("-") && !/\.|^s[0-9a-f]{10}$/u.test(shard);
  if (id.length <= mostIdLength && !isAmbiguous) return id;
  const digest = createHash("sha256")
    .update(isAmbiguous ? `${dataset} ${shard}` : id)
    .digest("hex");
  return `${id.slice(0, mostIdLength - 9)}-${digest.slice(0, 8)}`;
}

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
