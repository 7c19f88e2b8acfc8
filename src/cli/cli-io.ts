import type { DescribedOnce, DescribeOnceOptions } from "../registry/compute/describe-once.ts";
import type { Readable, Writable } from "node:stream";
import type { QueryService } from "../query/query-service.ts";
import type { Catalog } from "../registry/catalog/catalog.ts";
import type { CatalogReport } from "../registry/catalog/check-catalog.ts";
import type { DescribeOptions } from "../registry/compute/describer.ts";
import type { BuildProgress } from "../shards/build-problem.ts";
import type { ShardReport } from "../shards/report/shard-report.ts";
import type { ShardMode } from "../shards/spec.ts";
import type { Verification } from "../shards/verify/verification.ts";
import { InvalidArgumentError } from "commander";

/** The service as the command line uses it. */
export interface CliApp {
  readonly queries: QueryService;
  readonly catalog: Catalog;
  listen(): Promise<string>;
  startMessage(url: string): string;
  /** @throws FedwayError `SNAPSHOT_IMPLAUSIBLE`, `STORE_FAILED` */
  publishSnapshot(options: { readonly reviewed: boolean }): Promise<object>;
  close(): Promise<void>;
}

/** How far a description has come. */
export type DescribeProgress = Parameters<NonNullable<DescribeOptions["onProgress"]>>[0];

/** How shards are built from the command line. */
export interface BuildShardsOptions {
  /** Choose rules and predict sizes, write nothing. */
  readonly dryRun: boolean;
  readonly mode?: ShardMode;
  /** The folder of the result, instead of the one that is described; of several datasets: the folder of theirs. */
  readonly output?: string;
  /** Folders that may be read beside that of the description and the current one. */
  readonly allow: readonly string[];
  /** Of the search for the rules: the best ones that were found by then are used. Default a minute. */
  readonly solveMs?: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BuildProgress) => void;
}

/** How shards are verified from the command line. */
export interface VerifyShardsOptions extends Pick<BuildShardsOptions, "signal" | "onProgress"> {
  /** What the shards were made of; empty: the files that the build noted, where they lay then. */
  readonly inputs: readonly string[];
  /** Compare the answers of all queries too, which may take long. */
  readonly answers: boolean;
  /** Of the whole run: what was not looked at by then is unknown. Default: as long as it takes. */
  readonly timeoutMs?: number;
}

/** What came of a build. */
export interface ShardOutcome {
  readonly report: ShardReport;
  /** Absent when nothing was written. */
  readonly folder?: string;
}

/** What the commands about shards do. */
export interface ShardCommands {
  /**
   * Builds what a description names, one dataset after the other; ends at the first that fails.
   * @throws FedwayError `REQUEST_INVALID`, `SHARDS_BUSY`, `DATASET_INVALID`, `DISK_FULL`, `SOLVER_FAILED`, `CANCELLED`
   */
  build(specFile: string, options: BuildShardsOptions): Promise<readonly ShardOutcome[]>;
  /** @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID` */
  report(folder: string): Promise<ShardOutcome>;
  /** @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID` */
  verify(folder: string, options: VerifyShardsOptions): Promise<Verification>;
}

/** Who holds the data folder; without `url` it cannot be talked to. */
export interface FolderHolder {
  readonly pid?: number;
  readonly url?: string;
}

/** Everything the commands touch outside themselves. */
export interface CliIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly fetch: typeof fetch;
  readonly version: string;
  /**
   * The token of changes at the service with this URL: `FEDWAY_ADMIN_TOKEN`, else that of the data folder when its holder
   * answers there.
   */
  adminToken(service: string): Promise<string | undefined>;
  /** The environment variables, for `--help`. */
  readonly reference: readonly { readonly name: string; readonly default: string; readonly meaning: string }[];
  /** Builds the service from the environment, in which `overrides` win. */
  openApp(overrides: Readonly<Record<string, string>>): Promise<CliApp>;
  /** The running process that holds the environment's data folder; undefined when nobody does. */
  folderHolder(): Promise<FolderHolder | undefined>;
  /**
   * Describes an endpoint, by URL or by the id it has in the catalogue's files.
   * @throws FedwayError `REQUEST_INVALID`, `ENDPOINT_UNKNOWN`, `ADDRESS_REFUSED`; `ENDPOINT_*` when no query was answered
   */
  describe(target: string, options: DescribeOnceOptions): Promise<DescribedOnce>;
  /** Checks catalogue folders, the environment's when none is named. @throws FedwayError `CATALOG_INVALID` */
  checkCatalog(folders: readonly string[]): Promise<CatalogReport>;
  /** Copies the database of the data folder into a new file. @throws FedwayError `REQUEST_INVALID`, `STORE_FAILED` */
  backup(file: string): Promise<{ readonly bytes: number }>;
  /** Loaded when it is needed. */
  shards(): Promise<ShardCommands>;
  /** Aborts when the user interrupts or the process is asked to end. */
  readonly interrupted: AbortSignal;
}

/** Exit codes of every command; that of an interruption is what shells use for SIGINT. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** A mistake in how the command was called. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const whole = (text: string, what: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError(`A whole number ${what} is expected.`);
  return Number(text);
};

/** Milliseconds of an option, at least one. */
export const milliseconds = (text: string): number => whole(text, "of milliseconds");

/** A number of requests, at least one. */
export const requests = (text: string): number => whole(text, "of requests");

/** An http(s) URL. */
export function httpUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new InvalidArgumentError("An http(s) URL is expected.");
  return text;
}

/** Examples below the help of a command. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ fedway ${line}`).join("\n")}`;
