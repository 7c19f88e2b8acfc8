import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { type AdminToken, offerToken, openAdminToken, startMessage } from "./app/admin-token.ts";
import { steadyClock } from "./clock.ts";
import { createLog } from "./telemetry/log.ts";
import { type Clients, localDispatch, openClients, openEvaluators, openHosting } from "./app/open-clients.ts";
import { measured, openJobs } from "./app/open-jobs.ts";
import { faultLog, type Monitoring, openMonitoring } from "./app/open-monitoring.ts";
import { createOpened, type Opened, createServiceLife } from "./app/service-life.ts";
import { openRegistry, type Registry } from "./app/open-registry.ts";
import { type HostedShards, hostShards, openShards, type Shards } from "./app/shards.ts";
import { openState, type State } from "./app/open-state.ts";
import { readiness } from "./app/readiness.ts";
import { type StateWatch, watchState } from "./store/watch-state.ts";
import { type Config, packageVersion } from "./config/config.ts";
import { createDirectExecutor } from "./engine/direct-executor.ts";
import type { Evaluators } from "./engine/evaluators/create-evaluators.ts";
import { FedwayError } from "./errors/fedway-error.ts";
import { createExampleFederation, type ExampleFederation } from "./hosting/examples/example-federation.ts";
import type { HttpLog } from "./http/http-deps.ts";
import { createHttpServer } from "./http/server.ts";
import type { JobQueue } from "./jobs/job-queue.ts";
import { countFailures } from "./telemetry/work-metrics.ts";
import { createMetrics, type Metrics } from "./telemetry/metrics.ts";
import { createPlanner } from "./plan/create-planner.ts";
import { createQueryService } from "./query/create-query-service.ts";
import type { QueryService } from "./query/query-service.ts";
import type { Catalog } from "./registry/catalog/catalog.ts";
import type { HealthState } from "./monitor/monitor.ts";
import type { Snapshot } from "./monitor/snapshot.ts";
import type { Tracing } from "./telemetry/tracing.ts";

/** The whole service, wired. */
export interface App {
  readonly queries: QueryService;
  readonly catalog: Catalog;
  /**
   * Starts background work and the HTTP server; resolves to its URL. When that fails everything is closed.
   * @throws FedwayError `CONFIG_INVALID` when it cannot listen there, `STORE_FAILED`; `CANCELLED` when it was closed meanwhile
   */
  listen(): Promise<string>;
  /** What somebody who has started it is told: where it answers, and how changes are made; holds the token that it made. */
  startMessage(url: string): string;
  /** A snapshot of what is stored of all endpoints. @throws FedwayError `SNAPSHOT_IMPLAUSIBLE`, `STORE_FAILED` */
  publishSnapshot(options: { readonly reviewed: boolean }): Promise<Snapshot>;
  /**
   * Says that it is not ready, waits for `drainMs`, lets answers under way end, then ends everything that was started; who
   * asks again waits for the same end.
   */
  close(): Promise<void>;
}

/**
 * Composition root: the one place that knows which adapter implements which port.
 * @throws FedwayError `CATALOG_INVALID`, `STORE_HELD`, `STORE_FAILED`, `ENDPOINT_FAILED` when the service cannot start as
 *   configured; nothing that was opened is left
 */
export async function createApp(config: Config): Promise<App> {
  const opened = createOpened();
  try {
    return await wire(config, opened);
  } catch (error) {
    // What else fails now says nothing about why.
    await opened.close().catch(() => {});
    throw error;
  }
}

async function wire(config: Config, opened: Opened): Promise<App> {
  const metrics = createMetrics({ version: packageVersion(), role: config.role });
  const { store, ...stateOf } = await openState(config);
  const state: State = { ...stateOf, store: countFailures(store, () => metrics.observeStoreFailure()) };
  opened.add(() => state.close());
  const token = await openAdminToken(config, state);
  // After the token, which it must never write.
  const { log, http: httpLog } = createLog({ ...config, adminToken: token.value });
  opened.add(() => log.flush());
  if (token.value === "off") log.warn("FEDWAY_ADMIN_TOKEN is off: whoever reaches this service may change it");
  const pool = openHosting(config);
  opened.add(() => pool.close());
  const examples = config.examples ? createExampleFederation(pool, config.limits.hostedMemoryMb) : undefined;
  const hostedShards = await hostShards({ config, log, pool });
  const tracing = await openTracing(config);
  if (tracing) opened.add(() => tracing.close());
  const known = await openKnowledge({ config, log, metrics, state, token, examples, hostedShards, tracing }, opened);
  const { clients, registry, monitoring } = known;
  const evaluators = openEvaluators({ config, log, metrics, clients });
  opened.add(() => evaluators.close());
  const queries = createQueryService({
    planner: createPlanner({
      catalog: registry.catalog,
      capabilities: registry.capabilities,
      availability: monitoring.availability,
      egress: config.egress,
      publicUrl: config.publicUrl,
    }),
    direct: createDirectExecutor(clients.sparql, steadyClock.now),
    federated: evaluators,
    limits: config.limits,
    metrics,
    sharedStore: state.soleOwner ? undefined : state.store,
    tracer: tracing,
    now: steadyClock.now,
  });
  opened.add(() => queries.close());
  metrics.watchRunning(() => queries.running);
  const shared = { config, log, httpLog, state, token, examples, hostedShards, metrics, tracing };
  return serve({ ...known, ...shared, queries, evaluators }, opened);
}

interface Foundation {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly state: State;
  readonly token: AdminToken;
  readonly examples: ExampleFederation | undefined;
  readonly hostedShards: HostedShards;
  readonly tracing: Tracing | undefined;
}

