import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { ShardService } from "../http/http-deps.ts";
import type { JobKind, JobQueue } from "../jobs/job-queue.ts";
import { readReport, readReportPage } from "../shards/finished-folder.ts";
import type { LocalDispatch } from "../transport/sparql-client.ts";
import { entryIdOf } from "./describe-shards.ts";
import type { Registry } from "./open-registry.ts";
import { registerShards, unregisterLost } from "./register-shards.ts";
import { buildKind, buildWish, enqueueBuild } from "./shard-jobs.ts";
import { createShardHost, type ShardHost } from "./shard-host.ts";

/** What shards are opened with. */
export interface ShardParts {
  readonly config: Config;
  readonly log: Logger;
  /** No other process shares the state. */
  readonly soleOwner: boolean;
}

/** The shards of the service before there is a catalogue: what is hosted can be asked. */
export interface HostedShards {
  readonly host: ShardHost;
  /** Answers this service's own `/shards/{dataset}/{shard}/sparql` URLs in-process. */
  readonly local: LocalDispatch;
  close(): Promise<void>;
}

/** The shards with everything around them. */
export interface Shards {
  readonly service: ShardService;
  /** Jobs that it enqueues; to be started with the queue. */
  readonly kinds: readonly JobKind[];
  /** Puts what is hosted into the catalogue and follows what other processes build; once the queue has started. */
  start(): Promise<void>;
  close(): Promise<void>;
}

const rescanEveryMs = 15_000;
const maxAnswerBytes = 64 * 1024 * 1024;

/** Where finished shards lie. */
export const shardsRoot = ({ dataDir }: Pick<Config, "dataDir">): string => join(dataDir, "shards");

/** Hosts the finished shards of the data folder and of `FEDWAY_SHARDS`. */
export async function hostShards({ config, log }: ShardParts): Promise<HostedShards> {
  const { limits, publicUrl } = config;
  const host = createShardHost({
    root: shardsRoot(config),
    folders: config.shards,
    limits: { timeoutMs: limits.hostedTimeoutMs, memoryMb: limits.hostedMemoryMb, maxAnswerBytes, maxQueue: 256 },
    onRefused: (folder, reason) => log.warn({ folder, reason }, "shards are not hosted"),
  });
  await host.scan();
  const prefix = `${publicUrl}/shards/`;
  return {
    host,
    local: (url) => {
      if (!url.startsWith(prefix)) return undefined;
      const [dataset = "", shard = "", last, ...more] = url.slice(prefix.length).split("/");
      const endpoint = last === "sparql" && more.length === 0 ? host.endpoint(dataset, shard) : undefined;
      return endpoint && ((query) => endpoint.query(query));
    },
    close: () => host.close(),
  };
}

/** What the shards work with once there is a registry. */
export interface ShardServiceParts extends ShardParts {
  readonly host: ShardHost;
  readonly registry: Pick<Registry, "catalog" | "descriptions">;
  readonly jobs: Pick<JobQueue, "enqueue" | "get">;
  readonly onFault: (error: unknown) => void;
}

/** Shards as the service has them: hosted, registered, built on request. */
export function openShards(parts: ShardServiceParts): Shards {
  const { config, host, soleOwner } = parts;
  let timer: NodeJS.Timeout | undefined;
  const { descriptions } = parts.registry;
  const stopCompleting = descriptions.onChange((id) => void completeDescription(id, parts).catch(parts.onFault));
  const rescan = async (): Promise<void> => {
    if (await host.scan()) await registerAll(parts);
  };
  return {
    service: serviceOf(parts),
    kinds: [buildKind({ config, onBuilt: rescan })],
    async start() {
      if (soleOwner) await unregisterLost(host.datasets, registration(parts));
      await registerAll(parts);
      timer = setInterval(() => void rescan().catch(parts.onFault), rescanEveryMs);
      timer.unref();
    },
    async close() {
      clearInterval(timer);
      stopCompleting();
    },
  };
}

const registration = ({ config, log, registry }: ShardServiceParts) => ({
  catalog: registry.catalog,
  publicUrl: config.publicUrl,
  log,
});

/** New entries are described like other endpoints are: by asking them, which costs nothing in-process. */
async function registerAll(parts: ShardServiceParts): Promise<void> {
  for (const dataset of parts.host.datasets) {
    for (const id of await registerShards(dataset, registration(parts))) {
      await parts.registry.descriptions.request(id, { again: true });
    }
  }
}

/** Queries find out what is in a shard, not whose it is. */
async function completeDescription(id: string, { host, registry }: ShardServiceParts): Promise<void> {
  const entry = registry.catalog.byId(id);
  if (entry?.keywords.includes("shard") !== true) return;
  const dataset = host.datasets.find((each) => each.shards.some((shard) => entryIdOf(each.dataset, shard.id) === id));
  const found = dataset && (await registry.descriptions.get(id));
  if (found === undefined || found.license === dataset?.licence || dataset === undefined) return;
  const { title, description = "" } = entry;
  const { licence, citation } = dataset;
  const about = citation === undefined ? description : `${description} Cite as: ${citation}`;
  await registry.descriptions.put(id, { ...found, title, description: about, license: licence });
}

function serviceOf({ config, host, jobs }: ShardServiceParts): ShardService {
  return {
    get datasets() {
      return host.datasets;
    },
    dataset: (id) => host.dataset(id),
    endpoint: (dataset, shard) => host.endpoint(dataset, shard),
    download(dataset, shard) {
      const found = host.dataset(dataset)?.shards.find(({ id }) => id === shard);
      if (found === undefined) return undefined;
      const { path, bytes, sha256 } = found;
      const ending = /\.n[tq](?:\.gz)?$/u.exec(path)?.[0] ?? ".nt";
      return { path, bytes, sha256, fileName: `${dataset}-${shard}${ending}`, mediaType: mediaTypeOf(ending) };
    },
    report: async (id) => readReport(folderOf(host, id)),
    reportPage: async (id) => readReportPage(folderOf(host, id)),
    build: async (wish, { dryRun }) => enqueueBuild(jobs, await buildWish(config, wish, dryRun)),
  };
}

function mediaTypeOf(ending: string): string {
  if (ending.endsWith(".gz")) return "application/gzip";
  return ending === ".nq" ? "application/n-quads" : "application/n-triples";
}

function folderOf(host: ShardHost, id: string): string {
  const folder = host.dataset(id)?.folder;
  if (folder !== undefined) return folder;
  throw new FedwayError("SHARDS_UNKNOWN", `This service hosts no shards of "${id.slice(0, 32)}".`);
}
