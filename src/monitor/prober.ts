import { every } from "../clock.ts";
import type { FollowOptions } from "../store/mirror.ts";
import type { Store } from "../store/store.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import { transportFaults } from "./judgement.ts";
import type { HealthState, TrafficReport, WatchedCatalog } from "./monitor.ts";
import { hostOf } from "./subjects.ts";
import type { HeartbeatRepository, TurnClaims } from "./turns.ts";
import type { Watchdog } from "./watchdog.ts";

interface ProberOptions {
  readonly catalog: WatchedCatalog;
  readonly store: Store;
  readonly claims: TurnClaims;
  readonly queue: ProbeQueue;
  readonly watchdog: Watchdog;
  readonly heartbeat: HeartbeatRepository;
  readonly owner: string;
  readonly now: () => number;
  readonly everyMs: number;
  /** This process probes itself. */
  readonly probes: boolean;
  /** No probe is begun any more. */
  readonly signal: AbortSignal;
}

const earlyEveryMs = 30_000;
/** Probes that processes which leave probing to others ask for; the stored value is the process that asked. */
const requestPrefix = "monitor/wanted/";
const requestTtlMs = 60_000;
const mostRequests = 200;
const lookEveryMs = 60_000;

/** Has the probes made whose turn it is, and those that are called for; it works only when called. */
export function createProber(options: ProberOptions) {
  const { catalog, store, queue, now, everyMs, owner, signal } = options;
  const idsOf = memoised((entries: readonly CatalogEntry[]) => entries.map(({ id }) => id));
  const enqueue = (endpoint: string, source: "turn" | "early"): void => {
    const entry = catalog.byId(endpoint);
    if (entry === undefined || signal.aborted) return;
    queue.add({
      endpoint,
      key: `${source} ${endpoint}`,
      host: turnOf(entry),
      beforeMs: now() + everyMs,
      run: () => options.watchdog.watch(endpoint, source),
    });
  };
  const takeRequests = async (): Promise<void> => {
    for (const { key, version } of await store.list(requestPrefix, { limit: mostRequests })) {
      if (await store.delete(key, { ifVersion: version })) enqueue(key.slice(requestPrefix.length), "early");
    }
  };
  return {
    /** Claims due probes and puts them into the queue. @throws FedwayError `STORE_FAILED` */
    async tick(): Promise<void> {
      const turns = await options.claims.claim(idsOf(catalog.entries), now());
      for (const { endpoint } of turns) enqueue(endpoint, "turn");
      await options.heartbeat.beat(now());
    },
    /**
     * A probe before its turn, by one process of the deployment and at most once in 30 s; one that leaves probing to
     * others asks them. @throws FedwayError `STORE_FAILED`
     */
    async early(endpoint: string): Promise<void> {
      if (!(await store.acquire(`monitor/early/${endpoint}`, owner, earlyEveryMs))) return;
      if (options.probes) enqueue(endpoint, "early");
      else await store.put(requestPrefix + endpoint, owner, { ttlMs: requestTtlMs });
    },
    /** Makes the probes that such processes ask for. */
    followRequests({ clock, onFault, lookEveryMs: everyLookMs = lookEveryMs }: FollowOptions) {
      const stopWatching = store.watch(requestPrefix, (change) => {
        if (change?.version !== 0) takeRequests().catch((error: unknown) => signal.aborted || onFault(error));
      });
      const looking = every(everyLookMs, takeRequests, { clock, onFault, firstAfterMs: everyLookMs });
      return {
        async stop(): Promise<void> {
          stopWatching();
          await looking.stop();
        },
      };
    },
  };
}

/** Endpoints of one host take turns; those of the operator's own machines do not disturb each other. */
function turnOf(entry: CatalogEntry): string {
  const host = hostOf(entry);
  return host === undefined ? `endpoint ${entry.id}` : `host ${host}`;
}

/** The latest result, while the argument is the same value. */
function memoised<Value extends object, Result>(make: (value: Value) => Result): (value: Value) => Result {
  let latest: { readonly value: Value; readonly result: Result } | undefined;
  return (value) => {
    if (latest?.value !== value) latest = { value, result: make(value) };
    return latest.result;
  };
}

/** A probe that is to be made. */
interface QueuedProbe {
  readonly endpoint: string;
  /** A probe that waits already is not added again. */
  readonly key: string;
  /** Probes of one host are made one after the other. */
  readonly host: string;
  /** Not to be begun later than this, milliseconds since the epoch. */
  readonly beforeMs: number;
  /** Must not reject. */
  readonly run: () => Promise<void>;
}

/** Probes that wait and probes under way. */
type ProbeQueue = ReturnType<typeof createProbeQueue>;

