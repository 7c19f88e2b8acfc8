import { randomUUID } from "node:crypto";
import { type Static, Type } from "typebox";
import { sleep, systemClock } from "../../clock.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { createCollection } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import type { CatalogDocument, DocumentName } from "./catalog.ts";
import { documentKey, keyOfItem, parseDocument, reasonOf } from "./document.ts";
import type { UrlKey } from "./index-catalog.ts";
import { type CatalogItem, readItem } from "./parse-entry.ts";
import { EntryProblem } from "./statements.ts";

/** A change over the API, as it lies over the files: a document of its own, or a tombstone. */
export interface Overlay {
  /** See `documentKey`. */
  readonly key: string;
  readonly kind: CatalogDocument["kind"];
  readonly id: string;
  /** The stored form, from which all else is derived; undefined when it cannot be read. */
  readonly stored: StoredOverlay | undefined;
  /** Version in the store, for compare-and-set. */
  readonly storeVersion: number;
  readonly deleted: boolean;
  /** ISO 8601. */
  readonly changedAt: string;
  /** Hash of the file that it was laid over. */
  readonly over?: string | undefined;
  readonly item?: CatalogItem;
  /** Comparison key of an endpoint's URL. */
  readonly urlKey?: string | undefined;
  /** Why the stored document cannot be used. */
  readonly problem?: string | undefined;
}

const schema = Type.Object({
  format: Type.Literal(1),
  changedAt: Type.String(),
  over: Type.Optional(Type.String()),
  /** With this service's own IRIs relative to its public URL; absent in a tombstone. */
  turtle: Type.Optional(Type.String()),
});

/** Stored form of a change. */
type StoredOverlay = Readonly<Static<typeof schema>>;

/** True for a stored change that hides a file. */
export const isTombstone = (document: unknown): boolean =>
  typeof document === "object" && document !== null && !("turtle" in document);

const keyPattern = /^(endpoint|federation)\/([a-z0-9][a-z0-9._-]{0,63})$/;

/** How a stored change is interpreted. */
interface OverlayRules {
  readonly baseUrl: string;
  readonly keyOf: UrlKey;
}

/** A stored change; undefined for other documents. One that cannot be read becomes an overlay with a problem. */
function readOverlay(key: string, { version, document }: VersionedOverlay, rules: OverlayRules): Overlay | undefined {
  const [, kind, id] = keyPattern.exec(key) ?? [];
  if ((kind !== "endpoint" && kind !== "federation") || id === undefined) return undefined;
  const overlay = { key, kind, id, stored: document, storeVersion: version } as const;
  if (document === undefined) {
    return { ...overlay, deleted: false, changedAt: "", problem: "The stored change cannot be read." };
  }
  const { changedAt, over, turtle } = document;
  const known = { ...overlay, changedAt, over };
  if (turtle === undefined) return { ...known, deleted: true };
  try {
    const item = readItem(parseDocument(turtle, rules.baseUrl));
    if (item.kind !== kind || item.id !== id) throw new EntryProblem(`It is about "${item.id}".`);
    const urlKey = keyOfItem(item, rules.keyOf);
    return { ...known, deleted: false, item, urlKey };
  } catch (problem) {
    return { ...known, deleted: false, problem: `The stored change cannot be used: ${reasonOf(problem)}` };
  }
}

interface VersionedOverlay {
  readonly version: number;
  readonly document: StoredOverlay | undefined;
}

const lease = "catalog/write";
const leaseMs = 10_000;
const pauseMs = 50;
/** Longer than the lease of a process that ended in the middle of a change. */
const leaseAttempts = (leaseMs + 2_000) / pauseMs;
const counter = "catalog/revision";

/**
 * The changes of the catalogue under `catalog/endpoint/{id}` and `catalog/federation/{id}`, which other processes may
 * write to as well.
 */
export function createOverlayStore(store: Store, rules: OverlayRules) {
  const owner = randomUUID();
  const stored = createCollection({
    store,
    prefix: "catalog/",
    schema,
    lost: "A change of the catalogue does not count; the file is used.",
  });
  return {
    /** All changes by key; those that are known already are not parsed again. */
    async list(known: ReadonlyMap<string, Overlay>): Promise<ReadonlyMap<string, Overlay>> {
      const overlays = new Map<string, Overlay>();
      for await (const [key, found] of stored.versionedEntries()) {
        const before = known.get(key);
        const overlay = before && isSame(before, found) ? before : readOverlay(key, found, rules);
        if (overlay !== undefined) overlays.set(key, overlay);
      }
      return overlays;
    },
    /** Writes a change where `before` is stored, or nothing; undefined when another process was faster. */
    async put({ kind, id }: DocumentName, before: Overlay | undefined, document: StoredOverlay) {
      const key = documentKey(kind, id);
      const version = await stored.put(key, document, { ifVersion: before?.storeVersion ?? 0 });
      if (version === undefined) return undefined;
      const overlay = readOverlay(key, { version, document }, rules);
      return { overlay, revision: await store.increment(counter, 1) };
    },
    /** Removes a change; undefined when another process was faster. */
    async delete({ kind, id }: DocumentName, before: Overlay | undefined) {
      const isDeleted = await stored.delete(documentKey(kind, id), { ifVersion: before?.storeVersion ?? 0 });
      return isDeleted ? { overlay: undefined, revision: await store.increment(counter, 1) } : undefined;
    },
    /** Grows with every change of any process. */
    revision: () => store.increment(counter, 0),
    /** Work that no other process does at the same time. @throws FedwayError `STORE_FAILED` after waiting in vain */
    async exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
      await acquire(store, owner);
      try {
        return await work();
      } finally {
        await store.release(lease, owner);
      }
    },
  };
}

/** Versions begin anew when a document was removed and written again, so the content counts, too. */
function isSame({ storeVersion, stored }: Overlay, { version, document }: VersionedOverlay): boolean {
  return (
    storeVersion === version &&
    stored?.changedAt === document?.changedAt &&
    stored?.over === document?.over &&
    stored?.turtle === document?.turtle
  );
}

const neverAborted = new AbortController().signal;

async function acquire(store: Store, owner: string): Promise<void> {
  for (let attempt = 0; attempt < leaseAttempts; attempt += 1) {
    if (await store.acquire(lease, owner, leaseMs)) return;
    await sleep(pauseMs, { clock: systemClock, signal: neverAborted });
  }
  throw new FedwayError("STORE_FAILED", "Another process is changing the catalogue and does not come to an end.", {
    next: "Try again in a few seconds.",
  });
}
