import { FedwayError } from "../errors/fedway-error.ts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isUtf8 } from "node:buffer";
import { isFormatName } from "../results/negotiation.ts";

/** A request body as the content type parsers hand it on. */
export interface ProtocolBody {
  readonly form: "urlencoded" | "direct";
  readonly bytes: Buffer;
}

/** A message to a SPARQL route (SPARQL 1.1 Protocol, section 2.1). */
export interface ProtocolMessage {
  readonly method: string;
  /** Query part of the request target, without `?`, as Node delivers it. */
  readonly search: string;
  readonly body: ProtocolBody | undefined;
  readonly maxQueryBytes: number;
}

/** Parameters of a query, beside its text. */
interface QueryOptions {
  readonly defaultGraphs: readonly string[];
  readonly namedGraphs: readonly string[];
  /** The first of `format`, `output` and `results` that names a format. */
  readonly format: string | undefined;
  /** From `timeout`, in milliseconds. */
  readonly timeoutMs: number | undefined;
  readonly strict: boolean;
  readonly partial: boolean | "subset";
  readonly prune: boolean | "trust";
  readonly provenance: boolean;
  readonly spreadsheet: boolean;
}

/** A query operation. */
export interface QueryOperation extends QueryOptions {
  readonly kind: "query";
  readonly text: string;
}

/** A GET without a query: the service description is wanted. */
export interface DescriptionOperation {
  readonly kind: "description";
  readonly format: string | undefined;
}

/** Operation of a message. */
type Operation = QueryOperation | DescriptionOperation;

const parameterNames = new Set([
  "query",
  "update",
  "default-graph-uri",
  "named-graph-uri",
  "format",
  "output",
  "results",
  "timeout",
  "strict",
  "partial",
  "prune",
  "provenance",
  "spreadsheet",
]);

const none: readonly string[] = [];

/** The last of several values counts; the others have to be valid too. */
function flag(values: readonly string[] = none, name: string): boolean {
  if (!values.every((value) => /^(?:true|1|false|0)?$/.test(value))) {
    const third = thirdValues[name];
    const others = third === undefined ? "" : `, and not ${third}`;
    throw new FedwayError("REQUEST_INVALID", `The parameter "${name}" is neither true nor false${others}.`, {
      next: `Send ${name}=true${third === undefined ? "" : `, ${name}=${third}`} or ${name}=false, or leave it out.`,
    });
  }
  const value = values.at(-1);
  return value === "true" || value === "1" || value === "";
}

const thirdValues: Readonly<Record<string, string>> = { partial: "subset", prune: "trust" };

/** A flag that has a third value. */
function flagOr<Third extends string>(
  values: readonly string[] = none,
  [name, third]: readonly [name: string, third: Third],
): boolean | Third {
  const isSet = flag(
    values.filter((value) => value !== third),
    name,
  );
  return values.at(-1) === third ? third : isSet;
}

function milliseconds(values: readonly string[] = none): number | undefined {
  if (!values.every((value) => /^\d{0,9}$/.test(value))) {
    throw new FedwayError("REQUEST_INVALID", 'The parameter "timeout" is not a whole number of milliseconds.', {
      next: "Send up to nine digits, e.g. timeout=30000, or leave it out.",
    });
  }
  // Virtuoso's clients send `timeout=0` for "no timeout".
  return Number(values.at(-1)) || undefined;
}

function refuseUpdate(): never {
  throw new FedwayError("UPDATE_REFUSED", "Fedway answers queries; updates are never passed on.", {
    next: "Send the update to the endpoint itself.",
  });
}

/** The error for a query text beyond the limit. */
export function queryTooLarge(maxQueryBytes: number): FedwayError {
  return new FedwayError("QUERY_TOO_LARGE", `The query is larger than ${maxQueryBytes} bytes.`, {
    next: "Split its VALUES over several queries; operators can raise FEDWAY_MAX_QUERY_BYTES.",
  });
}

