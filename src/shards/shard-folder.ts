import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { FedwayError } from "../errors/fedway-error.ts";
import { type Manifest, type ManifestShard, readManifest, type Source } from "./materialise/manifest.ts";

/** One finished shard. */
export interface FinishedShard {
  /** `[a-z0-9.-]{1,64}`, unique in the dataset. */
  readonly id: string;
  /** `h/<class>/<bucket>`, `c/<class>`, `v/<predicate>` or `base`. */
  readonly key: string;
  /** What its triples are about, a sentence. */
  readonly topic?: string;
  /** Absolute path. */
  readonly path: string;
  readonly triples: number;
  readonly bytes: number;
  /** Of its lines, without compression. */
  readonly lineBytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** A dataset whose shards are finished. */
export interface ShardDataset extends Source {
  /** Absolute path of its folder. */
  readonly folder: string;
  /** Changes with the content. */
  readonly version: string;
  readonly triples: number;
  readonly shards: readonly FinishedShard[];
}

/**
 * Opens a folder of finished shards and reads each of its files once, to compare it with its checksum.
 * @throws FedwayError `SHARDS_UNKNOWN` when there is no manifest, `SHARDS_INVALID` when it, or a file, is not as it has to be
 */
export async function openShardFolder(path: string): Promise<ShardDataset> {
  const folder = resolve(path);
  const manifest = await readManifest(folder);
  for (const shard of manifest.shards) await checkFile(join(folder, shard.file), shard);
  const { dataset, title, licence, citation, source, triples } = manifest;
  return {
    dataset,
    title,
    licence,
    ...(citation !== undefined && { citation }),
    ...(source !== undefined && { source }),
    folder,
    triples,
    version: versionOf(manifest),
    shards: manifest.shards.map((shard) => finishedShard(folder, shard)),
  };
}

function finishedShard(folder: string, { file, ...shard }: ManifestShard): FinishedShard {
  return { ...shard, path: join(folder, file) };
}

const versionOf = (manifest: Manifest): string =>
  createHash("sha256").update(JSON.stringify(manifest)).digest("hex").slice(0, 20);

async function checkFile(path: string, { file, bytes, sha256 }: ManifestShard): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new FedwayError("SHARDS_INVALID", `The file ${file} is missing.`);
  if (found.size !== bytes)
    throw new FedwayError("SHARDS_INVALID", `The file ${file} has another size than it should.`);
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  if (hash.digest("hex") !== sha256) throw new FedwayError("SHARDS_INVALID", `The file ${file} has changed.`);
}
