import { type Config, configReference, loadConfig } from "../config/config.ts";
import { packageVersion } from "../package-file.ts";
import { shardCommands } from "../app/plugins.ts";
import type { CliIo } from "./cli-io.ts";
import { runCli } from "./program.ts";

const configOf = (overrides: Readonly<Record<string, string>> = {}): Config =>
  loadConfig({ ...process.env, ...overrides });

/** On a free port of this machine only, without a log: standard output and error belong to the command. */
const forOneCommand = (config: Config): Config => ({
  ...config,
  host: "127.0.0.1",
  port: 0,
  metricsPort: undefined,
  drainMs: 0,
  log: { ...config.log, level: "silent" },
});

/** Aborted by the first signal, whose name is the message of the reason: end in order. The second one ends the process at once, by the default of the platform. */
function interruption(): AbortSignal {
  const aborter = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.once(name, () => aborter.abort(new DOMException(name, "AbortError")));
  return aborter.signal;
}

/** Sends the client's key where a command sends no token of its own, and waits as long as the service does. */
const withKey: typeof fetch = async (input, init) => {
  await (patience ??= loadPatience());
  const headers = new Headers(init?.headers);
  const { clientKey } = configOf();
  if (clientKey !== undefined && !headers.has("Authorization")) headers.set("Authorization", `Bearer ${clientKey}`);
  return fetch(input, { ...init, headers });
};

let patience: Promise<void> | undefined;

/** Lets `fetch` wait as long as the service does; Node's own gives up after five minutes. */
async function loadPatience(): Promise<void> {
  // Its names are not there when it is bundled.
  const { default: undici } = await import("undici");
  undici.setGlobalDispatcher(new undici.Agent({ headersTimeout: 0, bodyTimeout: 0 }));
  undici.install();
}

const catalogFiles = () => import("../app/catalog-files.ts");

// What a command does not need is not loaded.
const io: CliIo = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  fetch: withKey,
  version: packageVersion(),
  adminToken: async (service) => (await import("../store/admin-token.ts")).knownAdminToken(configOf(), service),
  reference: configReference,
  interrupted: interruption(),
  async openApp(overrides) {
    const { createApp } = await import("../app.ts");
    return createApp(overrides === undefined ? forOneCommand(configOf()) : configOf(overrides));
  },
  async folderHolder() {
    const { dataDir, redisUrl } = configOf();
    if (redisUrl !== undefined) return undefined;
    const { dataFolderHolder } = await import("../store/data-folder.ts");
    const holder = await dataFolderHolder(dataDir);
    return holder === "unknown" ? {} : holder;
  },
  checkCatalog: async (folders) => (await catalogFiles()).checkCatalogFiles(configOf(), folders),
  refreshCatalog: async (file) => (await catalogFiles()).refreshCatalogFiles(configOf(), file),
  catalogIds: async (signal) => (await catalogFiles()).catalogIds(configOf(), signal),
  installModel: async (source) =>
    (await import("../app/install-embeddings.ts")).installEmbeddings(configOf(), source, io),
  backup: async (file) => (await import("../app/backup-state.ts")).backupState(configOf(), file),
  async forwardMcp(forwarding) {
    const { forwardMcpStdio } = await import("../mcp/forward-stdio.ts");
    return forwardMcpStdio({ ...forwarding, token: forwarding.token ?? configOf().agents.mcpToken });
  },
};

// A reader that closes the pipe (`| head`) has what it wanted.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

const shards = await shardCommands(process.env["FEDWAY_SHARDS"] === "off", configOf);
process.exitCode = await runCli(process.argv.slice(2), io, [shards]);
