import { every, systemClock } from "../clock.ts";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { EndpointPool } from "../hosting/endpoint-pool.ts";
import type { ShardService } from "../http/http-deps.ts";
import type { JobKind } from "../jobs/job-queue.ts";
import type { CatalogEntry } from "../registry/catalog/catalog.ts";
import { readReport, readReportPage } from "../shards/finished-folder.ts";
import { findRuleFile } from "../shards/report/find-rule-file.ts";
import type { ShardDataset } from "../shards/shard-folder.ts";
import type { Store } from "../store/store.ts";
import type { LocalDispatch } from "../outbound/sparql-client.ts";
import { entryIdOf, withOrigin } from "./describe-shards.ts";
import { discardCancelled } from "./discard-cancelled.ts";
import type { Registry } from "./open-registry.ts";
import { registerShards, unregisterLost } from "./register-shards.ts";
import { buildKind, type BuildQueue, buildWish, enqueueBuild, readerFolders } from "./shard-jobs.ts";
import { readerKinds } from "./shard-readers.ts";
import { createShardHost, type ShardHost } from "./shard-host.ts";
import { createSharedFolder, type SharedFolder } from "./shared-folder.ts";
import { enqueueVerify, verifyKind } from "./verify-jobs.ts";

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
}

/** The shards with everything around them. */
export interface Shards {
  readonly service: ShardService;
  /** Only where several processes share the state: why shards cannot be built, if they cannot. */
  readonly folder: Pick<SharedFolder, "problem"> | undefined;
  /** Jobs that it enqueues; to be started with the queue. */
  readonly kinds: readonly JobKind[];
  /** Puts what is hosted into the catalogue and follows what other processes build; once the queue has started. */
  start(): Promise<void>;
  close(): Promise<void>;
}

const rescanEveryMs = 15_000;

/** Where finished shards lie. */
export const shardsRoot = ({ dataDir }: Pick<Config, "dataDir">): string => join(dataDir, "shards");

/** Hosts the finished shards of the data folder and of `FEDWAY_SHARDS`. */
export async function hostShards({
  config,
  log,
  pool,
}: Omit<ShardParts, "soleOwner"> & { readonly pool: EndpointPool }): Promise<HostedShards> {
  const { limits, publicUrl } = config;
  const host = createShardHost({
    root: shardsRoot(config),
    folders: config.shards,
    pool,
    roomMb: limits.hostedMemoryMb,
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
  };
}

/** What the shards work with once there is a registry. */
export interface ShardServiceParts extends ShardParts {
  readonly host: ShardHost;
  readonly registry: Pick<Registry, "catalog" | "descriptions">;
  readonly jobs: BuildQueue;
  readonly store: Store;
  readonly onFault: (error: unknown) => void;
}

/** Shards as the service has them: hosted, registered, built on request. */
export function openShards(parts: ShardServiceParts): Shards {
  const { config, host, jobs, log, soleOwner } = parts;
  const folder = createSharedFolder({
    dataDir: config.dataDir,
    store: soleOwner ? undefined : parts.store,
    onProblem: (problem) => log.error(problem),
  });
  const { descriptions } = parts.registry;
  let looking: ReturnType<typeof every> | undefined;
  const register = async (): Promise<void> => {
    if (soleOwner) await unregisterLost(host.datasets, registration(parts));
    await registerAll(parts);
  };
  const rescan = async (): Promise<void> => {
    if (await host.scan()) await register();
  };
  const stopCompleting = descriptions.onChange(
    (id) => void completeDescription(id, parts, rescan).catch(parts.onFault),
  );
  const look = async (): Promise<void> => {
    await folder.look();
    await rescan();
    if (config.role !== "web") await discardCancelled(shardsRoot(config), jobs);
  };
  return {
    service: serviceOf(parts, folder),
    folder: soleOwner ? undefined : folder,
    kinds: [
      buildKind({ config, jobs, onBuilt: rescan }),
      ...readerKinds(readerFolders(config), config.limits.shardMemoryMb),
      verifyKind({ config, host }),
    ].map((kind) => whereShared(kind, folder)),
    async start() {
      await folder.look().catch(parts.onFault);
      await register();
      looking = every(rescanEveryMs, look, { clock: systemClock, onFault: parts.onFault, firstAfterMs: rescanEveryMs });
    },
    async close() {
      await looking?.stop();
      stopCompleting();
      await folder.close();
    },
  };
}

/** A worker that has another folder would not find the inputs, or build what nobody hosts. */
const whereShared = (kind: JobKind, folder: SharedFolder): JobKind => ({
  ...kind,
  async run(payload, context) {
    await folder.ensure();
    return kind.run(payload, context);
  },
});

const registration = ({ config, log, registry }: ShardServiceParts) => ({
  catalog: registry.catalog,
  publicUrl: config.publicUrl,
  log,
});

/** New entries are described like other endpoints are: by asking them, which costs nothing in-process. */
async function registerAll(parts: ShardServiceParts): Promise<void> {
  // What another replica has registered already is not registered again.
  if (!parts.soleOwner) await parts.registry.catalog.refresh();
  for (const dataset of parts.host.datasets) {
    for (const id of await registerShards(dataset, registration(parts))) {
      await parts.registry.descriptions.request(id, { again: true });
    }
  }
}

/** Queries find out what is in a shard, not whose it is. */
async function completeDescription(
  id: string,
  { config, host, registry }: ShardServiceParts,
  rescan: () => Promise<void>,
): Promise<void> {
  const entry = registry.catalog.byId(id);
  if (entry === undefined || !isOwnShard(entry, config)) return;
  const datasetOf = (): ShardDataset | undefined =>
    host.datasets.find((each) => each.shards.some((shard) => entryIdOf(each.dataset, shard.id) === id));
  // Another replica has hosted and registered it, and this one has not looked since.
  if (datasetOf() === undefined) await rescan();
  const dataset = datasetOf();
  const found = dataset && (await registry.descriptions.get(id));
  if (found === undefined || dataset === undefined) return;
  const completed = withOrigin(found, entry, dataset);
  if (!isDeepStrictEqual(completed, found)) await registry.descriptions.put(id, completed);
}

const isOwnShard = ({ url, keywords }: CatalogEntry, { publicUrl }: Config): boolean =>
  keywords.includes("shard") && url.startsWith(`${publicUrl}/shards/`);

function serviceOf({ config, host, jobs }: ShardServiceParts, folder: SharedFolder): ShardService {
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
    ruleFile: async (id) => findRuleFile(folderOf(host, id)),
    async build(wish, { dryRun }) {
      await folder.ensure();
      return enqueueBuild(jobs, await buildWish(config, wish, dryRun));
    },
    async verify(dataset, { answers }) {
      await folder.ensure();
      return enqueueVerify(jobs, host, { dataset, answers });
    },
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
