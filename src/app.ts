import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { ToolProfile } from "./agent/tool.ts";
import type { Toolbox } from "./agent/toolbox.ts";
import { refuseEmpty } from "./app/catalog-files.ts";
import { startMessage } from "./app/start-message.ts";
import type { CommandWork } from "./cli/cli-io.ts";
import { type Door, openAdmission } from "./app/open-admission.ts";
import { openAgents, openAsk } from "./app/open-agents.ts";
import { openDataset } from "./app/open-dataset.ts";
import { type Diagnosis, openDiagnosis } from "./app/open-diagnosis.ts";
import { localDispatch, openClients, openHosting, openTracing } from "./app/open-clients.ts";
import { openEvaluators, openExecutors } from "./app/open-executors.ts";
import { Lifecycle } from "./app/lifecycle.ts";
import { openMonitoring } from "./app/open-monitoring.ts";
import { openRegistry, type Registry } from "./app/open-registry.ts";
import { followFolders, openWatches } from "./app/open-watches.ts";
import { loadShards, offRoutes } from "./app/plugins.ts";
import {
  logDamage,
  logWriteFaults,
  measured,
  openJobs,
  openState,
  type State,
  watchSharedState,
} from "./app/open-state.ts";
import { steadyClock } from "./clock.ts";
import type { Config } from "./config/config.ts";
import { packageVersion } from "./package-file.ts";
import type { Evaluators } from "./engine/evaluators/evaluators.ts";
import { createExampleFederation } from "./hosting/example-federation.ts";
import { readiness } from "./http/readiness.ts";
import { createHttpServer } from "./http/server.ts";
import type { McpParts } from "./mcp/create-server.ts";
import type { HealthState } from "./monitor/monitor.ts";
import { createRemarks } from "./diagnosis/check/remarks.ts";
import { createPlanner, type Planner } from "./plan/create-planner.ts";
import { usedIds } from "./plan/query-plan.ts";
import { createQueryService } from "./query/create-query-service.ts";
import type { QueryService } from "./query/query-service.ts";
import { removeOnceEntries } from "./cli/once-id.ts";
import { openAdminToken } from "./store/admin-token.ts";
import { openCredentialFile } from "./outbound/credential-file.ts";
import { createLog, faultLog } from "./telemetry/log.ts";
import { createMetrics } from "./telemetry/metrics.ts";
import { countFailures } from "./telemetry/work-metrics.ts";
import { childrenNow } from "./workers/child-process.ts";

/** The whole service, wired. */
export interface App {
  readonly queries: QueryService;
  readonly catalog: Registry["catalog"];
  /** The tools of agents. */
  toolbox(profile?: ToolProfile): Toolbox;
  /** Tools and resources for MCP. */
  mcpParts(profile?: ToolProfile): McpParts;
  /** The token of changes. */
  readonly adminToken: string;
  /**
   * Starts background work, for a command only its `work`, and the HTTP server; resolves to its URL. When that fails
   * everything is closed.
   * @throws FedwayError `CONFIG_INVALID` when it cannot listen there, `STORE_FAILED`; `CANCELLED` when it was closed meanwhile
   */
  listen(work?: CommandWork): Promise<string>;
  /** The start message: URLs, and the token or link for changes. */
  startMessage(url: string): string;
  /**
   * Says that it is not ready, with `drain` answers for `drainMs` more, lets answers under way end, then ends everything that
   * was started; who asks again waits for the same end.
   */
  close(options?: { readonly drain?: boolean }): Promise<void>;
}

/**
 * Composition root: the one place that knows which adapter implements which port.
 * @throws FedwayError `CATALOG_INVALID`, `STORE_HELD`, `STORE_FAILED`, `ENDPOINT_FAILED` when the service cannot start as
 *   configured; nothing that was opened is left
 */
export async function createApp(config: Config): Promise<App> {
  const life = new Lifecycle();
  try {
    return await wire(config, life);
  } catch (error) {
    // What else fails now says nothing about why.
    await life.close().catch(() => {});
    throw error;
  }
}

