import type { Store } from "../../store/store.ts";
import { type Capabilities, probedConstructs } from "./capabilities.ts";
import { checkList, checkObject, either, flag, instant, limited, optional, quantity } from "../void/check-values.ts";

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
interface CapabilityStoreOptions {
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

const outcome = checkObject({
  verdict: either("right", "wrong", "refused", "failed"),
  detail: optional(limited(1_000)),
  durationMs: quantity,
});

const capabilities = checkObject({
  endpoint: limited(2_048),
  probedAt: instant,
  reachable: flag,
  constructs: checkObject(Object.fromEntries(probedConstructs.map((name) => [name, optional(outcome)]))),
  methods: checkList(either("post-form", "post-direct", "get"), 3),
  formats: checkList(limited(100), 20),
  rowCap: optional(quantity),
  rowCapSilent: optional(flag),
  wholeRows: optional(quantity),
  maxValuesRows: optional(quantity),
  maxUrlBytes: optional(quantity),
  service: optional(flag),
  unfinished: optional(flag),
});

const isCapabilities = (value: unknown): value is Capabilities => capabilities(value) === undefined;

/** A stored value as capabilities; else why it is none. */
function checkCapabilities(value: unknown): Capabilities | { readonly reason: string } {
  return isCapabilities(value) ? value : { reason: capabilities(value) ?? "" };
}
