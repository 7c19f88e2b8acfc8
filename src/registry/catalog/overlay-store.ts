import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Store, StoredDocument } from "../../store/store.ts";
import type { CatalogDocument } from "./catalog.ts";
import { encodeOverlay, overlayKey, overlayPrefix, type OverlayRecord } from "./overlay.ts";

/** The changes in the store, which other processes may write to as well. */
export interface OverlayStore {
  list(): Promise<readonly StoredDocument[]>;
  /** Writes a change; undefined when another process was faster. */
  put(place: OverlayPlace, overlay: OverlayRecord): Promise<StoredChange | undefined>;
  /** Removes a change; undefined when another process was faster. */
  delete(place: OverlayPlace): Promise<StoredChange | undefined>;
  /** Grows with every change of any process. */
  revision(): Promise<number>;
  /** Work that no other process does at the same time. @throws FedwayError `STORE_FAILED` after waiting in vain */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** What became of a change. */
export interface StoredChange {
  /** Undefined when it was removed. */
  readonly document?: StoredDocument;
  /** The revision after it. */
  readonly revision: number;
}

/** Where a change goes, and which version must be there; 0: none. */
export interface OverlayPlace {
  readonly kind: CatalogDocument["kind"];
  readonly id: string;
  readonly ifVersion: number;
}

const pageSize = 1_000;
const lease = "catalog/write";
const leaseMs = 10_000;
const pauseMs = 50;
/** Longer than the lease of a process that ended in the middle of a change. */
const attempts = (leaseMs + 2_000) / pauseMs;
const counter = "catalog/revision";

/** Keeps changes of the catalogue under `catalog/endpoint/{id}` and `catalog/federation/{id}`. */
export function createOverlayStore(store: Store): OverlayStore {
  const owner = randomUUID();
  return {
    list: () => listAll(store),
    async put({ kind, id, ifVersion }, overlay) {
      const [key, value] = [overlayKey(kind, id), encodeOverlay(overlay)];
      const version = await store.put(key, value, { ifVersion });
      if (version === undefined) return undefined;
      return { document: { key, value, version }, revision: await store.increment(counter, 1) };
    },
    async delete({ kind, id, ifVersion }) {
      const isDeleted = await store.delete(overlayKey(kind, id), { ifVersion });
      return isDeleted ? { revision: await store.increment(counter, 1) } : undefined;
    },
    revision: () => store.increment(counter, 0),
    async exclusively(work) {
      await acquire(store, owner);
      try {
        return await work();
      } finally {
        await store.release(lease, owner);
      }
    },
  };
}

async function acquire(store: Store, owner: string): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (await store.acquire(lease, owner, leaseMs)) return;
    await pause(pauseMs);
  }
  throw new FedwayError("STORE_FAILED", "Another process is changing the catalogue and does not come to an end.", {
    next: "Try again in a few seconds.",
  });
}

async function listAll(store: Store): Promise<readonly StoredDocument[]> {
  const found: StoredDocument[] = [];
  for (;;) {
    const after = found.at(-1)?.key;
    const page = await store.list(overlayPrefix, { limit: pageSize, ...(after !== undefined && { after }) });
    found.push(...page);
    if (page.length < pageSize) return found;
  }
}
