import { Type } from "typebox";
import { type Collection, createCollection } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import { exactly, instant, quantity, text } from "../void/check-description.ts";
import { type Capabilities, probedConstructs } from "./capabilities.ts";

const outcome = exactly({
  verdict: Type.Enum(["right", "wrong", "refused", "failed"]),
  detail: Type.Optional(text(1_000)),
  durationMs: quantity,
});

const constructs = exactly(Object.fromEntries(probedConstructs.map((name) => [name, Type.Optional(outcome)])));

const capabilities = exactly({
  endpoint: text(2_048),
  probedAt: instant,
  reachable: Type.Boolean(),
  constructs,
  methods: Type.Array(Type.Enum(["post-form", "post-direct", "get"]), { maxItems: 3 }),
  formats: Type.Array(text(100), { maxItems: 20 }),
  rowCap: Type.Optional(quantity),
  rowCapSilent: Type.Optional(Type.Boolean()),
  wholeRows: Type.Optional(quantity),
  maxValuesRows: Type.Optional(quantity),
  maxUrlBytes: Type.Optional(quantity),
  service: Type.Optional(Type.Boolean()),
  unfinished: Type.Optional(Type.Boolean()),
});

/** Capabilities by catalogue id; checked on the way out, so that a damaged document is dropped and never used. */
export function createCapabilityStore(options: {
  readonly store: Store;
  /** Hears of stored documents that could not be read any more and were dropped. */
  readonly onDropped?: (id: string, reason: string) => void;
}): Collection<Capabilities> {
  const { store, onDropped } = options;
  const schema = Type.Object({ format: Type.Literal(1), capabilities });
  const place = { store, prefix: "capabilities/", schema, removesInvalid: true };
  return createCollection(onDropped ? { ...place, onInvalid: onDropped } : place, {
    decode: (stored): Capabilities => stored.capabilities,
    encode: (found) => JSON.stringify({ format: 1, capabilities: found }),
  });
}
