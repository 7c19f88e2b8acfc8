import { FedwayError } from "../errors/fedway-error.ts";
import type { AnswerKind } from "../results/model.ts";
import { headerOf, type ResponseHeaders } from "./headers.ts";
import { bareMediaType } from "./media-types.ts";

/** An engine that changes or loses terms in some of the formats that it writes. */
export interface EngineQuirks {
  readonly engine: string;
  /** The formats that keep every term, the most wanted first. */
  readonly sound: Readonly<Record<AnswerKind, readonly string[]>>;
  /** The response head is this engine's. */
  recognises(headers: ResponseHeaders): boolean;
}

const tuples = ["application/sparql-results+json", "application/sparql-results+xml"];

/**
 * Virtuoso 7. Its TSV has no `?` before variables, quotes IRIs, drops datatypes and language tags and breaks lines
 * within a cell; its CSV makes blank nodes IRIs (`nodeID://`); its Turtle turns `1.5E3` (a double) into `1500.0` (a
 * decimal); its JSON-LD drops language tags and datatypes.
 */
const virtuoso: EngineQuirks = {
  engine: "Virtuoso",
  sound: { bindings: tuples, boolean: tuples, quads: ["application/n-triples", "application/rdf+xml"] },
  recognises: (headers) =>
    /^\s*Virtuoso\b/iu.test(headerOf(headers, "server") ?? "") ||
    headers["x-sparql-default-graph"] !== undefined ||
    headers["x-sparql-maxrows"] !== undefined,
};

/** Fuseki 5 writes blank nodes as `b0` into CSV, which is the string "b0" (SPARQL 1.1 CSV and TSV, section 3: `_:b0`). */
const fuseki: EngineQuirks = {
  engine: "Fuseki",
  sound: {
    bindings: [...tuples, "text/tab-separated-values"],
    boolean: tuples,
    quads: ["application/n-triples", "text/turtle", "application/rdf+xml", "application/ld+json"],
  },
  recognises: (headers) =>
    headers["fuseki-request-id"] !== undefined || /\bFuseki\b/iu.test(headerOf(headers, "server") ?? ""),
};

const quirkyEngines: readonly EngineQuirks[] = [virtuoso, fuseki];

/** The quirks of the engine that a response head gives away; undefined when it names none that is known for any. */
export const quirksOf = (headers: ResponseHeaders): EngineQuirks | undefined =>
  quirkyEngines.find((quirks) => quirks.recognises(headers));

/** An answer of this media type keeps every term. */
export const isSound = ({ sound }: EngineQuirks, mediaType: string, kind: AnswerKind): boolean =>
  sound[kind].includes(mediaType);

/** An Accept header without the formats that the engine gets wrong; all sound ones when none is left. */
export function soundAccept(accept: string, quirks: EngineQuirks, kind: AnswerKind): string {
  const ranges = accept.split(",").map((range) => range.trim());
  const kept = ranges.filter((range) => isSound(quirks, bareMediaType(range), kind));
  return (kept.length > 0 ? kept : quirks.sound[kind]).join(", ");
}

/** An Accept header without the formats that an endpoint is known not to answer in; the same when none would be left. */
export function spokenAccept(accept: string, formats: readonly string[]): string {
  const ranges = accept.split(",").map((range) => range.trim());
  const kept = ranges.filter((range) => formats.includes(bareMediaType(range)));
  return kept.length > 0 ? kept.join(", ") : accept;
}

/** The error of an engine that answers in a format that it gets wrong although it was not asked for it. */
export function unsoundAnswer({ engine }: EngineQuirks, mediaType: string): FedwayError {
  const message = `The endpoint insists on answering in ${mediaType}, in which ${engine} changes or loses terms.`;
  return new FedwayError("ENDPOINT_NOT_SPARQL", message, {
    fault: "wrong-media-type",
    next: "Use the endpoint's URL without a parameter that fixes the format.",
  });
}