async function wire(config: Config, life: Lifecycle): Promise<App> {
  const ground = await openGround(config, life);
  const known = await openKnowledge(ground, life);
  // Each part takes its time: signals are heard between them.
  await nextTurn();
  const { metrics, state, tracing, clients, registry, monitoring } = { ...ground, ...known };
  const planner = createPlanner({
    catalog: registry.catalog,
    capabilities: registry.capabilities,
    availability: monitoring.availability,
    terms: registry.finder,
    remarks: createRemarks(registry.finder, registry.catalog),
    sources: registry.sources,
    parts: registry.parts,
    egress: config.egress,
    publicUrl: config.publicUrl,
  });
  const evaluators = openEvaluators(config, clients, { ...ground, ...registry, planner });
  life.add(() => evaluators.close());
  const door = await openAdmission(ground, life);
  const executors = openExecutors({ ...ground, ...known }, evaluators);
  const execution = { planner, ...executors, now: steadyClock.now, ...door };
  const diagnosis = openDiagnosis(config, registry, { ...execution, availability: monitoring.availability });
  const queries = createQueryService({
    ...execution,
    onUsed: config.facts === "on" ? (plan) => registry.due.used(usedIds(plan)) : undefined,
    explainEmpty: diagnosis.explainEmpty,
    mend: diagnosis.mend,
    isCutOff: monitoring.isCutOff,
    limits: config.limits,
    metrics,
    sharedStore: state.soleOwner ? undefined : state.store,
    tracer: tracing,
  });
  life.add(() => queries.close());
  metrics.watchRunning(() => queries.running);
  const watches = openWatches({ ...ground, ...known, ...diagnosis, queries });
  return serve({ ...ground, ...known, ...diagnosis, ...door, planner, queries, evaluators, watches }, life);
}

/** State, log and metrics, and what this process hosts itself. */
async function openGround(config: Config, life: Lifecycle) {
  const metrics = createMetrics({ version: packageVersion(), role: config.role });
  const opened = await openState(config);
  life.add(() => opened.close());
  metrics.watchDisk(config.dataDir);
  metrics.watchChildren(childrenNow);
  metrics.watchWrites(() => opened.writes.fault() !== undefined);
  const store = countFailures(opened.store, () => metrics.observeStoreFailure());
  const state: State = { ...opened, store };
  const token = await openAdminToken(config, state);
  // After the token, which it must never write.
  const credentials = config.credentials === undefined ? undefined : await openCredentialFile(config.credentials);
  const { log, http: httpLog } = createLog({ ...config, adminToken: token.value, secrets: credentials?.secrets });
  life.add(() => log.flush());
  logWriteFaults(opened, log);
  life.add(logDamage(log));
  if (token.value === "off") log.warn("FEDWAY_ADMIN_TOKEN is off: whoever reaches this service may change it");
  const pool = openHosting(config);
  life.add(() => pool.close());
  const examples = config.examples ? createExampleFederation(pool, config.limits.hostedMemoryMb) : undefined;
  const hostedShards = await (await loadShards(config))?.hostShards(config, log, pool);
  // It is made of what is known, which is opened later.
  const late: { dataset?: ReturnType<typeof openDataset> } = {};
  const local = localDispatch(config, examples, {
    registry: () => late.dataset?.endpoint,
    shards: hostedShards?.local,
  });
  const tracing = await openTracing(config);
  if (tracing) life.add(() => tracing.close());
  const hosts = { pool, examples, hostedShards, late, local };
  return { config, log, httpLog, metrics, state, token, credentials, tracing, ...hosts };
}

type Ground = Awaited<ReturnType<typeof openGround>>;

/** The way out, and all that is known of what is out there. */
async function openKnowledge(ground: Ground, life: Lifecycle) {
  const { config, log, metrics, state, local, hostedShards, tracing } = ground;
  // The registry and the clients come before the monitor, which needs both.
  let monitoring: ReturnType<typeof openMonitoring> | undefined;
  let registry: Awaited<ReturnType<typeof openRegistry>> | undefined;
  const clients = openClients(config, local, {
    ...ground,
    tracer: tracing,
    fileUrl: (id) => registry?.catalog.fileUrl(id),
    operatorUrl: (id) => registry?.catalog.operatorUrl(id),
    onTraffic(report) {
      monitoring?.monitor.observeTraffic(report);
      if (report.status !== undefined && report.status >= 400) {
        registry?.sources.refused(report.endpoint, report.status);
      }
    },
    onLearned: (endpoint, learned) => registry?.noteFound(endpoint, learned),
  });
  life.add(() => clients.close());
  const jobs = openJobs(config, state, faultLog(log, "background work failed"));
  const foundation = { config, log, state, clients, local, jobs };
  const statusOf = (id: string): HealthState => monitoring?.monitor.health(id)?.state ?? "unknown";
  const inMaintenance = (id: string): boolean => monitoring?.monitor.health(id)?.maintenanceUntilMs !== undefined;
  registry = await openRegistry(foundation, { statusOf, inMaintenance });
  for (const part of [registry, jobs]) life.add(() => part.close());
  refuseEmpty(registry.catalog, config);
  await nextTurn();
  metrics.watchEndpoints((id) => registry.catalog.byId(id) !== undefined);
  monitoring = openMonitoring({ ...foundation, registry, metrics });
  life.add(() => monitoring?.close());
  const dataset = openDataset({ ...ground, registry, ...monitoring });
  ground.late.dataset = dataset;
  const shards = hostedShards?.open({ ...registry, ...state, jobs });
  life.add(() => shards?.close());
  const stateWatch = state.soleOwner ? undefined : await watchSharedState(ground, () => registry.refresh());
  if (stateWatch) life.add(() => stateWatch.close());
  return { clients, jobs, registry, monitoring, dataset, shards, stateWatch };
}

