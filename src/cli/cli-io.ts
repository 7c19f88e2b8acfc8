import type { forwardMcpStdio } from "../mcp/forward-stdio.ts";
import type { Readable, Writable } from "node:stream";
import type { InstalledModel } from "../embeddings/install-model.ts";
import type { CatalogReport, refreshPublished } from "../registry/catalog.ts";
import { type Command, InvalidArgumentError } from "commander";

/** Background work of the service of one command. */
export interface CommandWork {
  /** Kinds of the jobs that it runs. */
  readonly jobs?: readonly string[];
  /** Endpoints are described as by `fedway serve`; their jobs are among `jobs`. */
  readonly describes?: boolean;
  /** URL of an endpoint without fragment, or its id, that the user gives the command: he may name a private address. */
  readonly argument?: string;
  /** Other commands find it. */
  readonly announced?: boolean;
}

/** The service as the command line starts it. */
export interface CliApp {
  /** The token of changes. */
  readonly adminToken: string;
  /** Begins to answer; for one command with its `work` only. Resolves to the URL. */
  listen(work?: CommandWork): Promise<string>;
  startMessage(url: string): string;
  close(options?: { readonly drain?: boolean }): Promise<void>;
}

/** The process that holds the data folder; without `url` no command can reach it. */
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
  /** Builds the service from the environment, in which `overrides` win; without them, for one command: quiet, on a free port. */
  openApp(overrides?: Readonly<Record<string, string>>): Promise<CliApp>;
  /** The running process that holds the environment's data folder; undefined when it is free. */
  folderHolder(): Promise<FolderHolder | undefined>;
  /** Checks catalogue folders, the environment's when none is named. @throws FedwayError `CATALOG_INVALID` */
  checkCatalog(folders: readonly string[]): Promise<CatalogReport>;
  /** Takes a collection of published facts into the environment's catalogue folder. @throws FedwayError `REQUEST_INVALID` */
  refreshCatalog(file: string): Promise<Awaited<ReturnType<typeof refreshPublished>> & { readonly folder: string }>;
  /** Ids of the environment's catalogue, read without a service. @throws also when `signal` aborts */
  catalogIds(signal: AbortSignal): Promise<Readonly<Record<"endpoints" | "federations", readonly string[]>>>;
  /** Sets an embedding model up in the data folder. @throws FedwayError */
  installModel(source: string): Promise<InstalledModel>;
  /** Copies the database of the data folder into a new file. @throws FedwayError `REQUEST_INVALID`, `STORE_FAILED` */
  backup(file: string): Promise<{ readonly bytes: number }>;
  readonly forwardMcp: typeof forwardMcpStdio;
  /** Aborts when the user interrupts or the process is asked to end. */
  readonly interrupted: AbortSignal;
}

/** Runs a command over the outside world and notes its exit code. */
export type Running = <Args extends readonly unknown[]>(
  run: (io: CliIo, ...args: Args) => Promise<number>,
) => (...args: Args) => Promise<void>;

/** Adds the commands of a plugin. */
export type CommandPlugin = (program: Command, running: Running) => void;

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

/** Reads an option that is a plain count. */
export const wholeNumber = (text: string): number => whole(text, "such as 60");

/** An http(s) URL. */
export function httpUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new InvalidArgumentError("An http(s) URL is expected.");
  return text;
}

/** Text of a command. */
export interface CommandText {
  readonly about: string;
  /** Examples. */
  readonly help?: readonly string[];
}

/** Adds a command that asks a service, with `--url` and examples. */
export function serviceCommand(program: Command, usage: string, { about, help = [] }: CommandText): Command {
  const command = program.command(usage).description(about).option("--url <url>", "ask this running service", httpUrl);
  return help.length === 0 ? command : command.addHelpText("after", examples(...help));
}

/** Options of a command that asks a service, by the kinds of their values. */
export type Options<Text extends string = never, Flag extends string = never, Count extends string = never> = {
  readonly [Name in Text | "url"]?: string;
} & { readonly [Name in Flag | "json"]?: boolean } & { readonly [Name in Count]?: number };

/** Examples below the help of a command. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ fedway ${line}`).join("\n")}`;
