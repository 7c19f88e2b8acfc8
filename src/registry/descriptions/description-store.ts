import { setImmediate as nextTurn } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { LRUCache } from "lru-cache";
import { Type } from "typebox";
import { FedwayError } from "../../errors/fedway-error.ts";
import { createCollection, InvalidDocument, type Versioned } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import { checkDescription, type VoidDescription } from "./void-description.ts";

interface DescriptionStoreOptions {
  readonly store: Store;
  /** Characters of one description before it is compressed; default 64 Mi. */
  readonly maxLength?: number;
  /** Characters of parsed descriptions that are kept in memory; default 64 Mi. */
  readonly cacheLength?: number;
}

const mebi = 1024 * 1024;
/** Work in progress is forgotten after 30 days. */
const workTtlMs = 30 * 24 * 60 * 60 * 1000;
/** Texts above this number of characters are compressed. */
const longText = 4 * mebi;
/** The description or, where that is long, its JSON compressed (gzip) as base64. */
const schema = Type.Object({ format: Type.Literal(1), description: Type.Unknown() });

/** Descriptions by catalogue id; checked on the way out, so that a damaged one is dropped and never used. */
export type DescriptionStore = ReturnType<typeof createDescriptionStore>;

/**
 * A store of descriptions under `description/` and `description-work/`; its methods throw FedwayError `STORE_FAILED`,
 * and `REQUEST_TOO_LARGE` where something is saved.
 */
export function createDescriptionStore(options: DescriptionStoreOptions) {
  const { store, maxLength = 64 * mebi, cacheLength = 64 * mebi } = options;
  const parsed = new LRUCache<string, Versioned<VoidDescription>>({
    maxSize: cacheLength,
    sizeCalculation: ({ document }) => JSON.stringify(document).length,
  });
  const collection = (prefix: string) =>
    createCollection(
      { store, prefix, schema, removesInvalid: true, lost: "The endpoint is described again." },
      {
        decode({ description }) {
          const checked = checkDescription(
            typeof description === "string" ? expanded(description, maxLength) : description,
          );
          return "reason" in checked ? new InvalidDocument(checked.reason) : checked;
        },
        encode(description: VoidDescription) {
          const text = JSON.stringify(description);
          if (text.length > maxLength) throw tooLarge(text.length, maxLength);
          const kept = text.length > longText ? `"${gzipSync(text, { level: 1 }).toString("base64")}"` : text;
          return `{"format":1,"description":${kept}}`;
        },
      },
    );
  const [finished, work] = [collection("description/"), collection("description-work/")];
  return {
    async save(id: string, description: VoidDescription): Promise<void> {
      await finished.put(id, description);
    },
    /** One that has not changed is not parsed again; with `once` it is not kept in memory for that. */
    async load(id: string, { once = false }: { readonly once?: boolean } = {}): Promise<VoidDescription | undefined> {
      const known = parsed.get(id);
      const found = await finished.getVersioned(id, known);
      if (!once && found?.document !== undefined && found !== known) parsed.set(id, found);
      // The text of a large one takes tens of milliseconds to be read.
      await nextTurn();
      return found?.document;
    },
    /** Removes the description and any unfinished work. */
    async remove(id: string): Promise<void> {
      await finished.delete(id);
      await work.delete(id);
    },
    /** Keeps work in progress for the next run, for a while. */
    async saveWork(id: string, description: VoidDescription): Promise<void> {
      await work.put(id, description, { ttlMs: workTtlMs });
    },
    loadWork: (id: string) => work.get(id),
    async removeWork(id: string): Promise<void> {
      await work.delete(id);
    },
  };
}

/** Undefined for what was not compressed here. */
function expanded(gzip: string, maxLength: number): unknown {
  try {
    // A character takes three bytes at most.
    return JSON.parse(gunzipSync(Buffer.from(gzip, "base64"), { maxOutputLength: 3 * maxLength }).toString());
  } catch {
    return undefined;
  }
}

function tooLarge(length: number, maxLength: number): FedwayError {
  const message = `The description has ${length} characters; ${maxLength} can be stored.`;
  return new FedwayError("REQUEST_TOO_LARGE", message, { next: "Describe the endpoint with a smaller budget." });
}
