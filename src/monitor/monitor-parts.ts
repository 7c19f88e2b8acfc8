import { randomUUID } from "node:crypto";
import { type Announcer, createAnnouncer } from "./announcer.ts";
import { createHealthBook, type HealthBook } from "./health-book.ts";
import { createHealthReader } from "./health-reader.ts";
import type { HealthRules } from "./health-record.ts";
import { createHeartbeatBook, type HeartbeatBook } from "./heartbeat-book.ts";
import { createIncidentBook, type IncidentBook } from "./incident-book.ts";
import { every } from "../clock.ts";
import { createMaintenanceBook, type MaintenanceBook } from "./maintenance-book.ts";
import type { MonitorEvent, MonitorReader } from "./monitor.ts";
import type { MonitorOptions } from "./monitor-options.ts";
import { createProbeQueue, type ProbeQueue } from "./probe-queue.ts";
import { createProber, type Prober } from "./prober.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import { createTurnClaims } from "./turn-claims.ts";
import { createTurnTable } from "./turns.ts";
import { createUpkeep, type Upkeep } from "./upkeep.ts";
import { createWitness, type Witness } from "./witness.ts";

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
export interface Parts extends Pick<Core, "catalog" | "book" | "maintenance" | "closing" | "listeners" | "onFault"> {
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
export function createParts(options: MonitorOptions): Parts {
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
