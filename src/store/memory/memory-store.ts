import { type Clock, systemClock } from "../../clock.ts";
import {
  checkedStore,
  counterSum,
  type AppendOptions,
  type RangeBounds,
  type StoreAdapter,
  storeClosed,
  sweepEveryMs,
} from "../bounds.ts";
import { compareKeys } from "../key-order.ts";
import type { PutOptions, SeriesPoint, Store, StoredDocument } from "../store.ts";
import { createWatchers } from "../watchers.ts";

/**
 * A store that ends with its process: for tests, and for services that need not remember anything. It is the plainest
 * form of what the port promises; what has expired is removed by later writes.
 */
export function createMemoryStore({ clock = systemClock }: { readonly clock?: Pick<Clock, "now"> } = {}): Store {
  return checkedStore(new MemoryStore(clock));
}

/** Whatever may end; at infinity when it does not. */
interface Expiring<Value> {
  readonly value: Value;
  readonly expiresAtMs: number;
}

class MemoryStore implements StoreAdapter {
  readonly name = "memory";
  readonly #clock: Pick<Clock, "now">;
  readonly #documents = new Map<string, Expiring<StoredDocument>>();
  readonly #keys = new SortedKeys();
  readonly #series = new Map<string, SeriesPoint[]>();
  readonly #counters = new Map<string, Expiring<number>>();
  readonly #leases = new Map<string, Expiring<string>>();
  readonly #watchers = createWatchers();
  /** One sequence for all documents: a version never comes back after a document was deleted and made anew. */
  #lastVersion = 0;
  #sweptAtMs: number;
  #isClosed = false;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
    this.#sweptAtMs = clock.now();
  }

  async get(key: string): Promise<StoredDocument | undefined> {
    this.#checkOpen();
    return this.#live(this.#documents, key);
  }

  async put(key: string, value: string, { ttlMs, ifVersion }: PutOptions): Promise<number | undefined> {
    this.#checkOpen();
    this.#sweep();
    if (!this.#hasVersion(key, ifVersion)) return undefined;
    this.#lastVersion += 1;
    const version = this.#lastVersion;
    this.#documents.set(key, this.#expiring({ key, value, version }, ttlMs));
    this.#keys.add(key);
    this.#watchers.tell({ key, version });
    return version;
  }

  async delete(key: string, { ifVersion }: PutOptions): Promise<boolean> {
    this.#checkOpen();
    if (this.#live(this.#documents, key) === undefined || !this.#hasVersion(key, ifVersion)) return false;
    this.#drop(key);
    this.#watchers.tell({ key, version: 0 });
    return true;
  }

  async list(prefix: string, limit: number, after: string | undefined): Promise<readonly StoredDocument[]> {
    this.#checkOpen();
    const found: StoredDocument[] = [];
    const resumes = after !== undefined && compareKeys(after, prefix) >= 0;
    for (const key of this.#keys.from(resumes ? after : prefix, resumes)) {
      if (found.length >= limit || !key.startsWith(prefix)) break;
      const document = this.#live(this.#documents, key);
      if (document !== undefined) found.push(document);
    }
    return found;
  }

  watch(...listening: Parameters<Store["watch"]>): () => void {
    return this.#watchers.watch(...listening);
  }

  async append(name: string, points: readonly SeriesPoint[], { retentionMs }: AppendOptions): Promise<void> {
    this.#checkOpen();
    const held = this.#series.get(name) ?? [];
    let inOrder = true;
    for (const { atMs, value } of points) {
      inOrder &&= atMs >= (held.at(-1)?.atMs ?? atMs);
      held.push({ atMs, value });
    }
    // The sort is stable: points of one moment stay in the order of arrival.
    if (!inOrder) held.sort((left, right) => left.atMs - right.atMs);
    const newest = held.at(-1);
    if (newest === undefined) return;
    if (retentionMs !== undefined) held.splice(0, firstAt(held, newest.atMs - retentionMs));
    this.#series.set(name, held);
  }

  async range(name: string, { fromMs, toMs, limit }: RangeBounds): Promise<readonly SeriesPoint[]> {
    this.#checkOpen();
    const held = this.#series.get(name) ?? [];
    const start = firstAt(held, fromMs);
    return held.slice(start, Math.max(start, Math.min(firstAt(held, toMs), start + (limit ?? held.length))));
  }

  async dropSeries(name: string): Promise<void> {
    this.#checkOpen();
    this.#series.delete(name);
  }

  async increment(counter: string, by: number, { ttlMs }: Pick<PutOptions, "ttlMs">): Promise<number> {
    this.#checkOpen();
    this.#sweep();
    const held = this.#live(this.#counters, counter);
    const value = counterSum(held ?? 0, by);
    const { expiresAtMs } = this.#expiring(value, ttlMs);
    const heldUntilMs = held === undefined ? undefined : this.#counters.get(counter)?.expiresAtMs;
    this.#counters.set(counter, { value, expiresAtMs: heldUntilMs ?? expiresAtMs });
    return value;
  }

  async acquire(lease: string, owner: string, ttlMs: number): Promise<boolean> {
    this.#checkOpen();
    this.#sweep();
    const holder = this.#live(this.#leases, lease);
    if (holder !== undefined && holder !== owner) return false;
    this.#leases.set(lease, this.#expiring(owner, ttlMs));
    return true;
  }

  async release(lease: string, owner: string): Promise<void> {
    this.#checkOpen();
    if (this.#leases.get(lease)?.value === owner) this.#leases.delete(lease);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watchers.clear();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw storeClosed();
  }

  #expiring<Value>(value: Value, ttlMs: number | undefined): Expiring<Value> {
    return { value, expiresAtMs: ttlMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.now() + ttlMs };
  }

  #live<Value>(held: ReadonlyMap<string, Expiring<Value>>, key: string): Value | undefined {
    const found = held.get(key);
    return found !== undefined && found.expiresAtMs > this.#clock.now() ? found.value : undefined;
  }

  #hasVersion(key: string, version: number | undefined): boolean {
    return version === undefined || (this.#live(this.#documents, key)?.version ?? 0) === version;
  }

  #drop(key: string): void {
    if (this.#documents.delete(key)) this.#keys.delete(key);
  }

  /** Removes what has expired, when it is time again. */
  #sweep(): void {
    const now = this.#clock.now();
    if (now - this.#sweptAtMs < sweepEveryMs) return;
    this.#sweptAtMs = now;
    for (const [key, { expiresAtMs }] of this.#documents) if (expiresAtMs <= now) this.#drop(key);
    for (const held of [this.#counters, this.#leases]) {
      for (const [key, { expiresAtMs }] of held) if (expiresAtMs <= now) held.delete(key);
    }
  }
}

/** Index of the first point at or after a moment. */
function firstAt(points: readonly SeriesPoint[], atMs: number): number {
  return firstIndex(points.length, (index) => (points[index]?.atMs ?? 0) >= atMs);
}

/** A set of keys in key order; look-ups take logarithmic time, changes move what lies behind them. */
class SortedKeys {
  readonly #keys: string[] = [];

  add(key: string): void {
    const index = this.#indexOf(key);
    if (this.#keys[index] !== key) this.#keys.splice(index, 0, key);
  }

  delete(key: string): void {
    const index = this.#indexOf(key);
    if (this.#keys[index] === key) this.#keys.splice(index, 1);
  }

  /** Keys from the first one that is not below `from` (that is above it, when `exclusive`). */
  *from(from: string, exclusive: boolean): IterableIterator<string> {
    const start = this.#indexOf(from);
    const keys = this.#keys;
    for (let index = exclusive && keys[start] === from ? start + 1 : start; index < keys.length; index += 1) {
      yield keys[index] ?? "";
    }
  }

  #indexOf(key: string): number {
    return firstIndex(this.#keys.length, (index) => compareKeys(this.#keys[index] ?? "", key) >= 0);
  }
}

/** The first of `length` indices for which `holds`, given that it holds for all after it. */
function firstIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
