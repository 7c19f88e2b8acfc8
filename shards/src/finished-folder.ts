import { lstat, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { readBoundedFile } from "./bounded-file.ts";
import { isListOf, isOneOf, isShape, parsedAs } from "./guards.ts";
import { readManifest, type ManifestShard, type Source } from "./materialise/manifest.ts";
import { checksumOf } from "./materialise/build-folder.ts";
import { ruleFileName } from "./report/rule-file.ts";
import type { ShardReport } from "./report/shard-report.ts";
import { createHash } from "node:crypto";

const names = { report: "report.json", page: "report.html", rules: ruleFileName, origins: "origins.json" } as const;
const maxBytes = 256 * 1024 * 1024;

/** Notes beside the manifest in a finished folder. */
interface FolderNotes {
  readonly report: ShardReport;
  /** The report in HTML. */
  readonly page: string;
  /** The rule file. */
  readonly rules: string;
  /** Absolute paths of what the shards were made of. */
  readonly inputs: readonly string[];
}

/** The notes as texts of files by name, for a folder at that place. They depend on nothing but the build. */
export function notesOf(folder: string, notes: FolderNotes): Readonly<Record<string, string>> {
  const { report, page, rules, inputs } = notes;
  // Of use on this machine only: the manifest, which goes with the shards, names no places.
  const origins = { inputs: inputs.map((path) => relative(folder, path)) };
  return {
    [names.origins]: `${JSON.stringify(origins, undefined, 2)}\n`,
    [names.report]: `${JSON.stringify(report, undefined, 2)}\n`,
    [names.page]: page,
    [names.rules]: rules,
  };
}

/** The report on a finished folder. @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID` */
export async function readReport(folder: string): Promise<ShardReport> {
  const report = parsedAs(await textOf(folder, "report"), isReport);
  if (report !== undefined) return report;
  throw new FedwayError("SHARDS_INVALID", "The report of the shards is damaged, or of another version.");
}

/** The report as a page. @throws FedwayError `SHARDS_UNKNOWN` */
export const readReportPage = (folder: string): Promise<string> => textOf(folder, "page");

/** Absolute paths of what the shards were made of. @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID` */
export async function readOrigins(folder: string): Promise<readonly string[]> {
  const origins = parsedAs(await textOf(folder, "origins"), isOrigins);
  if (origins !== undefined) return origins.inputs.map((path) => resolve(folder, path));
  throw new FedwayError("SHARDS_INVALID", "The note on what the shards were made of is damaged.");
}

const isOrigins = isShape({ inputs: isListOf((value) => typeof value === "string") });
const isOurReport = isShape({ format: isOneOf("fedway-shard-report"), version: isOneOf(1) });
const isReport = (value: unknown): value is ShardReport => isOurReport(value);

async function textOf(folder: string, what: keyof typeof names): Promise<string> {
  const bytes = await readBoundedFile(join(folder, names[what]), maxBytes, (fault, cause) =>
    fault === "missing"
      ? missing(names[what], cause)
      : new FedwayError("SHARDS_INVALID", `The ${names[what]} of the shards is no file, or larger than it can be.`),
  );
  return bytes.toString("utf8");
}

const missing = (name: string, cause?: unknown): FedwayError =>
  new FedwayError("SHARDS_UNKNOWN", `There is no ${name} in this folder.`, {
    next: "Build the shards again: existing files stay, missing ones are added.",
    cause,
  });

/** One finished shard. */
export interface FinishedShard extends Omit<ManifestShard, "file"> {
  /** Absolute. */
  readonly path: string;
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
  const { dataset, title, licence, citation, source, creators, triples } = manifest;
  const version = createHash("sha256").update(JSON.stringify(manifest)).digest("hex").slice(0, 20);
  const shards = manifest.shards.map((shard) => finishedShard(folder, shard));
  return { dataset, title, licence, citation, source, creators, folder, triples, version, shards };
}

const finishedShard = (folder: string, { file, ...shard }: ManifestShard): FinishedShard => ({
  ...shard,
  path: join(folder, file),
});

/** @throws FedwayError `SHARDS_INVALID` when the file is not the one that a manifest lists */
export async function checkFile(
  path: string,
  { file, bytes, sha256 }: { readonly file: string; readonly bytes: number; readonly sha256: string },
): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new FedwayError("SHARDS_INVALID", `The file ${file} is missing.`);
  if (found.size !== bytes)
    throw new FedwayError("SHARDS_INVALID", `The file ${file} has another size than it should.`);
  if ((await checksumOf(path)).sha256 !== sha256)
    throw new FedwayError("SHARDS_INVALID", `The file ${file} has changed.`);
}

/**
 * Path and size of the rule file of a finished folder, which may be large: it is read as it is sent. A link to elsewhere is
 * none. @throws FedwayError `SHARDS_UNKNOWN`
 */
export async function findRuleFile(folder: string): Promise<{ readonly path: string; readonly bytes: number }> {
  const path = join(folder, ruleFileName);
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile() === true) return { path, bytes: found.size };
  throw missing(ruleFileName);
}
