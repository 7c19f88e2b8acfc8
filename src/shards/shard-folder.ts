import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { FedwayError } from "../errors/fedway-error.ts";
import { type Manifest, type ManifestShard, readManifest, type Source } from "./materialise/manifest.ts";
import { datasetPattern, iriPattern } from "./spec.ts";

/** One finished shard. */
export interface FinishedShard {
  /** `[a-z0-9.-]{1,64}`, unique in the dataset. */
  readonly id: string;
  /** `h/<class>/<bucket>`, `c/<class>`, `v/<predicate>` or `base`. */
  readonly key: string;
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
  checkManifest(manifest);
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

const shardIdPattern = /^[a-z0-9][a-z0-9.-]{0,63}$/u;
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): boolean => typeof value === "string" && value.length > 0 && value.length <= 2_000;
const isIri = (value: unknown): boolean => typeof value === "string" && iriPattern.test(value);

/** A folder may come from anybody: what is put into URLs and the catalogue has to be what it should be. */
function checkManifest(manifest: Manifest): void {
  const { dataset, title, licence, citation, source, triples, shards } = manifest;
  const ids = new Set(shards.map(({ id }) => id));
  const faults: readonly (readonly [boolean, string])[] = [
    [typeof dataset === "string" && datasetPattern.test(dataset), "dataset"],
    [isText(title), "title"],
    [isIri(licence), "licence"],
    [citation === undefined || isText(citation), "citation"],
    [source === undefined || isIri(source), "source"],
    [isCount(triples), "triples"],
    [shards.length > 0 && shards.length === ids.size, "shards"],
    [shards.every(({ id }) => shardIdPattern.test(id)), "id of a shard"],
    [
      shards.every((shard) => isCount(shard.triples) && isCount(shard.bytes) && isCount(shard.lineBytes)),
      "size of a shard",
    ],
  ];
  const [, wrong] = faults.find(([holds]) => !holds) ?? [];
  if (wrong !== undefined) throw new FedwayError("SHARDS_INVALID", `The manifest of the shards has a wrong ${wrong}.`);
}

async function checkFile(path: string, { file, bytes, sha256 }: ManifestShard): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new FedwayError("SHARDS_INVALID", `The file ${file} is missing.`);
  if (found.size !== bytes)
    throw new FedwayError("SHARDS_INVALID", `The file ${file} has another size than it should.`);
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  if (hash.digest("hex") !== sha256) throw new FedwayError("SHARDS_INVALID", `The file ${file} has changed.`);
}
