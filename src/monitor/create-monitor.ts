import { FedwayError } from "../errors/fedway-error.ts";
import type { Monitor, MonitorEvent, MonitorReader, Score } from "./monitor.ts";
import { randomUUID } from "node:crypto";
import { type Announcer, createAnnouncer, createRecorder, type Recorder } from "./recorder.ts";
import { createHealthBook, type HealthBook } from "./health-repository.ts";
import { createHealthReader } from "./health-reader.ts";
import type { HealthRules, IncidentNotice } from "./health-record.ts";
import { createHeartbeatBook, type HeartbeatBook } from "./heartbeat.ts";
import { createIncidentBook, type IncidentBook } from "./incident-repository.ts";
import { every, type Clock } from "../clock.ts";
import { createMaintenanceBook, type MaintenanceBook } from "./maintenance.ts";
import { createProbeQueue, type ProbeQueue, createProber, type Prober } from "./prober.ts";
import { createTurnClaims, createTurnTable } from "./turns.ts";
import { createUpkeep, type Upkeep } from "./housekeeping.ts";
import { createWitness, type Witness } from "./traffic-observer.ts";
import type { Store } from "../store/store.ts";
import type { Catalog, EditableCatalog } from "../registry/catalog/catalog.ts";
import type { History } from "./history.ts";
import type { EndpointProbe } from "./probe-endpoint.ts";

/** A monitor that does nothing before it is started. */
export function createMonitor(options: MonitorOptions): Monitor {
  const parts = createParts(options);
  const { catalog, clock, settings } = options;
  const { reader, maintenance, upkeep, witness, listeners, closing } = parts;
  let stopListening: (() => void) | undefined;
  let stopLoops: (() => Promise<void>) | undefined;
  return {
    ...reader,
    kinds: [upkeep.kind],
    schedules: [upkeep.schedule],
    load: () => parts.refresh(),
    async start() {
      await parts.refresh();
      if (closing.signal.aborted) return;
      stopLoops = parts.startLoops();
      if (settings.enabled) stopListening = catalog.onChange?.(() => parts.probeNew());
    },
    witness(report) {
      if (settings.enabled && !closing.signal.aborted) witness.report(report);
    },
    async addMaintenance(window) {
      if (catalog.byId(window.endpoint) === undefined) {
        throw new FedwayError("ENDPOINT_UNKNOWN", `The catalogue has no endpoint "${window.endpoint.slice(0, 64)}".`);
      }
      return maintenance.add(window, clock.now());
    },
    removeMaintenance: (id) => maintenance.remove(id),
    async remove(endpoint) {
      for (const { id } of maintenance.list(clock.now(), endpoint)) await maintenance.remove(id);
      await upkeep.forget(endpoint);
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      stopListening?.();
      closing.abort(new FedwayError("CANCELLED", "The service is shutting down."));
      await stopLoops?.();
      await parts.queue.close();
      await parts.recorder.close();
      listeners.clear();
    },
  };
}

const settleEveryMs = 30_000;
/** A probe with its retry takes about one minute; what is silent for less says nothing. */
const leastStaleMs = 120_000;
/** New endpoints that are probed at once; more have their turn within an interval. */
const mostNew = 20;
const newEveryMs = 5_000;

/** What all parts of one monitor share. */
interface Core extends Omit<MonitorOptions, "onFault" | "owner"> {
  readonly owner: string;
  readonly staleMs: number;
  readonly rules: HealthRules;
  readonly closing: AbortController;
  readonly listeners: Set<(event: MonitorEvent) => void>;
  readonly now: () => number;
  readonly emit: (event: MonitorEvent) => void;
  readonly onFault: (error: unknown) => void;
  readonly book: HealthBook;
  readonly incidents: IncidentBook;
  readonly maintenance: MaintenanceBook;
  readonly heartbeat: HeartbeatBook;
}

/** The parts of one monitor. */
interface Parts extends Pick<Core, "catalog" | "book" | "maintenance" | "closing" | "listeners" | "onFault"> {
  readonly reader: MonitorReader;
  readonly recorder: Recorder;
  readonly queue: ProbeQueue;
  readonly prober: Prober;
  readonly upkeep: Upkeep;
  readonly witness: Witness;
  /** Begins the work that goes on by itself; what is returned ends it, and resolves when nothing of it is under way. */
  readonly startLoops: () => () => Promise<void>;
  /** Calls for probes of endpoints that nothing is known of yet. */
  readonly probeNew: () => void;
  /** Takes in what is stored. @throws FedwayError `STORE_FAILED` */
  readonly refresh: () => Promise<void>;
}

/** Puts the parts together; nothing happens yet. */
function createParts(options: MonitorOptions): Parts {
  const core = createCore(options);
  const { book, emit, maintenance, heartbeat, now, onFault, settings, store } = core;
  const { tell, work, probe, onDropped, atOnce, score } = options;
  const announcer = createAnnouncer({ ...core, tell });
  const recorder = createRecorder({ ...core, announcer, emit });
  const queue = createProbeQueue({ now, ...(onDropped && { onDropped }), ...(atOnce !== undefined && { atOnce }) });
  const { everyMs } = settings;
  const claims = createTurnClaims({ store, table: createTurnTable(settings), everyMs });
  const { signal } = core.closing;
  const prober = createProber({ ...core, claims, queue, probe, recorder, everyMs, probes: work, signal });
  const reader = createHealthReader({ ...core, score });
  const witness = createWitness({
    now,
    stateOf: (endpoint) => reader.health(endpoint)?.state,
    callForProbe: (endpoint) => void prober.early(endpoint).catch(onFault),
    keep: (endpoint, observation) => recorder.keep(endpoint, observation),
  });
  const refresh = async (): Promise<void> => {
    await book.refresh();
    await maintenance.refresh();
    await heartbeat.refresh();
  };
  const probeNew = createNewcomers(core, prober);
  const upkeep = createUpkeep({ ...core, announcer });
  const startLoops = (): (() => Promise<void>) => beginLoops(core, { prober, announcer, upkeep, refresh, probeNew });
  return { ...core, reader, recorder, queue, prober, upkeep, witness, startLoops, refresh, probeNew };
}