interface Knowledge {
  readonly clients: Clients;
  readonly jobs: JobQueue;
  readonly registry: Registry;
  readonly monitoring: Monitoring;
  readonly shards: Shards;
  /** Only where others could empty the state. */
  readonly stateWatch: StateWatch | undefined;
}

/** The way out, and all that is known of what is out there. */
async function openKnowledge(parts: Foundation, opened: Opened): Promise<Knowledge> {
  const { config, log, metrics, state, examples, hostedShards, tracing } = parts;
  const local = localDispatch(config, examples, hostedShards);
  // The registry and the clients come before the monitor, which needs both.
  let monitoring: Monitoring | undefined;
  const statusOf = (id: string): HealthState => monitoring?.monitor.health(id)?.state ?? "unknown";
  const clients = openClients(config, local, {
    metrics,
    tracer: tracing,
    onTraffic: (report) => monitoring?.monitor.observeTraffic(report),
  });
  opened.add(() => clients.close());
  const onFault = faultLog(log, "background work failed");
  const jobs = openJobs({ config, state, onFault });
  const registry = await openRegistry({ config, log, state, clients, local, jobs, statusOf });
  opened.add(() => registry.close());
  opened.add(() => jobs.close());
  refuseEmpty(registry.catalog, config);
  metrics.watchEndpoints((id) => registry.catalog.byId(id) !== undefined);
  monitoring = openMonitoring({ config, log, state, clients, local, registry, jobs, metrics });
  opened.add(() => monitoring?.close());
  const { host } = hostedShards;
  const shards = openShards({
    config,
    log,
    soleOwner: state.soleOwner,
    store: state.store,
    host,
    catalog: registry.catalog,
    descriptions: registry.descriptions,
    jobs,
    onFault,
  });
  opened.add(() => shards.close());
  const stateWatch = state.soleOwner ? undefined : await watchSharedState(parts, registry);
  if (stateWatch) opened.add(() => stateWatch.close());
  return { clients, jobs, registry, monitoring, shards, stateWatch };
}

function watchSharedState({ log, state: { store }, token }: Foundation, registry: Registry): Promise<StateWatch> {
  return watchState({
    store,
    now: steadyClock.now,
    onFault: faultLog(log, "the state cannot be reached"),
    async onLost() {
      log.error("the shared state was lost: the catalogue is that of the files again");
      // Processes that start from now on are to agree with those that run.
      if (token.from === "store") await offerToken(store, token.value);
      await registry.refresh();
    },
  });
}

interface ServedParts extends Foundation, Knowledge {
  readonly httpLog: HttpLog;
  readonly queries: QueryService;
  readonly evaluators: Evaluators;
}

async function serve(parts: ServedParts, opened: Opened): Promise<App> {
  const { config, state, token, examples, metrics, registry, monitoring, queries, tracing } = parts;
  const { catalog, search, descriptions, capabilities, linksets } = registry;
  const { monitor, webhooks } = monitoring;
  const life = createServiceLife({
    opened,
    startWork: () => startWork(parts),
    answer: () => http.listen(),
    announce: (url) => state.announce(url),
    drain: () => http.drain(),
    waitDrained: () => sleep(config.drainMs),
  });
  const http = await createHttpServer({
    config: { ...config, adminToken: token.value },
    queries,
    catalog,
    search,
    descriptions,
    capabilities,
    linksets,
    monitor,
    webhooks,
    publishSnapshot: (options) => monitoring.publish(options),
    jobs: parts.jobs,
    hosted: (id) => examples?.get(id),
    sharedStore: state.soleOwner ? undefined : state.store,
    shards: parts.shards.service,
    metrics,
    ready: () =>
      readiness({
        catalog,
        examples,
        closing: life.closing,
        stateWatch: parts.stateWatch,
        shards: parts.shards.folder,
        monitor,
      }),
    version: packageVersion(),
    logger: parts.httpLog,
    ...(tracing && { tracer: tracing }),
  });
  // A query may take as long as it may, also when the service is asked to end meanwhile.
  opened.add(() => http.close(life.answering ? config.limits.timeoutMs + 1_000 : 0));
  return {
    queries,
    catalog,
    listen: () => life.begin(),
    startMessage: (url) => startMessage({ url, endpoints: catalog.entries.length, token, dataDir: config.dataDir }),
    async publishSnapshot(options) {
      await monitor.load();
      return monitoring.publish(options);
    },
    close: () => life.close(),
  };
}

/** Background work begins when the service is there for others; a command that asks one query does none. */
async function startWork(parts: ServedParts): Promise<void> {
  const { config, jobs, metrics, registry, monitoring, shards, evaluators } = parts;
  if (config.role !== "worker") evaluators.start();
  const work = config.role !== "web";
  await jobs.start(measured([...registry.kinds, ...monitoring.kinds, ...shards.kinds], metrics), { work });
  if (work) {
    for (const schedule of [...monitoring.schedules, registry.capabilities.schedule]) {
      // Schedules outlive processes: one that is not wanted any more must be taken back.
      await (config.monitor.enabled ? jobs.schedule(schedule) : jobs.unschedule(schedule.name));
    }
  }
  await shards.start();
  await monitoring.monitor.start();
}

/** Loaded only where traces are wanted. */
async function openTracing({ otlpEndpoint: endpoint }: Config): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined;
  const { createOtlpTracing } = await import("./telemetry/otlp-tracing.ts");
  return createOtlpTracing({ endpoint, version: packageVersion() });
}

function refuseEmpty({ entries, problems }: Catalog, { catalogDir }: Config): void {
  if (entries.length > 0 || problems.length === 0) return;
  throw new FedwayError("CATALOG_INVALID", `No file of the catalogue ${catalogDir} can be used.`, {
    next: `Begin with ${problems[0]?.file}: ${problems[0]?.reason}`,
  });
}
