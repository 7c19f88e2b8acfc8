import { createAsker } from "../outbound/whole-answer.ts";
import type { Logger } from "pino";
import { systemClock, steadyClock } from "../clock.ts";
import { packageVersion } from "../package-file.ts";
import { applyHealth } from "../monitor/apply-health.ts";
import { createMonitor } from "../monitor/create-monitor.ts";
import type { MonitorEvent, Score, WindowSummary } from "../monitor/monitor.ts";
import { createEndpointProbe } from "../monitor/probe-endpoint.ts";
import { domainOf } from "../monitor/subjects.ts";
import { scoreOf } from "../monitor/score.ts";
import { publishSnapshot, type Snapshot } from "../monitor/snapshot.ts";
import { createWebhookService, type WebhookService } from "../monitor/receivers/webhooks.ts";
import { BreakerSharing } from "../outbound/share-breakers.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import { faultLog } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Foundation, Registry } from "./open-registry.ts";

/** Parts that monitoring needs. */
interface MonitoringParts extends Foundation {
  readonly registry: Registry;
  readonly metrics: Metrics;
}

/** Opens the monitor, what it feeds and its receivers; nothing is probed before `monitor.start()`. @throws FedwayError `CONFIG_INVALID` */
export function openMonitoring(parts: MonitoringParts) {
  const { config, log, state, clients, local, registry, jobs, metrics } = parts;
  const { store, soleOwner } = state;
  const { catalog } = registry;
  const { breakers } = clients.sparql;
  const clock = steadyClock;
  const onFault = faultLog(log, "background work of the monitor failed");
  const isLocal = (url: string): boolean => local(url) !== undefined;
  const webhooks = openWebhooks(parts);
  const monitor = openMonitor(parts, webhooks, onFault);
  const applied = applyHealth({ monitor, breakers, ...config.monitor, clock, isLocal, onFault });
  const sharing = soleOwner ? undefined : new BreakerSharing({ breakers, store, clock, isLocal, onFault });
  monitor.onEvent((event) => {
    metrics.observeMonitor(event);
    logIncident(log, event);
  });
  metrics.watchMonitor(monitor, config.monitor.everyMs);
  metrics.watchJobs((status) => jobs.list({ state: status, limit: 1_000 }));
  const remove = (id: string): Promise<void> => {
    metrics.forgetEndpoint(id);
    return monitor.remove(id);
  };
  const removals = registry.onRemoval(remove);
  const { publicUrl } = config;
  const published = { catalog, monitor, store, clock: systemClock, version: packageVersion(), publicUrl };
  return {
    monitor,
    webhooks,
    /** Jobs that it enqueues; to be started with the queue. */
    kinds: [...monitor.kinds, ...webhooks.kinds],
    /** True for endpoints beyond this machine while the service cannot reach the network. */
    isCutOff: (id: string): boolean => {
      const entry = catalog.byId(id);
      return entry !== undefined && domainOf(entry) !== undefined && monitor.heartbeat().offline !== undefined;
    },
    /** To be handed to a queue that works. */
    schedules: monitor.schedules,
    /** State of the endpoints, for plans. */
    availability: applied.availability,
    /** @throws FedwayError `SNAPSHOT_IMPLAUSIBLE`, `STORE_FAILED` */
    publish: (options: { readonly reviewed: boolean }): Promise<Snapshot> => publishSnapshot(published, options),
    async close(): Promise<void> {
      removals.close();
      applied.close();
      sharing?.close();
      await monitor.close();
    },
  };
}

function openWebhooks({ config, state, clients, registry, jobs, metrics }: MonitoringParts): WebhookService {
  const { webhooks: urls, webhookSecret: secret, groupMs } = config.monitor;
  return createWebhookService({
    urls,
    secret,
    groupMs,
    publicUrl: config.publicUrl,
    catalog: registry.catalog,
    jobs,
    store: state.store,
    send: (request) => clients.json.post(request),
    clock: systemClock,
    observe: (outcome) => metrics.observeWebhook(outcome),
  });
}

function openMonitor(
  { config, log, state, clients, registry }: MonitoringParts,
  webhooks: WebhookService,
  onFault: (error: unknown) => void,
) {
  const { catalog, capabilities, descriptions } = registry;
  const { sparql: client, documents } = clients;
  const asker = createAsker({ client, documents, clock: steadyClock, pastBreaker: true });
  const score = async (entry: CatalogEntry, windows: readonly WindowSummary[]): Promise<Score> => {
    const { id } = entry;
    const [known, description] = await Promise.all([capabilities.get(id), descriptions.get(id)]);
    return scoreOf({ entry, windows, capabilities: known, description });
  };
  return createMonitor({
    catalog,
    store: state.store,
    probe: createEndpointProbe({ asker, capabilities, clock: steadyClock }),
    certificateEndMs: (url) => client.certificateEndMs(url),
    clock: systemClock,
    settings: config.monitor,
    work: config.role !== "web",
    soleOwner: state.soleOwner,
    score,
    tell: (notice) => webhooks.tell(notice),
    onFault,
    onDropped: (endpoint) => log.warn({ endpoint }, "a probe could not be begun within its interval"),
  });
}

function logIncident(log: Logger, event: MonitorEvent): void {
  if (event.kind === "probed") return;
  const { id, endpoint, fault, kind } = event.incident;
  log.warn({ incident: id, endpoint, fault, kind }, event.kind.replace("-", " "));
}
