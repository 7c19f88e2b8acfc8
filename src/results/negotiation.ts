import { LRUCache } from "lru-cache";
import { type ResultFormat, resultFormats } from "./formats.ts";
import type { AnswerKind } from "./model.ts";
import { sizedByKey } from "../cache-size.ts";

/** Formats that a client accepts. */
export interface FormatParameters {
  /** Accept header (RFC 9110, section 12.5.1). */
  readonly accept?: string | undefined;
  /** Short name or media type from a request parameter; wins over `accept`. */
  readonly format?: string | undefined;
}

type FormatName = ResultFormat["name"];

/** Longer headers and longer lists are cut: what stands behind has no say. */
const maxAcceptLength = 4096;
const maxRanges = 64;

/** Media types that engines and clients use for a format beside its own. */
const aliases: Readonly<Record<AnswerKind, ReadonlyMap<string, FormatName>>> = {
  bindings: new Map([
    ["application/json", "json"],
    ["application/x-sparqlstar-results+json", "json"],
    ["text/json", "json"],
    ["application/xml", "xml"],
    ["text/xml", "xml"],
    ["text/tsv", "tsv"],
    ["application/csv", "csv"],
  ]),
  boolean: new Map([
    ["application/json", "json"],
    ["text/json", "json"],
    ["application/xml", "xml"],
    ["text/xml", "xml"],
  ]),
  quads: new Map([
    ["application/turtle", "turtle"],
    ["application/x-turtle", "turtle"],
    ["text/n3", "turtle"],
    ["text/rdf+n3", "turtle"],
    ["text/plain", "ntriples"],
    ["application/json", "jsonld"],
    ["application/x-json+ld", "jsonld"],
    ["application/xml", "rdfxml"],
    ["text/xml", "rdfxml"],
  ]),
};

/** Short names of the `format` parameter beside those of the formats, as SPARQLWrapper, Virtuoso and Jena send them. */
const shortNames: ReadonlyMap<string, FormatName> = new Map([
  ["ttl", "turtle"],
  ["nt", "ntriples"],
  ["n-triples", "ntriples"],
  ["json-ld", "jsonld"],
  ["n-quads", "nquads"],
  ["nq", "nquads"],
  ["rdf", "rdfxml"],
  ["rdf+xml", "rdfxml"],
  ["rdf/xml", "rdfxml"],
  ["srj", "json"],
  ["srx", "xml"],
  ["sparql", "xml"],
]);

/**
 * How willingly Fedway reads a format that it did not ask for first; CSV comes last because it loses terms. Formats that
 * are not here are not asked for: N3, TriG and N-Quads hold a graph as Turtle and N-Triples do.
 */
const readingWeights: Readonly<Partial<Record<FormatName, number>>> = {
  json: 0.9,
  xml: 0.8,
  tsv: 0.4,
  csv: 0.2,
  ntriples: 0.9,
  rdfxml: 0.8,
  turtle: 0.4,
  jsonld: 0.2,
};

const answerKinds = ["bindings", "boolean", "quads"] as const;
const weightOf = ({ name }: ResultFormat): number => readingWeights[name] ?? 0;
const readableFormats = resultFormats.filter((format) => weightOf(format) > 0);
const byName = new Map(resultFormats.map((format) => [format.name, format]));

function formatsByMediaType(kind: AnswerKind): ReadonlyMap<string, ResultFormat> {
  const formats = readableFormats.filter(({ kinds }) => kinds.includes(kind));
  const named = (name: FormatName): readonly ResultFormat[] => formats.filter((format) => format.name === name);
  return new Map([
    ...[...aliases[kind]].flatMap(([type, name]) => named(name).map((format) => [type, format] as const)),
    ...formats.map((format) => [format.mediaType, format] as const),
  ]);
}

/** RDF4J's answer to ASK, a bare word; only read. */
const bareBoolean: ResultFormat = {
  name: "boolean",
  mediaType: "text/boolean",
  contentType: "text/boolean",
  kinds: ["boolean"],
};

const byMediaType: Readonly<Record<AnswerKind, ReadonlyMap<string, ResultFormat>>> = {
  bindings: formatsByMediaType("bindings"),
  boolean: new Map([...formatsByMediaType("boolean"), [bareBoolean.mediaType, bareBoolean]]),
  quads: new Map([
    ...formatsByMediaType("quads"),
    // Not asked for: read where a server has nothing else, such as a file.
    ...resultFormats.flatMap((format) => (format.name === "trig" ? [[format.mediaType, format] as const] : [])),
  ]),
};

