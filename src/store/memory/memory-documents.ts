import type { Clock } from "../../clock.ts";
import { compareKeys } from "../key-order.ts";
import type { PutOptions, StoredDocument } from "../store.ts";
import { createSortedKeys } from "./sorted-keys.ts";

interface HeldDocument {
  readonly document: StoredDocument;
  readonly expiresAtMs: number;
}

/** Documents of a memory store; arguments are checked by the store. */
export interface MemoryDocuments {
  get(key: string): StoredDocument | undefined;
  put(key: string, value: string, options: PutOptions): number | undefined;
  delete(key: string, ifVersion: number | undefined): boolean;
  list(prefix: string, limit: number, after: string | undefined): readonly StoredDocument[];
  sweep(): void;
}

/** No documents yet. */
export function createMemoryDocuments(clock: Pick<Clock, "now">): MemoryDocuments {
  const held = new Map<string, HeldDocument>();
  const keys = createSortedKeys();
  // One sequence for all documents: a version never comes back after a document was deleted and made anew.
  let lastVersion = 0;

  const get = (key: string): StoredDocument | undefined => {
    const found = held.get(key);
    return found !== undefined && found.expiresAtMs > clock.now() ? found.document : undefined;
  };
  const holds = (key: string, ifVersion: number | undefined): boolean =>
    ifVersion === undefined || (get(key)?.version ?? 0) === ifVersion;
  const drop = (key: string): void => {
    if (held.delete(key)) keys.delete(key);
  };

  return {
    get,
    put(key, value, { ttlMs, ifVersion }) {
      if (!holds(key, ifVersion)) return undefined;
      lastVersion += 1;
      const expiresAtMs = ttlMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + ttlMs;
      held.set(key, { document: { key, value, version: lastVersion }, expiresAtMs });
      keys.add(key);
      return lastVersion;
    },
    delete(key, ifVersion) {
      const deleted = get(key) !== undefined && holds(key, ifVersion);
      if (deleted) drop(key);
      return deleted;
    },
    list(prefix, limit, after) {
      const found: StoredDocument[] = [];
      const resumes = after !== undefined && compareKeys(after, prefix) >= 0;
      for (const key of keys.from(resumes ? after : prefix, resumes)) {
        if (found.length >= limit || !key.startsWith(prefix)) break;
        const document = get(key);
        if (document !== undefined) found.push(document);
      }
      return found;
    },
    sweep() {
      const now = clock.now();
      for (const [key, { expiresAtMs }] of held) if (expiresAtMs <= now) drop(key);
    },
  };
}