function onlyQuery(texts: readonly string[], message: ProtocolMessage): string {
  const [text, ...others] = texts;
  if (others.length > 0) {
    throw new FedwayError("QUERY_REPEATED", `${texts.length} queries were sent in one request.`, {
      next: "Send exactly one query, in one place.",
    });
  }
  if (text === undefined || text.trim() === "") {
    throw new FedwayError("QUERY_MISSING", text === undefined ? "The request has no query." : "The query is empty.", {
      next: 'Send the parameter "query", or the query as the body with Content-Type application/sparql-query.',
    });
  }
  const { maxQueryBytes } = message;
  // A UTF-16 code unit takes at most three bytes, so most texts need no count.
  if (text.length * 3 > maxQueryBytes && Buffer.byteLength(text) > maxQueryBytes) {
    throw queryTooLarge(maxQueryBytes);
  }
  return text;
}

/** The first that Fedway knows: some clients send one format under three names, or one that only another service has. */
const namedFormat = (parameters: ReadonlyMap<string, string[]>): string | undefined =>
  ["format", "output", "results"].flatMap((name) => parameters.get(name) ?? none).find(isFormatName);

/** An absolute IRI, or nothing: an empty field of a form is no graph. */
export const graphPattern = String.raw`^(?:[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^\x60\\]*)?$`;
const graph = new RegExp(graphPattern);
/** Characters of the IRI of a graph. */
export const longestGraph = 2_048;

/** The name of the default graph in rdflib, whose Dataset sends it with every query. */
const defaultGraphOfRdflib = "urn:x-rdflib:default";

/** SPARQL 1.1 Protocol, section 2.1.4. */
function graphsOf(parameters: ReadonlyMap<string, readonly string[]>, name: string): readonly string[] {
  const uris = parameters.get(name) ?? none;
  if (uris.every((uri) => uri.length <= longestGraph && graph.test(uri)))
    return uris.filter((uri) => uri !== "" && uri !== defaultGraphOfRdflib);
  throw new FedwayError("REQUEST_INVALID", `The parameter "${name}" is not an absolute IRI.`, {
    next: `Send the IRI of one graph, or leave "${name}" out; several graphs are several parameters.`,
  });
}

/** Parameters of the URL and of a form body, in this order. */
function parametersOf({ search, body }: ProtocolMessage): Map<string, string[]> {
  const parameters = new Map<string, string[]>();
  if (search !== "") addParameters(parameters, searchText(search));
  if (body?.form === "urlencoded") addParameters(parameters, utf8Text(body.bytes, "The form"));
  return parameters;
}

/**
 * Reads one protocol message: GET, POST with URL-encoded parameters, or POST with the query as the body. Datasets may
 * stand in the URL with all three (an approved W3C test does that with a form). Unknown parameters are ignored.
 * @throws FedwayError `QUERY_*`, `UPDATE_REFUSED`, `REQUEST_INVALID`
 */
export function readOperation(message: ProtocolMessage): Operation {
  const { method, body } = message;
  const parameters = parametersOf(message);
  const texts = [...(parameters.get("query") ?? none)];
  if (body?.form === "direct") texts.push(utf8Text(body.bytes, "The query"));
  const isAlone = parameters.size === 0 || (parameters.size === 1 && parameters.has("query"));
  const options = isAlone ? usual : optionsOf(parameters);
  if (method !== "POST" && texts.length === 0) {
    return { kind: "description", format: options.format };
  }
  return { kind: "query", text: onlyQuery(texts, message), ...options };
}

/** Options of a query alone. */
const usual: QueryOptions = {
  defaultGraphs: none,
  namedGraphs: none,
  format: undefined,
  timeoutMs: undefined,
  strict: false,
  partial: false,
  prune: true,
  provenance: false,
  spreadsheet: false,
};

function optionsOf(parameters: ReadonlyMap<string, string[]>): QueryOptions {
  if (parameters.has("update")) refuseUpdate();
  return {
    defaultGraphs: graphsOf(parameters, "default-graph-uri"),
    namedGraphs: graphsOf(parameters, "named-graph-uri"),
    format: namedFormat(parameters),
    timeoutMs: milliseconds(parameters.get("timeout")),
    strict: flag(parameters.get("strict"), "strict"),
    partial: flagOr(parameters.get("partial"), ["partial", "subset"]),
    prune: flagOr(parameters.get("prune") ?? ["true"], ["prune", "trust"]),
    provenance: flag(parameters.get("provenance"), "provenance"),
    spreadsheet: flag(parameters.get("spreadsheet"), "spreadsheet"),
  };
}

