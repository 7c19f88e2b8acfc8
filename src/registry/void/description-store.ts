import { LRUCache } from "lru-cache";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Store } from "../../store/store.ts";
import { checkDescription, type VoidDescription } from "./void-description.ts";

/** What was loaded. */
interface LoadedDescription {
  readonly description?: VoidDescription | undefined;
  /** Grows with every change; absent when there is none. */
  readonly version?: number;
  /** Why a stored document was dropped: it could not be read any more. */
  readonly dropped?: string;
}

/** What a description store is built from. */
interface DescriptionStoreOptions {
  readonly store: Store;
  /** Characters of one stored description; default 32 Mi. */
  readonly maxLength?: number;
  /** Characters of parsed descriptions that are kept in memory; default 64 Mi. */
  readonly cacheLength?: number;
  /** Milliseconds after which work in progress is forgotten; default 30 days. */
  readonly workTtlMs?: number;
}

const mebi = 1024 * 1024;
const dayMs = 24 * 60 * 60 * 1000;
const format = 1;

const main = (id: string): string => `description/${id}`;
const work = (id: string): string => `description-work/${id}`;

/** Descriptions by catalogue id; checked on the way out, so that a damaged one is dropped and never used. */
export type DescriptionStore = ReturnType<typeof createDescriptionStore>;

/**
 * A store of descriptions under `description/` and `description-work/`; its methods throw FedwayError `STORE_FAILED`,
 * and `REQUEST_TOO_LARGE` where something is saved.
 */
export function createDescriptionStore(options: DescriptionStoreOptions) {
  const { store, maxLength = 32 * mebi, cacheLength = 64 * mebi, workTtlMs = 30 * dayMs } = options;
  const parsed = new LRUCache<string, { version: number; description: VoidDescription; length: number }>({
    maxSize: cacheLength,
    sizeCalculation: ({ length }) => length,
  });

  const load = async (key: string): Promise<LoadedDescription> => {
    const document = await store.get(key);
    if (document === undefined) return {};
    const { version, value } = document;
    const known = parsed.get(key);
    if (known?.version === version) return { description: known.description, version };
    const description = read(value);
    if ("reason" in description) {
      await store.delete(key, { ifVersion: version });
      return { dropped: description.reason };
    }
    parsed.set(key, { version, description, length: value.length });
    return { description, version };
  };
  const text = (description: VoidDescription): string => {
    const value = JSON.stringify({ format, description });
    if (value.length > maxLength) throw tooLarge(value.length, maxLength);
    return value;
  };

  return {
    async save(id: string, description: VoidDescription): Promise<void> {
      await store.put(main(id), text(description));
    },
    load: (id: string) => load(main(id)),
    /** Removes the description and any unfinished work. */
    async remove(id: string): Promise<void> {
      await store.delete(main(id));
      await store.delete(work(id));
    },
    /** Keeps work in progress for the next run, for a while. */
    async saveWork(id: string, description: VoidDescription): Promise<void> {
      await store.put(work(id), text(description), { ttlMs: workTtlMs });
    },
    loadWork: (id: string) => load(work(id)),
    async removeWork(id: string): Promise<void> {
      await store.delete(work(id));
    },
  };
}

function tooLarge(length: number, maxLength: number): FedwayError {
  const message = `The description has ${length} characters; ${maxLength} can be stored.`;
  return new FedwayError("REQUEST_TOO_LARGE", message, { next: "Describe the endpoint with a smaller budget." });
}

function read(value: string): VoidDescription | { readonly reason: string } {
  let document: unknown;
  try {
    document = JSON.parse(value);
  } catch {
    return { reason: "it is not JSON" };
  }
  if (typeof document !== "object" || document === null || !("format" in document) || !("description" in document)) {
    return { reason: "it is no stored description" };
  }
  if (document.format !== format) return { reason: "it has a format of another version" };
  return checkDescription(document.description);
}
