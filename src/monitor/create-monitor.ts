import { randomUUID } from "node:crypto";
import { type Clock, every } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { unknownId } from "../errors/unknown-id.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import type { Store } from "../store/store.ts";
import { createFindings } from "./findings.ts";
import { createHealthReader } from "./health-reader.ts";
import type { IncidentNotice } from "./health-record.ts";
import { createHistory } from "./history.ts";
import { createHousekeeping } from "./housekeeping.ts";
import type {
  Finding,
  MonitorEvent,
  NamedFinding,
  Score,
  TrafficReport,
  WatchedCatalog,
  WindowSummary,
} from "./monitor.ts";
import type { EndpointProbe } from "./probe-endpoint.ts";
import { createProbeQueue, createProber, createTrafficObserver } from "./prober.ts";
import {
  type NewMaintenance,
  createHealthRepository,
  createIncidentRepository,
  createMaintenance,
} from "./repositories.ts";
import { createSharedIncidents } from "./shared-incidents.ts";
import { domainOf } from "./subjects.ts";
import { createHeartbeat, createTurnClaims, createTurnTable } from "./turns.ts";
import { createOutbox, createWatchdog } from "./watchdog.ts";

/** When endpoints are probed and what follows; `MonitorConfig` of the configuration fits. */
interface MonitorSettings {
  readonly enabled: boolean;
  readonly everyMs: number;
  /** As a share of `everyMs`, 0 to 0.5. */
  readonly jitter: number;
  /** Faults in a row that open an incident. */
  readonly incidentAfter: number;
  /** Good probes in a row that close it. */
  readonly recoveredAfter: number;
  /** Milliseconds after which a good answer is slow, regardless of the endpoint's usual time; absent: none. */
  readonly slowMs?: number;
  /** How many times its usual time an endpoint takes when it is slow; absent: it is not compared. */
  readonly slowFactor?: number;
  /** Days before the end of a certificate that open an incident; absent or 0: none do. */
  readonly certificateDays?: number;
}

/** Options of a monitor. */
export interface MonitorOptions {
  readonly catalog: WatchedCatalog;
  readonly store: Store;
  readonly probe: EndpointProbe;
  /** End of the certificate that the host of a URL has shown last; undefined when none is known. */
  readonly certificateEndMs?: (url: string) => number | undefined;
  readonly clock: Clock;
  readonly settings: MonitorSettings;
  /** True if this process probes; else it reads the findings of others, and passes on its traffic reports. */
  readonly work: boolean;
  /** No other process works on this store: there is nothing to be read again. */
  readonly soleOwner: boolean;
  readonly score?: (entry: CatalogEntry, windows: readonly WindowSummary[]) => Promise<Score>;
  /**
   * Takes over that an incident opened or closed; called by one process, again after a failure or a crash. Calls for the
   * same kind and incident are the same message.
   */
  readonly tell?: (notice: IncidentNotice) => Promise<void>;
  /** Called with internal errors, which are retried. */
  readonly onFault?: (error: unknown) => void;
  /** Called for each probe that could not be begun within an interval. */
  readonly onDropped?: (endpoint: string) => void;
  /** Names this process in leases; default: a random one. */
  readonly owner?: string;
  /** Milliseconds between two looks for turns; default 1,000. */
  readonly tickMs?: number;
  /** Probes under way at once; default 32. */
  readonly atOnce?: number;
}

const sweepEveryMs = 30_000;
/** A probe with its retry takes about one minute; a shorter silence means nothing. */
const leastStaleMs = 120_000;
/** New endpoints out in the network that are probed at once; more of them wait for their turns, within an interval. */
const mostNew = 10;
const newEveryMs = 5_000;

/** The monitor that `createMonitor` returns. */
export type Monitor = ReturnType<typeof createMonitor>;

/**
 * Watches the endpoints of the catalogue, once it is started. Every turn of every endpoint is probed once in the whole
 * deployment; state, incidents and history lie in the store, and each process has the latest of them in memory.
 */
