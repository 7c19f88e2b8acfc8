import { createHash } from "node:crypto";

/** The URL of a shard's endpoint. */
export const shardUrl = (publicUrl: string, dataset: string, shard: string): string =>
  `${publicUrl}/shards/${dataset}/${shard}/sparql`;

const mostIdLength = 64;

/** The catalogue id of a shard; a long one is cut and made unique by a hash. */
export function entryIdOf(dataset: string, shard: string): string {
  const id = `${dataset}-${shard}`;
  if (id.length <= mostIdLength) return id;
  return `${id.slice(0, mostIdLength - 9)}-${createHash("sha256").update(id).digest("hex").slice(0, 8)}`;
}
