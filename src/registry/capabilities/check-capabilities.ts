import { checkList, checkObject, either, flag, instant, limited, optional, quantity } from "../void/check-values.ts";
import { type Capabilities, probedConstructs } from "./capabilities.ts";

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
export function checkCapabilities(value: unknown): Capabilities | { readonly reason: string } {
  return isCapabilities(value) ? value : { reason: capabilities(value) ?? "" };
}