type Knowledge = Awaited<ReturnType<typeof openKnowledge>>;

interface ServedParts extends Ground, Knowledge, Door, Diagnosis {
  readonly planner: Planner;
  readonly queries: QueryService;
  readonly evaluators: Evaluators;
  readonly watches: ReturnType<typeof openWatches>;
}

/** The tools of agents, and the agent of our own over them. */
function openTools(parts: ServedParts) {
  const { config, registry } = parts;
  const agents = openAgents({
    ...parts,
    settings: { ...config.agents, ...config.limits },
    onDefect: faultLog(parts.log, "a tool failed"),
    tracer: parts.tracing,
  });
  const ask = openAsk({ config, client: parts.clients.json, agents, registry, tracer: parts.tracing });
  return { ...agents, ask };
}

async function serve(parts: ServedParts, life: Lifecycle): Promise<App> {
  const { config, state, token, examples, registry, monitoring, shards, queries, stateWatch } = parts;
  const { catalog } = registry;
  const { monitor, publish } = monitoring;
  const agents = openTools(parts);
  await nextTurn();
  const http = await createHttpServer({
    ...parts,
    ...registry,
    ...monitoring,
    config: { ...config, ...config.agents, adminToken: token.value },
    ...parts.access,
    publishSnapshot: publish,
    hosted: (id) => examples?.get(id),
    routes: [shards?.routes ?? offRoutes],
    toolbox: agents.toolbox,
    mcp: agents.mcp,
    ask: agents.ask,
    ready: () =>
      readiness({
        catalog,
        examples,
        closing: life.closing,
        stateWatch,
        writeFault: state.writes.fault(),
        shardsOff: shards === undefined,
        monitor,
      }),
    version: packageVersion(),
    logger: parts.httpLog,
    tracer: parts.tracing,
  });
  // A query may take as long as it may, also when the service is asked to end meanwhile.
  life.add(() => http.close(life.answering ? config.limits.timeoutMs + 1_000 : 0));
  return {
    queries,
    catalog,
    toolbox: agents.toolbox,
    mcpParts: agents.mcpParts,
    adminToken: token.value,
    listen(work) {
      catalog.setArgument(work?.argument);
      return life.begin({
        startWork: () => startWork(parts, work),
        answer: () => http.listen(),
        announce: async (url) => ((work?.announced ?? work === undefined) ? state.announce(url) : undefined),
      });
    },
    startMessage: (url) => startMessage(url, { catalog, token, config }),
    close: ({ drain = false } = {}) =>
      life.close(async () => {
        http.drain();
        if (drain) await sleep(config.drainMs);
      }),
  };
}

/** Background work begins when the service is there for others; for a command only the jobs that it asks for. */
async function startWork(parts: ServedParts, command: CommandWork | undefined): Promise<void> {
  const { config, jobs, metrics, registry, monitoring, shards, state } = parts;
  const { describes = false, jobs: wanted = [] }: CommandWork = command ?? { describes: true };
  const work = config.role !== "web" && (command === undefined || wanted);
  if (command === undefined || state.soleOwner) await removeOnceEntries(registry.catalog);
  await jobs.start(measured(kindsOf(parts), metrics), { work });
  if (command === undefined) await startRepeated(parts);
  await shards?.start();
  if (describes) registry.due.start(state.soleOwner);
  await (command === undefined ? monitoring.monitor.start() : monitoring.monitor.load());
}

const kindsOf = ({ registry, monitoring, shards, watches }: ServedParts) =>
  [registry, monitoring, watches, ...(shards ? [shards] : [])].flatMap((part) => part.kinds);

/** Starts recurring work, and work that waits for the first query. */
async function startRepeated(parts: ServedParts): Promise<void> {
  const { config, jobs, registry, monitoring, evaluators, watches } = parts;
  if (config.role !== "worker" && config.limits.evaluatorsStart === "service") evaluators.start();
  if (config.role !== "web") {
    registry.sources.startChecking();
    for (const schedule of [...monitoring.schedules, ...registry.schedules, watches.schedule, registry.due.schedule]) {
      const isWanted = schedule === registry.due.schedule ? config.facts !== "off" : config.monitor.enabled;
      // Schedules outlive processes: one that is not wanted any more must be taken back.
      await (isWanted ? jobs.schedule(schedule) : jobs.unschedule(schedule.name));
    }
    await followFolders(parts);
  }
}
