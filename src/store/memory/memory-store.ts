import {
  checkDuration,
  checkKey,
  checkLease,
  checkPoints,
  checkPutOptions,
  checkRange,
  checkValue,
  counterSum,
  listLimit,
} from "../bounds.ts";
import { type Clock, systemClock } from "../../clock.ts";
import { storeClosed } from "../failures.ts";
import type { Store } from "../store.ts";
import { createMemoryDocuments, type MemoryDocuments } from "./memory-documents.ts";
import { createMemorySeries, type MemorySeries } from "./memory-series.ts";
import { sweepEveryMs } from "../bounds.ts";
import { createWatchers, type Watchers } from "../watchers.ts";

/** A number or an owner that may end. */
interface Expiring<Value> {
  readonly value: Value;
  readonly expiresAtMs: number;
}

/** What the methods share. */
interface MemoryState {
  readonly clock: Pick<Clock, "now">;
  readonly documents: MemoryDocuments;
  readonly series: MemorySeries;
  readonly watchers: Watchers;
  readonly counters: Map<string, Expiring<number>>;
  readonly leases: Map<string, Expiring<string>>;
  sweptAtMs: number;
  closed: boolean;
}

/**
 * A store that ends with its process: for tests, and for services that need not remember anything. It is the plainest
 * form of what the port promises; what has expired is removed by later writes.
 */
export function createMemoryStore(options: { readonly clock?: Pick<Clock, "now"> } = {}): Store {
  const clock = options.clock ?? systemClock;
  const state: MemoryState = {
    clock,
    documents: createMemoryDocuments(clock),
    series: createMemorySeries(),
    watchers: createWatchers(),
    counters: new Map(),
    leases: new Map(),
    sweptAtMs: clock.now(),
    closed: false,
  };
  return {
    name: "memory",
    ...documentMethods(state),
    ...seriesMethods(state),
    ...counterMethods(state),
    ...leaseMethods(state),
    async close() {
      state.closed = true;
      state.watchers.clear();
    },
  };
}

function checkOpen(state: MemoryState): void {
  if (state.closed) throw storeClosed();
}

function live<Value>(
  held: ReadonlyMap<string, Expiring<Value>>,
  key: string,
  now: number,
): Expiring<Value> | undefined {
  const found = held.get(key);
  return found !== undefined && found.expiresAtMs > now ? found : undefined;
}

/** Removes what has expired, when it is time again. */
function sweep(state: MemoryState): void {
  const now = state.clock.now();
  if (now - state.sweptAtMs < sweepEveryMs) return;
  state.sweptAtMs = now;
  state.documents.sweep();
  for (const held of [state.counters, state.leases]) {
    for (const [key, { expiresAtMs }] of held) if (expiresAtMs <= now) held.delete(key);
  }
}

function documentMethods(state: MemoryState): Pick<Store, "get" | "put" | "delete" | "list" | "watch"> {
  const { documents, watchers } = state;
  return {
    async get(key) {
      checkOpen(state);
      checkKey(key);
      return documents.get(key);
    },
    async put(key, value, options = {}) {
      checkOpen(state);
      checkKey(key);
      checkValue(value);
      checkPutOptions(options);
      sweep(state);
      const version = documents.put(key, value, options);
      if (version !== undefined) watchers.tell({ key, version });
      return version;
    },
    async delete(key, options = {}) {
      checkOpen(state);
      checkKey(key);
      checkPutOptions(options);
      const deleted = documents.delete(key, options.ifVersion);
      if (deleted) watchers.tell({ key, version: 0 });
      return deleted;
    },
    async list(prefix, options = {}) {
      checkOpen(state);
      return documents.list(prefix, listLimit(prefix, options), options.after);
    },
    watch: watchers.watch,
  };
}

function seriesMethods(state: MemoryState): Pick<Store, "append" | "range" | "dropSeries"> {
  return {
    async append(name, points, { retentionMs } = {}) {
      checkOpen(state);
      checkPoints(name, points, retentionMs);
      state.series.append(name, points, retentionMs);
    },
    async range(name, bounds) {
      checkOpen(state);
      checkRange(name, bounds);
      return state.series.range(name, bounds);
    },
    async dropSeries(name) {
      checkOpen(state);
      checkKey(name);
      state.series.drop(name);
    },
  };
}

function counterMethods(state: MemoryState): Pick<Store, "increment"> {
  const { clock, counters } = state;
  return {
    async increment(counter, by, { ttlMs } = {}) {
      checkOpen(state);
      checkKey(counter);
      if (ttlMs !== undefined) checkDuration(ttlMs, "ttlMs");
      sweep(state);
      const held = live(counters, counter, clock.now());
      const value = counterSum(held?.value ?? 0, by);
      const ends = ttlMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + ttlMs;
      counters.set(counter, { value, expiresAtMs: held?.expiresAtMs ?? ends });
      return value;
    },
  };
}

function leaseMethods(state: MemoryState): Pick<Store, "acquire" | "release"> {
  const { clock, leases } = state;
  return {
    async acquire(lease, owner, ttlMs) {
      checkOpen(state);
      checkLease(lease, owner, ttlMs);
      sweep(state);
      const held = live(leases, lease, clock.now());
      if (held !== undefined && held.value !== owner) return false;
      leases.set(lease, { value: owner, expiresAtMs: clock.now() + ttlMs });
      return true;
    },
    async release(lease, owner) {
      checkOpen(state);
      checkKey(lease);
      if (leases.get(lease)?.value === owner) leases.delete(lease);
    },
  };
}
