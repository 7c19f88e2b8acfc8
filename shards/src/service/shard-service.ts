import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { every, systemClock } from "../../../src/clock.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { Job } from "../../../src/jobs/job-queue.ts";
import type { CatalogEntry } from "../../../src/registry/catalog.ts";
import type { DescriptionService } from "../../../src/registry/descriptions.ts";
import { readReport, readReportPage, findRuleFile, type ShardDataset } from "../finished-folder.ts";
import { buildKind, type BuildQueue, discardCancelled, enqueueBuild, readBuildRequest } from "./build-jobs.ts";
import { builtFactsOf, entryIdOf } from "../shard-entry.ts";
import type { Closable, ShardHost } from "./host.ts";
import { type RegisterParts, registerShards, unregisterLost, withOrigin } from "./register.ts";
import type { RunShardTask } from "./run-task.ts";
import { dataFolderId } from "./data-folder.ts";
import { openPackagedFile, packageFolder, plainUrl } from "../package/open-package.ts";
import { datasetPattern } from "../spec.ts";
import { packageJobs, verifyJobs } from "./dataset-jobs.ts";

/** The part of the configuration that shards read; `Config` fits. */
export interface ShardSettings {
  readonly dataDir: string;
  readonly publicUrl: string;
  readonly role: string;
  readonly limits: {
    readonly hostedTimeoutMs: number;
    readonly hostedTotalMb: number;
  };
}

/** Parts that the service's shards work with. */
export interface ShardServiceParts<Endpoint extends Closable> {
  readonly config: ShardSettings;
  readonly host: ShardHost<Endpoint>;
  readonly catalog: RegisterParts["catalog"] & { refresh(): Promise<unknown> };
  readonly descriptions: Pick<DescriptionService, "get" | "put" | "request" | "onChange">;
  readonly jobs: BuildQueue;
  /** No other process shares the state. */
  readonly soleOwner: boolean;
  readonly runTask: RunShardTask;
  readonly log: RegisterParts["log"];
  readonly onFault: (error: unknown) => void;
}

interface PackageParameters {
  readonly baseUrl?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

const rescanEveryMs = 15_000;

/** Shards as the service has them: hosted, registered, built on request. */
export function createShardService<Endpoint extends Closable>(parts: ShardServiceParts<Endpoint>) {
  const { config, host, jobs, runTask, soleOwner, descriptions } = parts;
  let looking: ReturnType<typeof every> | undefined;
  const register = async (): Promise<void> => {
    if (soleOwner) await unregisterLost(host.datasets, registerParts(parts));
    await registerAll(parts);
  };
  const rescan = async (): Promise<void> => {
    if (await host.scan()) await register();
  };
  const stopCompleting = descriptions.onChange(
    (id) => void completeDescription(id, parts, rescan).catch(parts.onFault),
  );
  const look = async (): Promise<void> => {
    await rescan();
    if (config.role !== "web") await discardCancelled(join(config.dataDir, "shards"), jobs);
  };
  return {
    service: serviceOf(parts),
    /** Jobs that it enqueues; to be started with the queue. */
    kinds: [
      buildKind({ config, jobs, runTask, onBuilt: rescan }),
      ...[verifyJobs, packageJobs].map((each) => each.kind({ config, host, runTask })),
    ],
    /** Puts hosted shards into the catalogue and follows other processes' builds; once the queue has started. */
    async start(): Promise<void> {
      await register();
      looking = every(rescanEveryMs, look, { clock: systemClock, onFault: parts.onFault, firstAfterMs: rescanEveryMs });
    },
    async close(): Promise<void> {
      await looking?.stop();
      stopCompleting();
    },
  };
}

const registerParts = ({ config, log, catalog }: ShardServiceParts<Closable>): RegisterParts => ({
  catalog,
  publicUrl: config.publicUrl,
  log,
});

/** New entries are described like other endpoints are: by asking them, which costs nothing in-process. */
async function registerAll(parts: ShardServiceParts<Closable>): Promise<void> {
  // So that what another replica has registered is not registered again.
  if (!parts.soleOwner) await parts.catalog.refresh();
  for (const dataset of parts.host.datasets) {
    for (const id of await registerShards(dataset, registerParts(parts))) {
      await parts.descriptions.request(id, { again: true });
    }
  }
}

/** Probing a shard finds its content; titles, licence and citation come from its entry and the manifest. */
async function completeDescription(
  id: string,
  { config, host, catalog, descriptions }: ShardServiceParts<Closable>,
  rescan: () => Promise<void>,
): Promise<void> {
  const entry = catalog.byId(id);
  if (entry === undefined || !isOwnShard(entry, config)) return;
  const hosted = () =>
    host.datasets
      .flatMap((dataset) => dataset.shards.map((shard) => ({ dataset, shard })))
      .find(({ dataset, shard }) => entryIdOf(dataset.dataset, shard.id) === id);
  // Another replica has hosted and registered it, and this one has not looked since.
  if (hosted() === undefined) await rescan();
  const own = hosted();
  const found = own && (await descriptions.get(id));
  if (found === undefined || own === undefined) return;
  const completed = withOrigin(found, entry, { ...own.dataset, built: builtFactsOf(own.dataset, own.shard) });
  if (!isDeepStrictEqual(completed, found)) await descriptions.put(id, completed);
}

const isOwnShard = ({ url, keywords }: CatalogEntry, { publicUrl }: ShardSettings): boolean =>
  keywords.includes("shard") && url.startsWith(`${publicUrl}/shards/`);

function serviceOf<Endpoint extends Closable>({ config, host, jobs }: ShardServiceParts<Endpoint>) {
  return {
    get datasets(): readonly ShardDataset[] {
      return host.datasets;
    },
    dataset: (id: string) => host.dataset(id),
    endpoint: (dataset: string, shard: string) => host.endpoint(dataset, shard),
    download(dataset: string, shard: string) {
      const found = host.dataset(dataset)?.shards.find(({ id }) => id === shard);
      if (found === undefined) return undefined;
      const { path, bytes, sha256 } = found;
      const ending = /\.n[tq](?:\.gz)?$/u.exec(path)?.[0] ?? ".nt";
      return { path, bytes, sha256, fileName: `${dataset}-${shard}${ending}`, mediaType: mediaTypeOf(ending) };
    },
    report: async (id: string) => readReport(folderOf(host, id)),
    reportPage: async (id: string) => readReportPage(folderOf(host, id)),
    ruleFile: async (id: string) => findRuleFile(folderOf(host, id)),
    async build(request: unknown, { dryRun }: { readonly dryRun: boolean }): Promise<Job> {
      return enqueueBuild(jobs, await readBuildRequest(config.dataDir, request, dryRun));
    },
    async package(dataset: string, { baseUrl = config.publicUrl, timeoutMs }: PackageParameters): Promise<Job> {
      const folder = await dataFolderId(config.dataDir);
      return packageJobs.enqueue(jobs, host, { dataset, baseUrl: plainUrl(baseUrl), timeoutMs, folder });
    },
    /** A file of the package that was made of a dataset, opened. */
    packagedFile: async (dataset: string, name: string) =>
      openPackagedFile(packageFolder(config.dataDir, datasetPattern.test(dataset) ? dataset : ""), name),
    async verify(dataset: string, { answers }: { readonly answers: boolean }): Promise<Job> {
      return verifyJobs.enqueue(jobs, host, { dataset, answers, folder: await dataFolderId(config.dataDir) });
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
