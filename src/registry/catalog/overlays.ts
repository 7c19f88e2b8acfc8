import type { StoredDocument, Store } from "../../store/store.ts";
import type { CatalogDocument } from "./catalog.ts";
import { reasonOf, documentKey, keyOfItem, parseDocument } from "./document.ts";
import type { UrlKey } from "./index-catalog.ts";
import { type CatalogItem, readItem } from "./parse-entry.ts";
import { EntryProblem } from "./statements.ts";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { FedwayError } from "../../errors/fedway-error.ts";

/** A change over the API, as it lies over the files: a document of its own, or a tombstone. */
export interface Overlay {
  /** See `documentKey`. */
  readonly key: string;
  readonly kind: CatalogDocument["kind"];
  readonly id: string;
  /** The stored text, from which everything else is derived. */
  readonly stored: string;
  /** Version in the store, for compare-and-set. */
  readonly storeVersion: number;
  readonly deleted: boolean;
  /** ISO 8601. */
  readonly changedAt: string;
  /** Hash of the file that it was laid over. */
  readonly over?: string;
  readonly item?: CatalogItem;
  /** Comparison key of an endpoint's URL. */
  readonly urlKey?: string;
  /** Why the stored document cannot be used. */
  readonly problem?: string;
}

/** What is stored of a change. */
export interface OverlayRecord {
  readonly changedAt: string;
  readonly over?: string;
  /** Turtle, with this service's own IRIs relative to its public URL; absent in a tombstone. */
  readonly turtle?: string;
}

const keyPattern = /^catalog\/(endpoint|federation)\/([a-z0-9][a-z0-9._-]{0,63})$/;

/** Prefix of all changes in the store. */
export const overlayPrefix = "catalog/";

const overlayKey = (kind: CatalogDocument["kind"], id: string): string => `${overlayPrefix}${documentKey(kind, id)}`;

/** The text under which a change is stored. */
const encodeOverlay = (overlay: OverlayRecord): string => JSON.stringify({ format: 1, ...overlay });

/** What the stored text says; undefined when it is no such text. */
export function decodeOverlay(stored: string): OverlayRecord | undefined {
  try {
    const value: unknown = JSON.parse(stored);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is OverlayRecord {
  if (typeof value !== "object" || value === null) return false;
  const isText = (name: string): boolean => typeof Reflect.get(value, name) === "string";
  const isTextIfThere = (name: string): boolean => !(name in value) || isText(name);
  return Reflect.get(value, "format") === 1 && isText("changedAt") && isTextIfThere("over") && isTextIfThere("turtle");
}

/** How overlays are read. */
interface OverlayReading {
  readonly baseUrl: string;
  readonly keyOf: UrlKey;
}

/** A stored change; undefined for other documents. One that cannot be read becomes an overlay with a problem. */
export function readOverlay(
  { key: storeKey, value, version }: StoredDocument,
  reading: OverlayReading,
): Overlay | undefined {
  const [, kind, id] = keyPattern.exec(storeKey) ?? [];
  if ((kind !== "endpoint" && kind !== "federation") || id === undefined) return undefined;
  const overlay = { key: documentKey(kind, id), kind, id, stored: value, storeVersion: version } as const;
  const record = decodeOverlay(value);
  if (record === undefined) {
    return { ...overlay, deleted: false, changedAt: "", problem: "The stored change cannot be read." };
  }
  const { changedAt, over, turtle } = record;
  const known = { ...overlay, changedAt, ...(over !== undefined && { over }) };
  if (turtle === undefined) return { ...known, deleted: true };
  try {
    const item = readItem(parseDocument(turtle, reading.baseUrl));
    if (item.kind !== kind || item.id !== id) throw new EntryProblem(`It is about "${item.id}".`);
    const urlKey = keyOfItem(item, reading.keyOf);
    return { ...known, deleted: false, item, ...(urlKey !== undefined && { urlKey }) };
  } catch (problem) {
    return { ...known, deleted: false, problem: `The stored change cannot be used: ${reasonOf(problem)}` };
  }
}

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
interface OverlayPlace {
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
