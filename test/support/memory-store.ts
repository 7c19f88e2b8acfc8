import { type Clock, systemClock } from "../../src/clock.ts";
import {
  checkedStore,
  counterSum,
  type AppendOptions,
  type RangeBounds,
  type StoreAdapter,
  storeClosed,
  sweepEveryMs,
} from "../../src/store/bounds.ts";
import { compareKeys } from "../../src/store/key-order.ts";
import type { PutOptions, SeriesPoint, Store, StoredDocument } from "../../src/store/store.ts";
import { createWatchers } from "../../src/store/watchers.ts";

/**
 * A store that ends with its process, for tests: the plainest form of what the port promises. What has expired is removed
 * by later writes.
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
    this.#watchers.tell({ key, version });
    return version;
  }

  async delete(key: string, { ifVersion }: PutOptions): Promise<boolean> {
    this.#checkOpen();
    if (this.#live(this.#documents, key) === undefined || !this.#hasVersion(key, ifVersion)) return false;
    this.#documents.delete(key);
    this.#watchers.tell({ key, version: 0 });
    return true;
  }

  async list(prefix: string, limit: number, after: string | undefined): Promise<readonly StoredDocument[]> {
    this.#checkOpen();
    const isListed = (key: string): boolean =>
      key.startsWith(prefix) && (after === undefined || compareKeys(key, after) > 0);
    return Array.from(this.#documents.keys())
      .filter((key) => isListed(key))
      .toSorted(compareKeys)
      .flatMap((key) => this.#live(this.#documents, key) ?? [])
      .slice(0, limit);
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

  /** Removes what has expired, when it is time again. */
  #sweep(): void {
    const now = this.#clock.now();
    if (now - this.#sweptAtMs < sweepEveryMs) return;
    this.#sweptAtMs = now;
    for (const held of [this.#documents, this.#counters, this.#leases]) {
      for (const [key, { expiresAtMs }] of held) if (expiresAtMs <= now) held.delete(key);
    }
  }
}

/** Index of the first point at or after a moment. */
function firstAt(points: readonly SeriesPoint[], atMs: number): number {
  const index = points.findIndex((point) => point.atMs >= atMs);
  return index < 0 ? points.length : index;
}