export function createMonitor(options: MonitorOptions) {
  const parts = createParts(options);
  const { catalog, clock, settings } = options;
  const { reader, maintenance, housekeeping, traffic, listeners, closing } = parts;
  let stopListening: (() => void) | undefined;
  let stopLoops: (() => Promise<void>) | undefined;
  return {
    ...reader,
    /** Jobs that it enqueues; to be started with the queue. */
    kinds: [housekeeping.kind],
    /** To be handed to `JobQueue.schedule` by a process that works. */
    schedules: [housekeeping.schedule],
    /** Reads the stored state, and does nothing else: for a process that only reads. */
    load: () => parts.refresh(),
    /** Reads the stored state, and begins to probe unless this process leaves that to others. */
    async start(): Promise<void> {
      await parts.refresh();
      if (closing.signal.aborted) return;
      stopLoops = beginLoops(parts);
      if (settings.enabled) stopListening = catalog.onChange?.(() => parts.probeNew());
    },
    /** Does not throw; cheap, as it is called with every proxied query. */
    observeTraffic(report: TrafficReport): void {
      if (settings.enabled && !closing.signal.aborted) traffic.report(report);
    },
    /** @throws FedwayError `ENDPOINT_UNKNOWN`, `REQUEST_INVALID` */
    async addMaintenance(window: NewMaintenance) {
      if (catalog.byId(window.endpoint) === undefined) throw unknownId("endpoint", window.endpoint, catalog);
      return maintenance.add(window, clock.now());
    },
    /** False when there is no such window. */
    removeMaintenance: (id: string) => maintenance.remove(id),
    /** Opens the incident of a finding, or goes on with it. @throws FedwayError `ENDPOINT_UNKNOWN`, `STORE_FAILED` */
    report: (finding: Finding): Promise<void> => parts.findings.report(finding),
    /** Closes the incident of a finding, if it is open. @throws FedwayError `STORE_FAILED` */
    clear: (named: NamedFinding): Promise<void> => parts.findings.clear(named),
    /** Forgets an endpoint that has left the catalogue; its open incident is closed. */
    async remove(endpoint: string): Promise<void> {
      for (const { id } of maintenance.list(clock.now(), endpoint)) await maintenance.remove(id);
      await housekeeping.forget(endpoint);
      await housekeeping.sweep();
    },
    onEvent(listener: (event: MonitorEvent) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Probes under way are aborted and count as nothing. */
    async close(): Promise<void> {
      stopListening?.();
      closing.abort(new FedwayError("CANCELLED", "The service is shutting down."));
      await stopLoops?.();
      await parts.queue.close();
      await parts.watchdog.close();
      listeners.clear();
    },
  };
}

/** Puts the parts together; nothing happens yet. */
function createParts(options: MonitorOptions) {
  const { catalog, clock, settings, store } = options;
  const { everyMs, jitter, certificateDays = 0 } = settings;
  const now = (): number => clock.now();
  const onFault = (error: unknown): void => options.onFault?.(error);
  const staleMs = Math.max(3 * everyMs, leastStaleMs);
  const closing = new AbortController();
  const { signal } = closing;
  const listeners = new Set<(event: MonitorEvent) => void>();
  const emit = (event: MonitorEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        onFault(error);
      }
    }
  };
  const callForProbe = (endpoint: string): void => void prober.early(endpoint).catch(onFault);
  const core = { ...options, owner: options.owner ?? randomUUID(), staleMs, now, emit, onFault, callForProbe, signal };

  const records = createHealthRepository(store);
  const incidents = createIncidentRepository({ store, now });
  const history = createHistory({ store, now });
  const maintenance = createMaintenance(store);
  const heartbeat = createHeartbeat({ store, enabled: settings.enabled, quietMs: staleMs });
  const stored = { ...core, records, incidents, history, maintenance, heartbeat };

  const outbox = createOutbox(stored);
  const findings = createFindings({ ...stored, outbox });
  const roundMs = Math.max(everyMs * (1 + 2 * jitter), leastStaleMs);
  const shared = createSharedIncidents({ ...stored, outbox, roundMs });
  const onGood = async (entry: CatalogEntry): Promise<void> => {
    const endMs = certificateDays > 0 ? options.certificateEndMs?.(entry.url) : undefined;
    if (endMs !== undefined) await findings.certificate(entry, { endMs, days: certificateDays });
  };
  const watchdog = createWatchdog({ ...stored, outbox, shared, rules: { ...settings, staleMs }, onGood });
  const queue = createProbeQueue(core);
  const claims = createTurnClaims({ store, table: createTurnTable(settings), everyMs });
  const prober = createProber({ ...stored, claims, queue, watchdog, everyMs, probes: options.work });
  const reader = createHealthReader({ ...stored, score: options.score });
  return {
    ...stored,
    closing,
    listeners,
    outbox,
    findings,
    shared,
    watchdog,
    queue,
    prober,
    reader,
    housekeeping: createHousekeeping({ ...stored, outbox }),
    traffic: createTrafficObserver({ now, stateOf: (id) => reader.health(id)?.state, callForProbe }),
    async refresh(): Promise<void> {
      for (const mirror of [records, maintenance.mirror, heartbeat.mirror]) await mirror.refresh();
    },
    probeNew: newcomers(catalog, (id) => records.get(id)?.url, callForProbe),
  };
}

