import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Precedence, Reading, Rule } from "../rule.ts";

/** The name of the file that tells what a folder of shards holds. */
export const manifestName = "manifest.json";

/** What is known of a dataset beside its triples. */
export interface Source {
  /** Names it in folders, URLs and the catalogue. */
  readonly dataset: string;
  readonly title: string;
  /** IRI of the licence; of the shards too. */
  readonly licence: string;
  readonly citation?: string;
  /** IRI of where it comes from. */
  readonly source?: string;
}

/** One shard. */
export interface ManifestShard {
  /** `shardIdOf` its key. */
  readonly id: string;
  readonly key: string;
  /** Path of its file, in the folder of the manifest. */
  readonly file: string;
  readonly triples: number;
  /** Bytes of the file, their sha256 in hex, and the bytes of its lines without compression. */
  readonly bytes: number;
  readonly sha256: string;
  readonly lineBytes: number;
}

/** What a folder of shards holds, and what it was made of. The same inputs and rules give the same bytes. */
export interface Manifest extends Source {
  readonly version: 1;
  /** Hash of all that the bytes depend on: a build with the same one gives the same shards. */
  readonly fingerprint: string;
  readonly rules: readonly Rule[];
  readonly reading: Reading;
  readonly precedence: Precedence;
  readonly format: "n-triples" | "n-quads";
  readonly gzip: boolean;
  readonly inputs: readonly {
    readonly name: string;
    readonly format: string;
    readonly bytes: number;
    readonly sha256: string;
  }[];
  /** Statements in the inputs, and different ones among them; these are in the shards, each in one. */
  readonly statements: number;
  readonly triples: number;
  /** Subjects without a class: only predicates can place them. */
  readonly untypedSubjects: { readonly count: number; readonly isAtLeast: boolean };
  /** By key; shards without triples are not there. */
  readonly shards: readonly ManifestShard[];
}

/**
 * Reads the manifest of a finished folder.
 * @throws FedwayError `SHARDS_UNKNOWN` when there is none, `SHARDS_INVALID` when it is not one
 */
export async function readManifest(folder: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(join(folder, manifestName), "utf8");
  } catch (cause) {
    throw new FedwayError("SHARDS_UNKNOWN", "There are no finished shards in this folder.", { cause });
  }
  try {
    const found: unknown = JSON.parse(text);
    if (isManifest(found)) return found;
  } catch {
    // Said below.
  }
  throw new FedwayError("SHARDS_INVALID", "The manifest of the shards is damaged.");
}

const isManifest = (value: unknown): value is Manifest =>
  typeof value === "object" &&
  value !== null &&
  "version" in value &&
  value.version === 1 &&
  "shards" in value &&
  Array.isArray(value.shards) &&
  value.shards.every(isShard) &&
  "rules" in value &&
  Array.isArray(value.rules);

/** File names come from ids, so that no manifest leads out of its folder. */
const isShard = (value: unknown): value is ManifestShard =>
  typeof value === "object" &&
  value !== null &&
  hasType(value, "string", ["id", "key", "file", "sha256"]) &&
  hasType(value, "number", ["triples", "bytes", "lineBytes"]) &&
  "file" in value &&
  /^shards\/[a-z0-9][a-z0-9.-]*$/u.test(String(value.file));

const hasType = (value: object, type: "string" | "number", names: readonly string[]): boolean =>
  names.every((name) => typeof Object.getOwnPropertyDescriptor(value, name)?.value === type);
