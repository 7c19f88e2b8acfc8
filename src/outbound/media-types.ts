import type { AnswerKind } from "../results/model.ts";
import { bareMediaType, formatOf } from "../results/negotiation.ts";

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
  trig: "application/trig",
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
 */
export function documentMediaType(contentType: string | undefined, url: URL): string | undefined {
  const bare = bareMediaType(contentType);
  if (!untold.has(bare)) return answerMediaType(contentType, "quads");
  const extension = /\.([a-z0-9]{1,8})$/iu.exec(url.pathname)?.[1]?.toLowerCase() ?? "";
  if (Object.hasOwn(byExtension, extension)) return byExtension[extension];
  return bare === "text/plain" ? "text/turtle" : undefined;
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