/** Starts the background work; the returned function ends it, and resolves when none of it is under way. */
function beginLoops(parts: ReturnType<typeof createParts>): () => Promise<void> {
  const { housekeeping, outbox, shared, prober, clock, settings, work, tickMs = 1_000, onFault } = parts;
  const probes = work && settings.enabled;
  /** Makes up for what processes that ended, or failures of the store, have left undone. */
  const sweep = async (): Promise<void> => {
    await housekeeping.sweep();
    await outbox.deliverOld();
    if (probes) await shared.sweep();
  };
  const loops: { stop(): Promise<void> }[] = [];
  const loop = (ms: number, turn: () => Promise<void>): unknown => loops.push(every(ms, turn, { clock, onFault }));
  // First of all, as it looks for the heartbeat of others, and the next one gives this process's own.
  if (work) loop(sweepEveryMs, sweep);
  if (probes) loop(tickMs, () => prober.tick());
  if (probes) loop(newEveryMs, async () => parts.probeNew());
  if (!parts.soleOwner) loops.push(...followOthers(parts, probes));
  return async () => {
    await Promise.all(loops.map((each) => each.stop()));
  };
}

/** Takes in what other processes write, and the probes that they ask for. */
function followOthers(parts: ReturnType<typeof createParts>, probes: boolean) {
  const { records, maintenance, heartbeat, prober } = parts;
  const mirrors = [records, maintenance.mirror, heartbeat.mirror].map((mirror) => mirror.follow(parts));
  return [...mirrors, ...(probes ? [prober.followRequests(parts)] : [])];
}

/**
 * Calls for probes of endpoints that are new, once each: they need not wait for their turn. Where many are, as at the first
 * start, only those on the operator's own machines are: the others' first probes are spread over the interval, as a
 * laptop may have no network yet, and a resolver or a firewall may take dozens of new names at once amiss.
 */
function newcomers(
  catalog: WatchedCatalog,
  probedUrl: (id: string) => string | undefined,
  callForProbe: (id: string) => void,
): () => void {
  let seen = new Set<string>();
  return () => {
    const unknown = catalog.entries.filter(({ id, url }) => probedUrl(id) !== url);
    const added = unknown.filter(({ id, url }) => !seen.has(`${id} ${url}`));
    seen = new Set(unknown.map(({ id, url }) => `${id} ${url}`));
    const own = added.filter((entry) => domainOf(entry) === undefined);
    for (const { id } of added.length - own.length > mostNew ? own : added) callForProbe(id);
  };
}
