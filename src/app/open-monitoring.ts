import type { Logger } from "pino";
import { type Config, packageVersion } from "../config/config.ts";
import type { JobKind, JobQueue, JobSchedule } from "../jobs/job-queue.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { KnownAvailability } from "../plan/plan-request.ts";
import { createHistory } from "../monitor/history.ts";
import { createMonitor } from "../monitor/create-monitor.ts";
import type { Monitor, MonitorEvent, Score } from "../monitor/monitor.ts";
import { createEndpointProbe } from "../monitor/probe-endpoint.ts";
import { publishSnapshot, type Snapshot } from "../monitor/snapshot.ts";
import { scoreOf } from "../monitor/score.ts";
import { createWebhookService, type WebhookService } from "../monitor/webhook-service.ts";
import { createProbeClient } from "../outbound/whole-answer.ts";
import type { LocalDispatch } from "../outbound/sparql-client.ts";
import { applyHealth } from "../monitor/apply-health.ts";
import { systemClock, steadyClock } from "../clock.ts";
import { followRemovals } from "../registry/catalog/follow-removals.ts";
import type { Clients } from "./open-clients.ts";
import type { Registry } from "./open-registry.ts";
import type { State } from "./open-state.ts";
import { shareBreakers } from "../outbound/share-breakers.ts";

/** What monitoring is opened with. */
export interface MonitoringParts {
  readonly config: Config;
  readonly log: Logger;
  readonly state: State;
  readonly clients: Clients;
  readonly local: LocalDispatch;
  readonly registry: Pick<Registry, "catalog" | "capabilities" | "descriptions">;
  readonly jobs: JobQueue;
  readonly metrics: Metrics;
}

/** The monitor with what it feeds and who it tells. */
export interface Monitoring {
  readonly monitor: Monitor;
  readonly webhooks: WebhookService;
  /** Jobs that it enqueues; to be started with the queue. */
  readonly kinds: readonly JobKind[];
  /** To be handed to a queue that works. */
  readonly schedules: readonly JobSchedule[];
  /** What is known of the endpoints, for plans. */
  readonly availability: KnownAvailability;
  /** @throws FedwayError `SNAPSHOT_IMPLAUSIBLE`, `STORE_FAILED` */
  publish(options: { readonly reviewed: boolean }): Promise<Snapshot>;
  close(): Promise<void>;
}

/** Wires monitoring; nothing is probed before `monitor.start()`. @throws FedwayError `CONFIG_INVALID` */
export function openMonitoring(parts: MonitoringParts): Monitoring {
  const { config, state, clients, local, registry, jobs, metrics } = parts;
  const { store, soleOwner } = state;
  const { breakers } = clients.sparql;
  const onFault = faultLog(parts.log, "background work of the monitor failed");
  const isLocal = (url: string): boolean => local(url) !== undefined;
  const webhooks = openWebhooks(parts);
  const monitor = openMonitor(parts, webhooks, onFault);
  const applied = applyHealth({ monitor, breakers, ...config.monitor, clock: steadyClock, isLocal });
  const sharing = soleOwner ? undefined : shareBreakers({ breakers, store, clock: steadyClock, isLocal, onFault });
  monitor.onEvent((event) => {
    metrics.observeMonitor(event);
    logIncident(parts.log, event);
  });
  metrics.watchMonitor(monitor, config.monitor.everyMs);
  metrics.watchJobs((status) => jobs.list({ state: status, limit: 1_000 }));
  const { catalog } = registry;
  const remove = (id: string): Promise<void> => {
    metrics.forgetEndpoint(id);
    return monitor.remove(id);
  };
  const removals = followRemovals({ catalog, remove, clock: steadyClock, onFault });
  const { publicUrl } = config;
  return {
    monitor,
    webhooks,
    kinds: [...monitor.kinds, ...webhooks.kinds],
    schedules: monitor.schedules,
    availability: applied.availability,
    publish: (options) =>
      publishSnapshot({ catalog, monitor, store, clock: systemClock, version: packageVersion(), publicUrl }, options),
    async close() {
      removals.close();
      applied.close();
      sharing?.close();
      await monitor.close();
    },
  };
}

function openWebhooks({ config, state, clients, registry, jobs, metrics }: MonitoringParts): WebhookService {
  const { webhooks: urls, webhookSecret: secret } = config.monitor;
  return createWebhookService({
    urls,
    secret,
    publicUrl: config.publicUrl,
    catalog: registry.catalog,
    jobs,
    store: state.store,
    send: (request) => clients.webhooks.post(request),
    clock: systemClock,
    observe: (outcome) => metrics.observeWebhook(outcome),
  });
}

function openMonitor(
  { config, log, state, clients, registry }: MonitoringParts,
  webhooks: WebhookService,
  onFault: (error: unknown) => void,
): Monitor {
  const { catalog, capabilities, descriptions } = registry;
  const history = createHistory({
    store: state.store,
    onDropped: (endpoint, reason) => log.warn({ endpoint, reason }, "stored observation dropped"),
  });
  const client = createProbeClient({ client: clients.sparql, clock: steadyClock, pastBreaker: true });
  const score = async (id: string): Promise<Score | undefined> => {
    const entry = catalog.byId(id);
    if (entry === undefined) return undefined;
    const [windows, known, description] = await Promise.all([
      history.windows(id, systemClock.now()),
      capabilities.get(id),
      descriptions.get(id),
    ]);
    return scoreOf({ entry, windows, capabilities: known, description });
  };
  return createMonitor({
    catalog,
    store: state.store,
    history,
    probe: createEndpointProbe({ client, documents: clients.asker, capabilities, clock: steadyClock }),
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
  const { id, endpoint, fault } = event.incident;
  log.warn({ incident: id, endpoint, fault }, event.kind === "incident-opened" ? "incident opened" : "incident closed");
}

/** A logger of faults that come in swarms: the same text is written once a minute. */
export function faultLog(log: Pick<Logger, "warn">, text: string): (error: unknown) => void {
  const told = new Map<string, number>();
  return (error) => {
    const message = error instanceof Error ? error.message : String(error);
    const nowMs = steadyClock.now();
    if (nowMs - (told.get(message) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    if (told.size >= 100) told.clear();
    told.set(message, nowMs);
    log.warn({ err: error }, text);
  };
}