/** Media type of a Content-Type value: lower case, without parameters; empty when there is none. */
export const bareMediaType = (contentType = ""): string => (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();

/** Result format of a media type, for this kind of answer; parameters and case are ignored. */
export const formatOf = (contentType: string | undefined, kind: AnswerKind): ResultFormat | undefined =>
  byMediaType[kind].get(bareMediaType(contentType));

/**
 * The format to answer with; undefined when nothing that Fedway can write is wanted. When nothing is asked for: JSON for tuples,
 * Turtle for graphs. Among equally wanted formats those named outright win over those under a wildcard, then the
 * order of `resultFormats` decides. A `format` that is unknown, or cannot hold the answer, does not count.
 */
export function negotiateFormat(
  kind: AnswerKind,
  { accept = "", format = "" }: FormatParameters,
): ResultFormat | undefined {
  const key = `${kind} ${format}\n${accept}`;
  const known = negotiated.get(key);
  if (known !== undefined) return known;
  const found = formatNamed(format, kind) ?? mostWanted(kind, accept);
  if (found !== undefined && key.length < longestKept) negotiated.set(key, found);
  return found;
}

// Clients send few different headers, and reading one takes 5 to 10 microseconds.
const negotiated = new LRUCache<string, ResultFormat>(sizedByKey(1));
const longestKept = 1_000;

function mostWanted(kind: AnswerKind, accept: string): ResultFormat | undefined {
  const formats = resultFormats.filter(({ kinds }) => kinds.includes(kind));
  const ranges = parseAccept(accept);
  if (ranges.size === 0) return formats[0];
  const [best] = formats
    .map((format) => ({ format, wanted: wantedness(format, kind, ranges) }))
    .filter(({ wanted }) => wanted.quality > 0)
    .toSorted((a, b) => b.wanted.quality - a.wanted.quality || b.wanted.precision - a.wanted.precision);
  return best?.format;
}

/**
 * The format with this short name or media type; undefined where none is that can hold the answer. `json` and `xml` mean
 * JSON-LD and RDF/XML for a graph; a plus sign that form decoding turned into a space is put back.
 */
export function formatNamed(text: string, kind: AnswerKind): ResultFormat | undefined {
  const name = bareMediaType(text.trim().replaceAll(" ", "+"));
  if (kind === "quads" && (name === "json" || name === "xml")) return byName.get(name === "json" ? "jsonld" : "rdfxml");
  const short = shortNames.get(name) ?? name;
  const known = resultFormats.find((format) => format.name === short || format.mediaType === name);
  const found = known ?? formatOf(name, kind);
  return found?.kinds.includes(kind) === true ? found : undefined;
}

/** True for a short name or a media type of a result format, of any kind of answer. */
export const isFormatName = (text: string): boolean =>
  answerKinds.some((kind) => formatNamed(text, kind) !== undefined);

/** How precisely a range of Accept names a format. */
const precisions = { own: 3, alias: 2, family: 1, anything: 0 } as const;

/** The most precise range decides (RFC 9110, section 12.5.1). */
function wantedness(format: ResultFormat, kind: AnswerKind, ranges: ReadonlyMap<string, number>) {
  const own = ranges.get(format.mediaType);
  if (own !== undefined) return { quality: own, precision: precisions.own };
  const named = [...aliases[kind]].filter(([, name]) => name === format.name).map(([type]) => ranges.get(type));
  const qualities = named.filter((quality) => quality !== undefined);
  if (qualities.length > 0) return { quality: Math.max(...qualities), precision: precisions.alias };
  const family = ranges.get(`${format.mediaType.slice(0, format.mediaType.indexOf("/"))}/*`);
  if (family !== undefined) return { quality: family, precision: precisions.family };
  return { quality: ranges.get("*/*") ?? 0, precision: precisions.anything };
}

/** Media range to quality; of a repeated one the best counts. */
function parseAccept(header: string): ReadonlyMap<string, number> {
  const ranges = new Map<string, number>();
  for (const { name, weight } of weightedList(header)) {
    const range = name === "*" ? "*/*" : name;
    if (/^[^\s/]+\/[^\s/]+$/.test(range)) ranges.set(range, Math.max(weight, ranges.get(range) ?? 0));
  }
  return ranges;
}

/**
 * Accepted values of a header field, in lower case, with weights from 0 to 1 (RFC 9110, section 12.4.2). Members whose weight is
 * not well-formed are left out.
 */
export function weightedList(header: string): readonly { readonly name: string; readonly weight: number }[] {
  return header
    .slice(0, maxAcceptLength)
    .split(",", maxRanges)
    .flatMap((part) => {
      const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
      const weight = qualityOf(parameters);
      return name === "" || weight === undefined ? [] : [{ name, weight }];
    });
}

function qualityOf(parameters: readonly string[]): number | undefined {
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (weight === undefined) return 1;
  const text = weight.slice(weight.indexOf("=") + 1).trim();
  return /^(?:0?\.\d{1,6}|0\.?|1(?:\.0{0,6})?)$/.test(text) ? Number(text) : undefined;
}

// One header for each kind and format: a handful.
const acceptHeaders = new Map<string, string>();

/**
 * The Accept header for an endpoint: the preferred format (default: the first of the kind), then everything else
 * Fedway can read, less wanted, so that an endpoint that cannot serve the first still answers.
 */
export function acceptFor(kind: AnswerKind, preferred?: ResultFormat): string {
  const key = `${kind} ${preferred?.name ?? ""}`;
  const header = acceptHeaders.get(key) ?? acceptHeader(kind, preferred);
  acceptHeaders.set(key, header);
  return header;
}

function acceptHeader(kind: AnswerKind, preferred: ResultFormat | undefined): string {
  const readable = readableFormats.filter((format) => format.kinds.includes(kind));
  const first = preferred !== undefined && readable.includes(preferred) ? preferred : readable[0];
  const others = readable
    .filter((format) => format !== first)
    .toSorted((a, b) => weightOf(b) - weightOf(a))
    .map((format) => `${format.mediaType};q=${weightOf(format)}`);
  return [first?.mediaType ?? "*/*", ...others].join(", ");
}