function createCore(options: MonitorOptions): Core {
  const { clock, settings, store } = options;
  const now = (): number => clock.now();
  const onFault = (error: unknown): void => options.onFault?.(error);
  const staleMs = Math.max(3 * settings.everyMs, leastStaleMs);
  const listeners = new Set<(event: MonitorEvent) => void>();
  return {
    ...options,
    owner: options.owner ?? randomUUID(),
    staleMs,
    rules: { incidentAfter: settings.incidentAfter, recoveredAfter: settings.recoveredAfter, staleMs },
    closing: new AbortController(),
    listeners,
    now,
    emit: (event) => emitTo(listeners, event, onFault),
    onFault,
    book: createHealthBook(store),
    incidents: createIncidentBook({ store, now }),
    maintenance: createMaintenanceBook(store),
    heartbeat: createHeartbeatBook({ store, enabled: settings.enabled, quietMs: staleMs }),
  };
}

interface LoopWork {
  readonly prober: Prober;
  readonly announcer: Announcer;
  readonly upkeep: Upkeep;
  readonly refresh: () => Promise<void>;
  readonly probeNew: () => void;
}

function beginLoops(core: Core, { prober, announcer, upkeep, refresh, probeNew }: LoopWork): () => Promise<void> {
  const { clock, settings, work, soleOwner, tickMs = 1_000, refreshMs = 5_000, onFault } = core;
  const loop = (ms: number, turn: () => Promise<void>) => every(ms, turn, { clock, onFault });
  const probes = work && settings.enabled;
  const read = async (): Promise<void> => {
    await refresh();
    if (probes) await prober.takeWishes();
  };
  const loops = [
    // First of all, as it looks for the heartbeat of others, and the next one gives this process's own.
    ...(work ? [loop(settleEveryMs, () => upkeep.closeGone())] : []),
    ...(probes ? [loop(tickMs, () => prober.tick()), loop(newEveryMs, async () => probeNew())] : []),
    ...(work ? [loop(settleEveryMs, () => announcer.settleOld())] : []),
    ...(soleOwner ? [] : [loop(refreshMs, read)]),
  ];
  return async () => {
    await Promise.all(loops.map((each) => each.stop()));
  };
}

/**
 * Calls for probes of endpoints that nothing is known of yet, which need not wait for their turn: once each, and a few
 * at a time, as a catalogue may be large and new.
 */
function createNewcomers({ catalog, book, onFault }: Core, prober: Prober): () => void {
  let called = new Set<string>();
  return () => {
    const unknown = catalog.entries.filter(({ id, url }) => book.get(id)?.url !== url);
    called = called.intersection(new Set(unknown.map(({ id, url }) => `${id} ${url}`)));
    const next = unknown.filter(({ id, url }) => !called.has(`${id} ${url}`)).slice(0, mostNew);
    for (const { id, url } of next) {
      called.add(`${id} ${url}`);
      prober.early(id).catch(onFault);
    }
  };
}

function emitTo(
  listeners: ReadonlySet<(event: MonitorEvent) => void>,
  event: MonitorEvent,
  onFault: (error: unknown) => void,
): void {
  for (const listener of listeners) {
    try {
      listener(event);
    } catch (error) {
      onFault(error);
    }
  }
}

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
}

/** What a monitor is made of. */
export interface MonitorOptions {
  readonly catalog: Pick<Catalog, "entries" | "byId"> & Partial<Pick<EditableCatalog, "onChange">>;
  readonly store: Store;
  readonly history: History;
  readonly probe: EndpointProbe;
  readonly clock: Clock;
  readonly settings: MonitorSettings;
  /** This process probes; else it reads what others found, and hands on what its traffic tells. */
  readonly work: boolean;
  /** No other process works on this store: there is nothing to be read again. */
  readonly soleOwner: boolean;
  readonly score?: (endpoint: string) => Promise<Score | undefined>;
  /**
   * Takes over that an incident opened or closed; called by one process, again after a failure or a crash. Calls for the
   * same kind and incident are the same message.
   */
  readonly tell?: (notice: IncidentNotice) => Promise<void>;
  /** Hears what goes wrong inside and is tried again. */
  readonly onFault?: (error: unknown) => void;
  /** Hears of each probe that could not be begun within an interval. */
  readonly onDropped?: (endpoint: string) => void;
  /** Names this process in leases; default: a random one. */
  readonly owner?: string;
  /** Milliseconds between two looks for turns; default 1,000. */
  readonly tickMs?: number;
  /** Milliseconds between two looks at what other processes wrote; default 5,000. */
  readonly refreshMs?: number;
  /** Probes under way at once; default 32. */
  readonly atOnce?: number;
}