/** Bounds of a queue. */
interface ProbeQueueOptions {
  readonly now: () => number;
  /** Probes under way at once; default 32. */
  readonly atOnce?: number;
  /** Probes that may wait; default 20,000. */
  readonly mostWaiting?: number;
  /** Called for each probe that was not begun in time or found no room. */
  readonly onDropped?: (endpoint: string) => void;
}

/** First come, first served, but for hosts that are busy. */
export function createProbeQueue(options: ProbeQueueOptions) {
  const { now, atOnce = 32, mostWaiting = 20_000, onDropped } = options;
  /** Probes by host; a host stays here while it has any, waiting or under way. */
  const hosts = new Map<string, QueuedProbe[]>();
  /** Hosts with waiting probes and none under way. */
  const ready = new Set<string>();
  const waiting = new Set<string>();
  const running = new Set<Promise<void>>();

  const next = (): QueuedProbe | undefined => {
    for (const host of ready) {
      ready.delete(host);
      for (let probe = hosts.get(host)?.shift(); probe !== undefined; probe = hosts.get(host)?.shift()) {
        waiting.delete(probe.key);
        if (probe.beforeMs >= now()) return probe;
        onDropped?.(probe.endpoint);
      }
      hosts.delete(host);
    }
    return undefined;
  };
  const startNext = (): void => {
    while (running.size < atOnce) {
      const probe = next();
      if (probe === undefined) return;
      const run = probe.run().finally(() => {
        running.delete(run);
        if (hosts.get(probe.host)?.length) ready.add(probe.host);
        else hosts.delete(probe.host);
        startNext();
      });
      running.add(run);
    }
  };

  return {
    /** Waiting and under way. */
    get size(): number {
      return waiting.size + running.size;
    },
    /** False when a probe of this key waits already, or too many wait. */
    add(probe: QueuedProbe): boolean {
      if (waiting.has(probe.key)) return false;
      if (waiting.size >= mostWaiting) {
        onDropped?.(probe.endpoint);
        return false;
      }
      waiting.add(probe.key);
      const probes = hosts.get(probe.host);
      if (probes === undefined) {
        hosts.set(probe.host, [probe]);
        ready.add(probe.host);
      } else probes.push(probe);
      startNext();
      return true;
    },
    /** Forgets those that wait; resolves when those under way have ended. */
    async close(): Promise<void> {
      ready.clear();
      hosts.clear();
      waiting.clear();
      await Promise.all(running);
    },
  };
}

interface TrafficObserverOptions {
  readonly now: () => number;
  /** Undefined for what is not in the catalogue. */
  readonly stateOf: (endpoint: string) => HealthState | undefined;
  /** The endpoint should be looked at before its turn; called at most once per endpoint and 30 s. */
  readonly callForProbe: (endpoint: string) => void;
}

interface Seen {
  /** Moments of the latest transport faults, at most three. */
  faults: readonly number[];
  calledMs: number;
}

/** Answers of an endpoint that lives, though not what the query asked for. */
const signsOfLife: ReadonlySet<TrafficReport["outcome"]> = new Set(["ok", "partial", "http-4xx", "too-large"]);

const faultsThatCall = 3;
const withinMs = 60_000;
const callEveryMs = 30_000;
const mostEndpoints = 10_000;

/** Weighs the traffic's evidence about endpoints; starts without any. */
export function createTrafficObserver({ now, stateOf, callForProbe }: TrafficObserverOptions) {
  const seen = new Map<string, Seen>();
  const of = (endpoint: string): Seen => {
    const known = seen.get(endpoint);
    if (known !== undefined) return known;
    const [oldest] = seen.keys();
    if (seen.size >= mostEndpoints && oldest !== undefined) seen.delete(oldest);
    const fresh = { faults: [], calledMs: Number.NEGATIVE_INFINITY };
    seen.set(endpoint, fresh);
    return fresh;
  };
  const call = (endpoint: string, one: Seen, nowMs: number): void => {
    if (Math.abs(nowMs - one.calledMs) < callEveryMs) return;
    one.calledMs = nowMs;
    one.faults = [];
    callForProbe(endpoint);
  };

  return {
    /** Cheap and without errors: it is called with every proxied query. */
    report({ endpoint, outcome }: TrafficReport): void {
      const isFault = transportFaults.has(outcome);
      const lives = signsOfLife.has(outcome);
      if (!isFault && !lives) return;
      const state = stateOf(endpoint);
      if (state === undefined) return;
      const nowMs = now();
      const one = of(endpoint);
      if (lives && state === "down") call(endpoint, one, nowMs);
      if (!isFault || state !== "up") return;
      one.faults = [...one.faults.filter((atMs) => Math.abs(nowMs - atMs) < withinMs), nowMs].slice(-faultsThatCall);
      if (one.faults.length >= faultsThatCall) call(endpoint, one, nowMs);
    },
  };
}
