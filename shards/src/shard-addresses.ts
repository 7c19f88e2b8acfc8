import { createHash } from "node:crypto";

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
