import { FedwayError } from "../../errors/fedway-error.ts";

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);

const xsd = "http://www.w3.org/2001/XMLSchema#";
const inexact = new Set([`${xsd}double`, `${xsd}float`, `${xsd}decimal`]);
/** Sums and means depend on the order of addition behind this many digits. */
const digits = 10;

function termText(term: unknown): string {
  if (!isNode(term)) return "";
  const value = String(term["value"]);
  if (term["type"] === "uri") return `<${value}>`;
  // Which label a blank node of an answer has is nobody's promise.
  if (term["type"] === "bnode") return "_:";
  const datatype = typeof term["datatype"] === "string" ? term["datatype"] : `${xsd}string`;
  const number = Number(value);
  const text = inexact.has(datatype) && Number.isFinite(number) ? String(Number(number.toPrecision(digits))) : value;
  const language = typeof term["xml:lang"] === "string" ? `@${term["xml:lang"].toLowerCase()}` : "";
  return `${JSON.stringify(text)}${language}^^<${datatype}>`;
}

/** A whole answer as a store gives it. */
export interface StoreAnswer {
  readonly mediaType: string;
  readonly body: Uint8Array;
}

/**
 * The rows of an answer as texts, sorted: rows of SPARQL results JSON, or the lines of a graph in N-Triples.
 * @throws FedwayError `ENDPOINT_MALFORMED`
 */
export function rowsOf({ mediaType, body }: StoreAnswer): readonly string[] {
  const text = textOf(body);
  const isJson = /\bjson\b/iu.test(mediaType);
  const rows = isJson ? answerRows(text) : tripleRows(text);
  return rows.toSorted();
}

/** Lines of N-Triples without the labels of blank nodes, which stores make up for those of a CONSTRUCT's template. */
function tripleRows(text: string): readonly string[] {
  const lines = text.split(/\r?\n/u).filter((line) => line.trim() !== "");
  return lines.map((line) => line.replace(/^_:\S+/u, "_:").replace(/ _:[^\s"]+ \.$/u, " _: ."));
}

/**
 * The rows of an answer in SPARQL 1.1 Query Results JSON as texts that are equal when the rows are, in any order of the
 * rows; inexact numbers to ten digits. An ASK gives one row.
 * @throws FedwayError `ENDPOINT_MALFORMED` when it is none
 */
function answerRows(json: string): readonly string[] {
  const answer = parsed(json);
  if (typeof answer["boolean"] === "boolean") return [String(answer["boolean"])];
  return bindingsIn(answer).map((row: unknown) => {
    const cells = isNode(row) ? Object.entries(row) : [];
    return JSON.stringify(cells.map(([name, term]) => `?${name} ${termText(term)}`).toSorted());
  });
}

/**
 * The solutions of an answer in SPARQL results JSON, as they are there.
 * @throws FedwayError `ENDPOINT_MALFORMED` when it is none
 */
export const solutionsOf = ({ body }: StoreAnswer): readonly unknown[] => bindingsIn(parsed(textOf(body)));

const textOf = (body: Uint8Array): string =>
  Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");

function parsed(json: string): Node {
  try {
    const answer: unknown = JSON.parse(json);
    if (isNode(answer)) return answer;
  } catch (cause) {
    throw malformed(cause);
  }
  throw malformed();
}

function bindingsIn(answer: Node): readonly unknown[] {
  const results = answer["results"];
  const bindings: unknown = isNode(results) ? results["bindings"] : undefined;
  if (!Array.isArray(bindings)) throw malformed();
  return bindings;
}

const malformed = (cause?: unknown): FedwayError =>
  new FedwayError("ENDPOINT_MALFORMED", "The answer is not in SPARQL results JSON.", { cause });
