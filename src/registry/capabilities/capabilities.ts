import { type Static, Type } from "typebox";
import { type Collection, createCollection } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import { exactly, type Frozen, instant, quantity, text } from "../descriptions/void-description.ts";
import { textSearchSchema } from "./text-search.ts";

/** Constructs whose right answer is probed; the names of the probes (registry method, section 7). */
export const probedConstructs = [
  "values",
  "aggregates",
  "aggregateTruth",
  "groupHaving",
  "minus",
  "subquery",
  "optional",
  "valuesUndef",
  "notExists",
  "zeroLengthPath",
  "blankNodes",
  "typedLiterals",
  "oneString",
  "construct",
] as const;

export type ProbedConstruct = (typeof probedConstructs)[number];

const outcomeSchema = exactly({
  /** "right": the known answer came; "wrong": another one; "refused": 4xx; "failed": anything else went wrong. */
  verdict: Type.Enum(["right", "wrong", "refused", "failed"]),
  /** The unexpected answer, or the error's message; one line. */
  detail: Type.Optional(text(1_000)),
  durationMs: quantity,
});

/** Outcome of one probe. */
export type ProbeOutcome = Frozen<Static<typeof outcomeSchema>>;

/** Capabilities as they are stored and served. */
export const capabilitiesSchema = exactly({
  /** URL. */
  endpoint: text(2_048),
  probedAt: instant,
  /** The canary gave its three rows. */
  reachable: Type.Boolean(),
  constructs: exactly(Object.fromEntries(probedConstructs.map((name) => [name, Type.Optional(outcomeSchema)]))),
  /** Request forms that gave the canary's answer, in order of preference. */
  methods: Type.Array(Type.Enum(["post-form", "post-direct", "get"]), { maxItems: 3 }),
  /** Media types that came when asked for, and parsed to the right answer. */
  formats: Type.Array(text(100), { maxItems: 20 }),
  /** Rows after which answers are cut; absent when 20,000 rows arrived whole, or unknown (see `wholeRows`). */
  rowCap: Type.Optional(quantity),
  /** Nothing in an answer cut at `rowCap` says so. */
  rowCapSilent: Type.Optional(Type.Boolean()),
  /** 20,000 rows came whole; absent when there is a cap, or it is not known. */
  wholeRows: Type.Optional(quantity),
  /** Largest number of VALUES rows that worked of 10, 100, 1,000, 10,000. */
  maxValuesRows: Type.Optional(quantity),
  /** Largest URL in bytes that worked by GET of 2 and 8 KiB; longer ones are never sent. */
  maxUrlBytes: Type.Optional(quantity),
  /** The engine's own full-text search, proved by finding a label again that the endpoint has. */
  textSearch: Type.Optional(textSearchSchema),
  /** Prefixes that queries may use without a declaration, with their namespaces. */
  predefinedPrefixes: Type.Optional(Type.Record(Type.String({ pattern: "^[a-z]{1,32}$" }), text(2_048))),
  /** Manner learned from queries since the last probing. */
  learned: Type.Optional(
    exactly({
      method: Type.Optional(Type.Enum(["post-form", "post-direct", "get"])),
      /** The Accept header that works, by the kind of the answer. */
      accept: Type.Optional(
        exactly({
          bindings: Type.Optional(text(300)),
          boolean: Type.Optional(text(300)),
          quads: Type.Optional(text(300)),
        }),
      ),
      /** VALUES was refused where the same keys were taken as a FILTER. */
      lacksValues: Type.Optional(Type.Boolean()),
      at: instant,
    }),
  ),
  /** SERVICE to itself worked; kept of earlier probes, not probed any more. */
  service: Type.Optional(Type.Boolean()),
  /** The probing ended early, because the endpoint stopped answering or the budget was spent. */
  unfinished: Type.Optional(Type.Boolean()),
});

/** Abilities of an endpoint, found by probes that touch no data. JSON-serialisable; capabilities not probed are absent. */
export type Capabilities = Omit<Frozen<Static<typeof capabilitiesSchema>>, "constructs"> & {
  readonly constructs: Readonly<Partial<Record<ProbedConstruct, ProbeOutcome>>>;
};

/** Facts about an endpoint for planning and sending. Absent means unknown, and forbids nothing. */
export interface EndpointView
  extends Pick<
    Capabilities,
    "formats" | "maxUrlBytes" | "maxValuesRows" | "rowCap" | "wholeRows" | "textSearch" | "predefinedPrefixes"
  > {
  /** The request form that worked last, and the Accept header by the kind of the answer. */
  readonly method?: Capabilities["methods"][number] | undefined;
  readonly accept?: NonNullable<Capabilities["learned"]>["accept"] | undefined;
  /** How a string with and without its datatype is held: as one term, or apart as two. */
  readonly strings?: "one" | "apart" | undefined;
  /** The row cap, when a cut answer looks like a whole one. */
  readonly silentRowCap?: number | undefined;
  /** Constructs that the endpoint refuses or answers wrongly; a probe that merely failed forbids nothing. */
  readonly lacks: ReadonlySet<ProbedConstruct>;
}

const heldStrings = { right: "one", wrong: "apart", refused: undefined, failed: undefined } as const;

/** Everything that can be relied on; undefined when the endpoint did not answer at all. */
export function endpointView(capabilities: Capabilities): EndpointView | undefined {
  if (!capabilities.reachable) return undefined;
  const { constructs, methods, formats, maxUrlBytes, maxValuesRows, rowCap, rowCapSilent, wholeRows } = capabilities;
  const { textSearch, predefinedPrefixes } = capabilities;
  const { method = methods[0], accept, lacksValues } = capabilities.learned ?? {};
  const isLacking = (name: ProbedConstruct): boolean =>
    name === "values" && lacksValues !== undefined
      ? lacksValues
      : constructs[name]?.verdict === "wrong" || constructs[name]?.verdict === "refused";
  return {
    method,
    accept,
    maxUrlBytes,
    maxValuesRows,
    rowCap,
    wholeRows,
    textSearch,
    predefinedPrefixes,
    silentRowCap: rowCapSilent === true ? rowCap : undefined,
    formats,
    strings: heldStrings[constructs.oneString?.verdict ?? "failed"],
    lacks: new Set(probedConstructs.filter(isLacking)),
  };
}

/** Capabilities by catalogue id; checked on the way out, so that a damaged document is dropped and never used. */
export function createCapabilityStore(store: Store): Collection<Capabilities> {
  const schema = Type.Object({ format: Type.Literal(1), capabilities: capabilitiesSchema });
  const place = { store, prefix: "capabilities/", schema, removesInvalid: true, lost: "The endpoint is probed again." };
  return createCollection(place, {
    decode: (stored): Capabilities => stored.capabilities,
    encode: (found) => JSON.stringify({ format: 1, capabilities: found }),
  });
}
