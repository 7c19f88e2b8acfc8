import { open, readdir } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { FedwayError } from "../errors/fedway-error.ts";
import { readManifest } from "./materialise/manifest.ts";
import { ruleFileName } from "./report/rule-file.ts";
import type { ShardReport } from "./report/shard-report.ts";

const names = { report: "report.json", page: "report.html", rules: ruleFileName, origins: "origins.json" } as const;
const maxBytes = 256 * 1024 * 1024;

/** What stands beside the manifest in a finished folder. */
export interface FolderNotes {
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

/**
 * Refuses a folder that is there and holds something else than finished shards, before any work is done for it.
 * @throws FedwayError `REQUEST_INVALID`
 */
export async function refuseForeign(folder: string): Promise<void> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw foreign(folder, error);
  });
  if (found === undefined) return;
  await readManifest(folder).catch((cause: unknown) => {
    throw foreign(folder, cause);
  });
}

const foreign = (folder: string, cause: unknown): FedwayError =>
  new FedwayError("REQUEST_INVALID", `There is something else than finished shards in ${basename(folder)}.`, {
    next: "Choose another output folder.",
    cause,
  });

/** The report on a finished folder. @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID` */
export async function readReport(folder: string): Promise<ShardReport> {
  const report = parsed(await textOf(folder, "report"));
  if (isReport(report)) return report;
  throw new FedwayError("SHARDS_INVALID", "The report of the shards is damaged, or of another version.");
}

/** The report as a page. @throws FedwayError `SHARDS_UNKNOWN` */
export const readReportPage = (folder: string): Promise<string> => textOf(folder, "page");

/** Absolute paths of what the shards were made of. @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID` */
export async function readOrigins(folder: string): Promise<readonly string[]> {
  const origins = parsed(await textOf(folder, "origins"));
  const inputs = typeof origins === "object" && origins !== null && "inputs" in origins ? origins.inputs : undefined;
  if (Array.isArray(inputs) && inputs.every((path) => typeof path === "string")) {
    return inputs.map((path) => resolve(folder, path));
  }
  throw new FedwayError("SHARDS_INVALID", "The note on what the shards were made of is damaged.");
}

const isReport = (value: unknown): value is ShardReport =>
  typeof value === "object" &&
  value !== null &&
  "format" in value &&
  value.format === "fedway-shard-report" &&
  "version" in value &&
  value.version === 1;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function textOf(folder: string, what: keyof typeof names): Promise<string> {
  const file = await open(join(folder, names[what])).catch((cause: unknown) => {
    throw new FedwayError("SHARDS_UNKNOWN", `There is no ${names[what]} in this folder.`, {
      next: "Build the shards again: what is there stays, what is missing is added.",
      cause,
    });
  });
  try {
    if ((await file.stat()).size <= maxBytes) return await file.readFile("utf8");
    throw new FedwayError("SHARDS_INVALID", `The ${names[what]} of the shards is larger than it can be.`);
  } finally {
    await file.close();
  }
}
