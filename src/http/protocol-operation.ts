import { FedwayError } from "../errors/fedway-error.ts";
import { formParameters, searchText, utf8Text } from "./form-parameters.ts";

/** A request body as the content type parsers hand it on. */
export interface ProtocolBody {
  readonly form: "urlencoded" | "direct";
  readonly bytes: Buffer;
}

/** What arrives at a SPARQL route (SPARQL 1.1 Protocol, section 2.1). */
export interface ProtocolMessage {
  readonly method: string;
  /** Query part of the request target, without `?`, as Node delivers it. */
  readonly search: string;
  readonly body: ProtocolBody | undefined;
  readonly maxQueryBytes: number;
}

/** Parameters that apply with and without a query. */
interface Wishes {
  /** From `format`, `output` or `results`, in this order. */
  readonly format: string | undefined;
}

/** A query operation. */
export interface QueryOperation extends Wishes {
  readonly kind: "query";
  readonly text: string;
  readonly defaultGraphs: readonly string[];
  readonly namedGraphs: readonly string[];
  /** From `timeout`, in milliseconds. */
  readonly timeoutMs: number | undefined;
  readonly strict: boolean;
  readonly partial: boolean;
}

/** A GET without a query: the service description is wanted. */
export interface DescriptionOperation extends Wishes {
  readonly kind: "description";
}

/** What a message asks for. */
export type Operation = QueryOperation | DescriptionOperation;

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
]);

const none: readonly string[] = [];

function flag(values: readonly string[] | undefined, name: string): boolean {
  const value = values?.at(-1);
  if (value === undefined || value === "false" || value === "0") return false;
  if (value === "true" || value === "1" || value === "") return true;
  throw new FedwayError("REQUEST_INVALID", `The parameter "${name}" is neither true nor false.`);
}

function milliseconds(values: readonly string[] | undefined): number | undefined {
  const value = values?.at(-1);
  // Virtuoso's clients send `timeout=0` for "no wish".
  if (value === undefined || value === "" || value === "0") return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw new FedwayError("REQUEST_INVALID", 'The parameter "timeout" is not a whole number of milliseconds.');
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

function wantedFormat(parameters: Map<string, string[]>): string | undefined {
  const format = (parameters.get("format") ?? parameters.get("output") ?? parameters.get("results"))?.at(-1);
  return format === "" ? undefined : format;
}

/** Parameters of the URL and of a form body, in this order. */
function parametersOf({ search, body }: ProtocolMessage): Map<string, string[]> {
  const parameters = formParameters(searchText(search), parameterNames);
  if (body?.form !== "urlencoded") return parameters;
  for (const [name, values] of formParameters(utf8Text(body.bytes, "The form"), parameterNames)) {
    parameters.set(name, [...(parameters.get(name) ?? none), ...values]);
  }
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
  if (parameters.has("update")) refuseUpdate();
  const format = wantedFormat(parameters);
  const texts = [...(parameters.get("query") ?? none)];
  if (body?.form === "direct") texts.push(utf8Text(body.bytes, "The query"));
  if (method !== "POST" && texts.length === 0) return { kind: "description", format };
  return {
    kind: "query",
    text: onlyQuery(texts, message),
    defaultGraphs: parameters.get("default-graph-uri") ?? none,
    namedGraphs: parameters.get("named-graph-uri") ?? none,
    format,
    timeoutMs: milliseconds(parameters.get("timeout")),
    strict: flag(parameters.get("strict"), "strict"),
    partial: flag(parameters.get("partial"), "partial"),
  };
}

const keptOperations = 1_000;
const keptCharacters = 4_194_304;

/**
 * A `readOperation` that remembers requests without a body by their search text: clients ask the same again, and to
 * decode it is not free. In bounded memory.
 */
export function createOperationReader(): (message: ProtocolMessage) => Operation {
  const known = new Map<string, Operation>();
  let characters = 0;
  let latest: { readonly search: string; readonly operation: Operation } | undefined;
  return (message) => {
    const { method, search, body } = message;
    if (body !== undefined || method === "POST") return readOperation(message);
    // To compare two texts costs a fraction of what it costs to find one by its hash.
    if (latest?.search === search) return latest.operation;
    let operation = known.get(search);
    if (operation === undefined) {
      operation = readOperation(message);
      // Encoded and decoded.
      characters += 2 * search.length;
      if (known.size >= keptOperations || characters > keptCharacters) {
        known.clear();
        characters = 2 * search.length;
      }
      known.set(search, operation);
    }
    latest = { search, operation };
    return operation;
  };
}