/** Room in a form for everything beside the query. */
const otherParametersBytes = 65_536;

function refuseForeignEncoding({ headers }: FastifyRequest): void {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers["content-type"] ?? "")?.[1];
  if (charset && !/^(utf-?8|us-ascii)$/i.test(charset)) {
    throw new FedwayError("QUERY_ENCODING", `The query is sent as ${charset.slice(0, 32)}; only UTF-8 is read.`, {
      next: "Send it as UTF-8.",
    });
  }
  const coding = headers["content-encoding"];
  if (coding && coding !== "identity") {
    throw new FedwayError("MEDIA_TYPE_UNSUPPORTED", "Compressed request bodies are not read.", {
      next: "Send the body without Content-Encoding.",
    });
  }
}

/** A refused body in the words of these routes: it was the query that was too large. */
export function protocolError(error: unknown, maxQueryBytes: number): unknown {
  const large = error instanceof Error && "code" in error && error.code === "FST_ERR_CTP_BODY_TOO_LARGE";
  return large ? queryTooLarge(maxQueryBytes) : error;
}

/** Teaches `app` the two request media types of the SPARQL Protocol, and to name updates what they are. */
export function addProtocolBodies(app: FastifyInstance, maxQueryBytes: number): void {
  app.removeAllContentTypeParsers();
  const read = (mediaType: string, form: ProtocolBody["form"], bodyLimit: number): void => {
    app.addContentTypeParser(mediaType, { parseAs: "buffer", bodyLimit }, (request, bytes: Buffer, done) => {
      try {
        refuseForeignEncoding(request);
        done(null, { form, bytes });
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    });
  };
  read("application/sparql-query", "direct", maxQueryBytes);
  // Percent-encoding makes of one byte at most three.
  read("application/x-www-form-urlencoded", "urlencoded", maxQueryBytes * 3 + otherParametersBytes);
  app.addContentTypeParser("application/sparql-update", (_request, _payload, done) => {
    done(new FedwayError("UPDATE_REFUSED", "Fedway answers queries; updates are never passed on."));
  });
}

const notUtf8 = (what: string): FedwayError =>
  new FedwayError("QUERY_ENCODING", `${what} is not UTF-8 text.`, {
    next: "Send the text as UTF-8; in URLs and forms percent-encode its UTF-8 bytes.",
  });

/**
 * Bytes as text; a byte order mark is dropped.
 * @throws FedwayError `QUERY_ENCODING` when the bytes are not UTF-8
 */
export function utf8Text(bytes: Buffer, what: string): string {
  if (!isUtf8(bytes)) throw notUtf8(what);
  const text = bytes.toString("utf8");
  return text.codePointAt(0) === 0xfe_ff ? text.slice(1) : text;
}

function decoded(part: string, what: string): string {
  const spaced = part.includes("+") ? part.replaceAll("+", " ") : part;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw notUtf8(what);
  }
}

/**
 * Adds the values of `application/x-www-form-urlencoded` text, by name, in order. Only known parameters are decoded, others are
 * skipped: clients add their own.
 * @throws FedwayError `QUERY_ENCODING` when a value is not percent-encoded UTF-8
 */
function addParameters(found: Map<string, string[]>, encoded: string): void {
  let start = 0;
  while (start < encoded.length) {
    const ampersand = encoded.indexOf("&", start);
    const end = ampersand === -1 ? encoded.length : ampersand;
    const equals = encoded.indexOf("=", start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    const name = encoded.slice(start, nameEnd);
    if (parameterNames.has(name)) {
      const value = decoded(encoded.slice(Math.min(nameEnd + 1, end), end), `The parameter "${name}"`);
      const values = found.get(name);
      if (values) values.push(value);
      else found.set(name, [value]);
    }
    start = end + 1;
  }
}

/** The query part of a request target, as Node delivers it. */
export function searchOf(target: string): string {
  const mark = target.indexOf("?");
  return mark === -1 ? "" : target.slice(mark + 1);
}

/** A query part as UTF-8 text; Node delivers raw bytes beyond ASCII as Latin-1. */
export const searchText = (search: string): string =>
  /^[\x20-\x7e]*$/.test(search) ? search : utf8Text(Buffer.from(search, "latin1"), "The URL");
