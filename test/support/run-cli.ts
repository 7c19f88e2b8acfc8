import { Readable, Writable } from "node:stream";
import type { CliApp, CliIo, CommandPlugin, FolderHolder } from "../../src/cli/cli-io.ts";
import { runCli } from "../../src/cli/program.ts";
import type { ShardCommands } from "../../shards/src/cli/shard-commands.ts";
import { addShards } from "../../shards/src/cli/shards-program.ts";
import type { CatalogReport } from "../../src/registry/catalog.ts";

/** What a command printed, asked for and how it ended. */
export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Of each service that was started; undefined: for this command. */
  readonly overrides: unknown[];
  readonly calls: { url: string; init: RequestInit | undefined }[];
  readonly closed: number;
}

/** The world around a command. */
export interface Setup {
  readonly stdin?: string | Buffer;
  /** Standard output and error are a terminal. */
  readonly isTerminal?: boolean;
  /** The service, wherever it runs; a real one when `openApp` is given alone. */
  readonly fetch?: (url: string, init?: RequestInit) => Response | Promise<Response>;
  readonly openApp?: (overrides?: Readonly<Record<string, string>>) => Promise<CliApp>;
  readonly interrupted?: AbortSignal;
  readonly holder?: FolderHolder;
  readonly adminToken?: string;
  readonly report?: (folders: readonly string[]) => CatalogReport;
  readonly refreshCatalog?: CliIo["refreshCatalog"];
  readonly backup?: CliIo["backup"];
  readonly installModel?: CliIo["installModel"];
  readonly shards?: Partial<ShardCommands>;
  /** Commands beside its own; those of shards when absent. */
  readonly plugins?: readonly CommandPlugin[];
}

const sink = (chunks: Buffer[]): Writable =>
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });

const unexpected = async (): Promise<never> => {
  throw new Error("This command should not be run");
};

/** Runs the command line over fakes. */
export async function cli(argv: readonly string[], setup: Setup = {}): Promise<Outcome> {
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  const overrides: unknown[] = [];
  const calls: Outcome["calls"] = [];
  let closed = 0;
  const app: CliApp = {
    adminToken: "token-of-the-command",
    listen: async () => "http://127.0.0.1:3000",
    startMessage: (url) => `Fedway listens at ${url}\n`,
    close: async () => void closed++,
  };
  const io: CliIo = {
    stdin: Readable.from([Buffer.from(setup.stdin ?? "")]),
    stdout: Object.assign(sink(out), { isTTY: setup.isTerminal ?? false }),
    stderr: Object.assign(sink(err), { isTTY: setup.isTerminal ?? false }),
    fetch: async (input, init) => {
      const url = input instanceof Request ? input.url : input.toString();
      calls.push({ url, init });
      if (setup.fetch) return setup.fetch(url, init);
      if (setup.openApp) return fetch(url, init);
      throw new TypeError("fetch failed");
    },
    version: "9.8.7",
    adminToken: async () => setup.adminToken,
    reference: [{ name: "PORT", default: "3000", meaning: "Port to listen on." }],
    interrupted: setup.interrupted ?? new AbortController().signal,
    folderHolder: async () => setup.holder,
    checkCatalog: async (folders) => setup.report?.(folders) ?? unexpected(),
    refreshCatalog: setup.refreshCatalog ?? unexpected,
    catalogIds: unexpected,
    installModel: setup.installModel ?? unexpected,
    backup: setup.backup ?? unexpected,
    forwardMcp: unexpected,
    openApp: async (given) => {
      overrides.push(given);
      return setup.openApp ? setup.openApp(given) : app;
    },
  };
  const shards = async () => ({
    build: unexpected,
    package: unexpected,
    questions: unexpected,
    rekey: unexpected,
    report: unexpected,
    sql: unexpected,
    verify: unexpected,
    ...setup.shards,
  });
  const addAll: CommandPlugin = (program, running) => addShards(program, running, shards);
  const code = await runCli(argv, io, setup.plugins ?? [addAll]);
  return {
    code,
    out: Buffer.concat(out).toString(),
    err: Buffer.concat(err).toString(),
    overrides,
    calls,
    closed,
  };
}
