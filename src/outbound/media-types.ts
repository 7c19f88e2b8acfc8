import type { AnswerKind } from "../results/model.ts";
import { bareMediaType, formatOf } from "../results/negotiation.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { SparqlRequest } from "./sparql-client.ts";

const lone: Readonly<Record<AnswerKind, readonly string[]>> = {
  bindings: ["application/sparql-results+json", "application/sparql-results+xml", "*/*"],
  boolean: ["application/sparql-results+json", "application/sparql-results+xml", "*/*"],
  quads: ["text/turtle", "application/rdf+xml", "*/*"],
};

/** The Accept headers to try in turn after a 406: one type alone, as old servers know neither lists nor weights. */
export const loneAccepts = (kind: AnswerKind): readonly string[] => lone[kind];

/**
 * The precise type of an answer of this kind; engines also label results `application/json`, `text/xml`, `text/plain`.
 * Undefined when the answer cannot be one of this kind.
 */
export const answerMediaType = (contentType: string | undefined, kind: AnswerKind): string | undefined =>
  formatOf(contentType, kind)?.mediaType;

/** The type is one of another kind of answer: the endpoint speaks SPARQL but answered something else. */
export const isOtherKind = (contentType: string | undefined, kind: AnswerKind): boolean =>
  answerMediaType(contentType, kind) === undefined &&
  bareMediaType(contentType) !== "text/plain" &&
  (answerMediaType(contentType, "bindings") !== undefined || answerMediaType(contentType, "quads") !== undefined);

/** The Accept header of a document request. */
export const rdfAccept =
  "text/turtle, application/n-triples;q=0.9, application/ld+json;q=0.8, application/rdf+xml;q=0.8, */*;q=0.1";

const byExtension: Readonly<Record<string, string>> = {
  ttl: "text/turtle",
  n3: "text/turtle",
  nt: "application/n-triples",
  rdf: "application/rdf+xml",
  owl: "application/rdf+xml",
  jsonld: "application/ld+json",
};

/** Types that servers give to files they do not know. */
const untold = new Set(["", "application/octet-stream", "text/plain", "binary/octet-stream"]);

const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^\{(?=[^]*"(?:head|results|boolean)"\s*:)/, "application/sparql-results+json"],
  [/^<(?:\?xml|(?:\w+:)?sparql\b)/, "application/sparql-results+xml"],
  [/^(?:true|false)\s*$/i, "text/boolean"],
];

/** True if the type does not say which tuple format the body has. */
export const isUntold = (contentType: string | undefined, kind: AnswerKind): boolean =>
  kind !== "quads" && untold.has(bareMediaType(contentType));

/** The media type of an answer by its first bytes; undefined for anything else, such as an error message. */
export function shownMediaType(first: Buffer, kind: AnswerKind): string | undefined {
  const text = first
    .subarray(0, 1_024)
    .toString("latin1")
    .replace(/^\u00EF\u00BB\u00BF/, "")
    .trimStart();
  const shown = beginnings.find(([pattern]) => pattern.test(text))?.[1];
  return answerMediaType(shown, kind);
}

/**
 * The RDF format of a document by its Content-Type, else by the extension of its URL; undefined when it is no RDF.
 * Plain text is read as Turtle, which N-Triples is a part of.
 * @param namedGraphs it may be TriG
 */
export function documentMediaType(contentType: string | undefined, url: URL, namedGraphs = false): string | undefined {
  const bare = bareMediaType(contentType);
  if (namedGraphs && bare === "application/trig") return bare;
  if (!untold.has(bare)) return answerMediaType(contentType, "quads");
  const extension = /\.([a-z0-9]{1,8})$/iu.exec(url.pathname)?.[1]?.toLowerCase() ?? "";
  if (Object.hasOwn(byExtension, extension)) return byExtension[extension];
  return bare === "text/plain" ? "text/turtle" : undefined;
}

