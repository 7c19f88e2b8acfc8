import { stat } from "node:fs/promises";
import { join } from "node:path";
import { exitCodes } from "../../../src/cli/cli-io.ts";
import { oneLine, write, writeJson } from "../../../src/cli/output.ts";
import type { BuildProgress } from "../build-problem.ts";
import type { SqlDialect } from "../materialise/warehouse-sql.ts";
import { plainUrl } from "../package/open-package.ts";
import type { PackageManifest, PackageResult } from "../package/package-shards.ts";
import { type ShardCommands, type ShardIo, unlessInterrupted } from "./shard-commands.ts";

/** Options of `fedway shards package`. */
interface PackageCommandOptions {
  readonly out?: string;
  readonly baseUrl: string;
  readonly allow?: readonly string[];
  /** Milliseconds. */
  readonly timeout?: number;
  readonly json?: boolean;
}

/** `fedway shards package`: builds where it is given a description. Resolves to the exit code. @throws UsageError, FedwayError */
export async function runShardPackage(
  io: ShardIo,
  source: string,
  { out, baseUrl: written, allow = [], timeout, json = false }: PackageCommandOptions,
): Promise<number> {
  const baseUrl = plainUrl(written);
  const commands = await io.shards();
  const results = await unlessInterrupted(io, async (onProgress) => {
    const running = { signal: io.interrupted, onProgress };
    const folders = await foldersOf(source, commands, { ...running, allow });
    const made: PackageResult[] = [];
    for (const { folder, dataset } of folders) {
      const output = out !== undefined && folders.length > 1 ? join(out, dataset) : out;
      const options = { ...running, output, baseUrl, timeoutMs: timeout, version: io.version };
      made.push(await commands.package(folder, options));
    }
    return made;
  });
  if (results === undefined) return exitCodes.interrupted;
  const manifests = results.map(({ manifest }) => manifest);
  const shown = manifests.length === 1 ? manifests[0] : manifests;
  await (json ? writeJson(io, shown) : write(io.stdout, results.map(resultText).join("")));
  return exitCodes.ok;
}

/**
 * `fedway shards sql`: statements and claims of a finished build, or of those of a description, which are built first.
 * Resolves to the exit code. @throws FedwayError
 */
export async function runShardSql(
  io: ShardIo,
  source: string,
  { dialect, allow = [] }: { readonly dialect: SqlDialect; readonly allow?: readonly string[] },
): Promise<number> {
  const commands = await io.shards();
  const folders = await unlessInterrupted(io, (onProgress) =>
    foldersOf(source, commands, { allow, signal: io.interrupted, onProgress }),
  );
  if (folders === undefined) return exitCodes.interrupted;
  for (const { folder } of folders) await write(io.stdout, await commands.sql(folder, dialect));
  return exitCodes.ok;
}

interface Building {
  readonly allow: readonly string[];
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BuildProgress) => void;
}

/** A folder of finished shards, or those of a description, which are built where they are not there yet. */
async function foldersOf(source: string, commands: ShardCommands, options: Building) {
  const found = await stat(source).catch(() => undefined);
  if (found?.isDirectory() === true) return [{ folder: source, dataset: "" }];
  const built = await commands.build(source, { ...options, dryRun: false });
  return built.flatMap(({ folder, report }) => (folder === undefined ? [] : [{ folder, dataset: report.dataset.id }]));
}

function resultText({ folder, manifest }: PackageResult): string {
  const { dataset, questions, queries, outcomes, leftOut, flagged, creators } = manifest;
  const counted = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
  const lines = [
    `${dataset}: ${questions} questions, ${queries} queries (${counted.join(", ")})`,
    ...leftOutLines(leftOut),
    ...(flagged === 0 ? [] : [`${flagged} questions have a doubtful query: ${oneLine(join(folder, "audit.json"))}.`]),
    ...(creators === undefined ? ["It has no CITATION.cff: the spec names no creators."] : []),
    `The package is in ${oneLine(folder)}.`,
  ];
  return `${lines.join("\n")}\n`;
}

const mostShown = 10;

function leftOutLines(leftOut: PackageManifest["leftOut"]): readonly string[] {
  const shown = leftOut
    .slice(0, mostShown)
    .map(({ id, outcome, where, why }) => oneLine(`- ${id} (${where}) left out, ${outcome}: ${why}`));
  const rest = leftOut.length - mostShown;
  return rest > 0 ? [...shown, `- ${rest} more; manifest.json has all.`] : shown;
}
