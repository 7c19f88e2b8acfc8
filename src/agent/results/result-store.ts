import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { sizedByKey } from "../../cache-size.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { TabularAnswer } from "../../query/table.ts";

/** The rows of an answer, kept for later pages. */
export interface KeptResult {
  /** Handle for its owner. */
  readonly id: string;
  readonly query: string;
  readonly answer: TabularAnswer;
  /** Milliseconds since the epoch. */
  readonly keptAtMs: number;
  readonly expiresAtMs: number;
}

interface Entry extends KeptResult {
  readonly owner: string;
  readonly bytes: number;
}

interface ResultStoreOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How long a result is kept; 15 minutes when absent. */
  readonly ttlMs?: number;
  /** Memory of all results, estimated; 64 MiB when absent. The oldest go first. */
  readonly maxBytes?: number;
}

const newAgainMs = 60 * 60_000;

/** Results of this process by handle; a handle works for its owner only, and for a while. */
export type ResultStore = ReturnType<typeof createResultStore>;

/** Opens an empty store. */
export function createResultStore({ now, ttlMs = 15 * 60_000, maxBytes = 64 * 1024 * 1024 }: ResultStoreOptions) {
  const kept = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
    ttl: ttlMs,
    ttlResolution: 0,
    perf: { now },
  });
  const read = new LRUCache<string, true>({ ...sizedByKey(1), ttl: newAgainMs, ttlResolution: 0, perf: { now } });
  return {
    /** True the first time in an hour that an owner reads a text. */
    isNews(owner: string, text: string): boolean {
      const key = JSON.stringify([owner, text]);
      const isNew = !read.has(key);
      if (isNew) read.set(key, true);
      return isNew;
    },
    /** Keeps an answer; one that is larger than a quarter of the memory is not kept, which is undefined. */
    keep(owner: string, query: string, answer: TabularAnswer): KeptResult | undefined {
      const bytes = bytesOf(query, answer);
      if (bytes > maxBytes / 4) return undefined;
      const expiresAtMs = now() + ttlMs;
      // The time in the handle distinguishes an expired one from one that never was.
      const id = `${randomBytes(9).toString("base64url")}.${Math.floor(expiresAtMs / 1000).toString(36)}`;
      const entry: Entry = { id, owner, query, answer, keptAtMs: now(), expiresAtMs, bytes };
      kept.purgeStale();
      kept.set(id, entry);
      return entry;
    },
    /** @throws FedwayError `RESULT_UNKNOWN`, also for those of other owners, `RESULT_EXPIRED` */
    get(owner: string, id: string): KeptResult {
      kept.purgeStale();
      const entry = kept.peek(id);
      if (entry?.owner === owner) return entry;
      const [, expiry] = /^[\w-]{12}\.([0-9a-z]{5,8})$/.exec(id) ?? [];
      if (expiry !== undefined && Number.parseInt(expiry, 36) * 1000 <= now())
        throw new FedwayError("RESULT_EXPIRED", `The result is kept for ${ttlMs / 60_000} minutes only.`);
      throw new FedwayError("RESULT_UNKNOWN", "No result of yours has this handle.");
    },
    /** The latest whole answer to the same query, where it is kept; not one of which it is undecided why it is empty. */
    repeated(owner: string, query: string): KeptResult | undefined {
      // The latest comes first.
      return [...kept.values()].find(
        ({ owner: whose, query: asked, answer: { status, diagnosis } }) =>
          whose === owner && asked === query && /^(?:ok|empty)$/.test(status) && diagnosis?.code !== "EMPTY_UNDECIDED",
      );
    },
    /** Handles of an owner's results, the latest first. */
    ids: (owner: string): readonly string[] =>
      [...kept.values()].filter((entry) => entry.owner === owner).map(({ id }) => id),
    /** Estimated bytes of what is kept. */
    get bytes(): number {
      return kept.calculatedSize;
    },
  };
}

function bytesOf(query: string, { rows, ...rest }: TabularAnswer): number {
  const cells = rows.reduce((sum, row) => sum + row.reduce((some, cell) => some + 32 + 2 * (cell?.length ?? 0), 32), 0);
  return 4_096 + 2 * (query.length + JSON.stringify(rest).length) + cells;
}