/** An engine that changes or loses terms in some of the formats that it writes. */
export interface EngineQuirks {
  readonly engine: string;
  /** The formats that keep every term, the most wanted first. */
  readonly sound: Readonly<Record<AnswerKind, readonly string[]>>;
  /** Those of them that keep the names of columns beyond ASCII too; absent when all do. */
  readonly soundNames?: readonly string[];
  /** The response head is this engine's. */
  recognises(headers: ResponseHeaders): boolean;
}

const tuples = ["application/sparql-results+json", "application/sparql-results+xml"];

/**
 * Virtuoso 7. Its TSV has no `?` before variables, quotes IRIs, drops datatypes and language tags and breaks lines
 * within a cell; its CSV makes blank nodes IRIs (`nodeID://`); its Turtle turns `1.5E3` (a double) into `1500.0` (a
 * decimal); its JSON-LD drops language tags and datatypes. Its JSON encodes the names of columns twice.
 */
const virtuoso: EngineQuirks = {
  engine: "Virtuoso",
  sound: { bindings: tuples, boolean: tuples, quads: ["application/n-triples", "application/rdf+xml"] },
  soundNames: ["application/sparql-results+xml"],
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

type Expected = Pick<SparqlRequest, "kind" | "columns">;

function soundFormats({ sound, soundNames }: EngineQuirks, { kind, columns }: Expected): readonly string[] {
  const isPlain = columns === undefined || columns.asked.every((name) => /^\p{ASCII}*$/u.test(name));
  return isPlain || soundNames === undefined ? sound[kind] : soundNames;
}

/** An answer of this media type keeps every term and the names of its columns. */
export const isSound = (quirks: EngineQuirks, mediaType: string, expected: Expected): boolean =>
  soundFormats(quirks, expected).includes(mediaType);

/** An Accept header without the formats that the engine gets wrong; all sound ones when none is left. */
export function soundAccept(accept: string, quirks: EngineQuirks, expected: Expected): string {
  const sound = soundFormats(quirks, expected);
  const ranges = accept.split(",").map((range) => range.trim());
  const kept = ranges.filter((range) => sound.includes(bareMediaType(range)));
  return (kept.length > 0 ? kept : sound).join(", ");
}

/** An Accept header without the formats that an endpoint is known not to answer in; the same when none would be left. */
export function spokenAccept(accept: string, formats: readonly string[]): string {
  const ranges = accept.split(",").map((range) => range.trim());
  const kept = ranges.filter((range) => formats.includes(bareMediaType(range)));
  return kept.length > 0 ? kept.join(", ") : accept;
}

/** The error of an engine that answers in a format that it gets wrong although it was not asked for it. */
export function unsoundAnswer({ engine }: EngineQuirks, mediaType: string): FedwayError {
  const message = `The endpoint insists on answering in ${mediaType}, in which ${engine} changes or loses terms or names.`;
  return new FedwayError("ENDPOINT_NOT_SPARQL", message, {
    fault: "wrong-media-type",
    next: "Use the endpoint's URL without a parameter that fixes the format.",
  });
}

/** Response headers as the HTTP client parses them: lower-case names, repeated fields as arrays. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** One header as text; repeated fields are joined as RFC 9110 (section 5.2) does. */
export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Content-Length as a number; undefined when absent or not one plain number. */
export function contentLength(headers: ResponseHeaders): number | undefined {
  const value = headers["content-length"];
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

/**
 * How long an answer may be kept (RFC 9111, section 5.2.2), in milliseconds; 0 when that is forbidden, or would need to be
 * asked about each time; undefined when nothing is said.
 */
export function freshMsOf(headers: ResponseHeaders): number | undefined {
  const control = headerOf(headers, "cache-control")?.toLowerCase();
  if (control === undefined) return undefined;
  if (/\b(?:no-store|no-cache|private)\b/.test(control)) return 0;
  const [, seconds] =
    /\bs-maxage\s*=\s*"?(\d{1,9})\b/.exec(control) ?? /\bmax-age\s*=\s*"?(\d{1,9})\b/.exec(control) ?? [];
  if (seconds === undefined) return undefined;
  const age = /^\d{1,9}$/.exec(headerOf(headers, "age")?.trim() ?? "")?.[0] ?? "0";
  return Math.max(0, Number(seconds) - Number(age)) * 1_000;
}
