import type { Store } from "../../store/store.ts";
import type { Capabilities } from "./capabilities.ts";
import { checkCapabilities } from "./check-capabilities.ts";

/** Capabilities by catalogue id; checked on the way out, so that a damaged document is dropped and never used. */
export interface CapabilityStore {
  /** @throws FedwayError `STORE_FAILED` */
  save(id: string, capabilities: Capabilities): Promise<void>;
  /** @throws FedwayError `STORE_FAILED` */
  load(id: string): Promise<Capabilities | undefined>;
  /** All of them, by id. @throws FedwayError `STORE_FAILED` */
  loadAll(): Promise<ReadonlyMap<string, Capabilities>>;
  /** @throws FedwayError `STORE_FAILED` */
  remove(id: string): Promise<void>;
}

/** What a capability store is built from. */
export interface CapabilityStoreOptions {
  readonly store: Store;
  /** Hears of stored documents that could not be read any more and were dropped. */
  readonly onDropped?: (id: string, reason: string) => void;
}

const prefix = "capabilities/";
const format = 1;
const pageSize = 500;

/** A store of capabilities under `capabilities/`. */
export function createCapabilityStore({ store, onDropped }: CapabilityStoreOptions): CapabilityStore {
  const readOrDrop = async (key: string, value: string, version: number): Promise<Capabilities | undefined> => {
    const read = parse(value);
    if (!("reason" in read)) return read;
    await store.delete(key, { ifVersion: version });
    onDropped?.(key.slice(prefix.length), read.reason);
    return undefined;
  };
  return {
    async save(id, capabilities) {
      await store.put(prefix + id, JSON.stringify({ format, capabilities }));
    },
    async load(id) {
      const document = await store.get(prefix + id);
      return document && readOrDrop(document.key, document.value, document.version);
    },
    async loadAll() {
      const all = new Map<string, Capabilities>();
      let after: string | undefined = prefix;
      while (after !== undefined) {
        const page = await store.list(prefix, { limit: pageSize, after });
        for (const { key, value, version } of page) {
          const capabilities = await readOrDrop(key, value, version);
          if (capabilities) all.set(key.slice(prefix.length), capabilities);
        }
        after = page.length < pageSize ? undefined : page.at(-1)?.key;
      }
      return all;
    },
    async remove(id) {
      await store.delete(prefix + id);
    },
  };
}

function parse(value: string): Capabilities | { readonly reason: string } {
  let document: unknown;
  try {
    document = JSON.parse(value);
  } catch {
    return { reason: "it is not JSON" };
  }
  if (typeof document !== "object" || document === null || !("format" in document) || !("capabilities" in document)) {
    return { reason: "it holds no capabilities" };
  }
  if (document.format !== format) return { reason: "it has a format of another version" };
  return checkCapabilities(document.capabilities);
}
