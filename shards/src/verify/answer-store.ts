import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { termFromJson } from "../../../src/results/read-json.ts";
import { literalFromParts, relabelled, termToText } from "../../../src/results/terms.ts";
import { parseQuery, type Query } from "../../../src/sparql/query.ts";
import { isObject, parsedAs } from "../guards.ts";
import type { InputFormat } from "../load/input.ts";
import { closedSubselects, type SolutionRow, solutionsQuery, withSolutions } from "./closed-subselects.ts";

/** A store with data that queries can be asked of. */
export interface AnswerStore {
  /**
   * The answer in SPARQL results JSON, or a graph in N-Triples. Rejects when there is none, for whatever reason.
   * @param from IRIs of named graphs, no triple in two of them: those are the default graph from now on; absent: it stays as it is
   */
  answer(query: string, signal: AbortSignal, from?: readonly string[]): Promise<StoreAnswer>;
  close(): Promise<void>;
}

/** A file that a store loads. */
export interface StoreFile {
  readonly path: string;
  readonly format: InputFormat;
  /** Compressed by gzip. */
  readonly gzip: boolean;
  /** Named graph for its triples, no triple in two of them; such graphs together are the default graph, too. */
  readonly graph?: string | undefined;
}

/** Loads files as one dataset, named graphs and all, and ends queries that take too long. */
export type OpenStore = (files: readonly StoreFile[], signal: AbortSignal) => Promise<AnswerStore>;

/** Bounds of one store: a query's time, the memory of data and queries, the bytes of an answer. */
export interface StoreLimits {
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly maxAnswerBytes: number;
}

/** The stores of this process; `app/` says which. */
export type OpenStores = (limits: StoreLimits) => OpenStore;

/** More solutions than this are not written into a query. */
const mostSolutions = 10_000;

/**
 * A store's answer to a query, whose subselects in EXISTS are asked first where that means the same (`closedSubselects`):
 * Oxigraph 0.5 evaluates them anew, and slowly, for each solution that is tested. A subselect with too many solutions, with
 * some that cannot be written (blank nodes), or without an answer stays as it is. @throws as the store
 */
export async function askStore(
  store: AnswerStore,
  text: string,
  signal: AbortSignal,
  from?: readonly string[],
): Promise<StoreAnswer> {
  const ask = (query: string): Promise<StoreAnswer> => store.answer(query, signal, from);
  return ask((await withKnownSubselects(ask, text)) ?? text);
}

/** The query with the solutions that this store has for its closed subselects; undefined when it stays as it is. */
async function withKnownSubselects(
  ask: (query: string) => Promise<StoreAnswer>,
  text: string,
): Promise<string | undefined> {
  const query = mayTestSubselects(text) ? parsedOrNot(text) : undefined;
  if (query === undefined) return undefined;
  const solutions = [];
  for (const subselect of closedSubselects(query)) {
    const asked = solutionsQuery(query, subselect, mostSolutions + 1);
    const answer = await ask(asked).catch(() => undefined);
    const found = answer && solutionsIn(answer);
    const rows = found && found.length <= mostSolutions ? rowsOfTerms(subselect.variables, found) : undefined;
    if (rows !== undefined) solutions.push({ subselect, rows });
  }
  if (solutions.length === 0) return undefined;
  const known = withSolutions(query, solutions);
  return parsedOrNot(known) && known;
}

/** False for most queries, which are not parsed then. */
function mayTestSubselects(text: string): boolean {
  const exists = text.search(/\bEXISTS\b/iu);
  return exists !== -1 && /\bSELECT\b/iu.test(text.slice(exists));
}

function solutionsIn(answer: StoreAnswer): readonly unknown[] | undefined {
  try {
    return solutionsOf(answer);
  } catch {
    return undefined;
  }
}

function parsedOrNot(text: string): Query | undefined {
  try {
    return parseQuery(text);
  } catch {
    return undefined;
  }
}

type Node = Readonly<Record<string, unknown>>;

/** IRIs that every parser of queries takes as they are: absolute, no forbidden character, nothing that BASE could resolve. */
const plainIri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\p{Cc}\p{Cs} <>"{}|^`\\]*$/u;
const dotSegment = /\/\.{1,2}(?:[/?#]|$)/u;
const plainTag = /^[A-Za-z]+(?:-[A-Za-z0-9]+)*$/u;
/** Parsers differ in whether `\\u` begins an escape of a code point (SPARQL 1.1 Query, section 19.2); U+FFFD may stand for what was lost. */
const doubtful = /\\u|[\p{Cs}\uFFFD]/iu;
const known = new Set(["type", "value", "datatype", "xml:lang"]);

const undef = "UNDEF";
/** Characters that the rows of one subselect may add to a query. */
const mostCharacters = 1_000_000;

/**
 * Solutions in SPARQL results JSON as rows of inline data, in the order of `variables`: unbound variables are UNDEF.
 * Undefined when a term cannot be written such that it is the same term, as blank nodes cannot, or there is too much of it.
 * Also when a variable is bound nowhere: Oxigraph 0.5.11 takes what is empty in any case out of a query, and then gives no
 * row where COUNT is to give 0.
 */
export function rowsOfTerms(
  variables: readonly string[],
  solutions: readonly unknown[],
): readonly SolutionRow[] | undefined {
  const rows: SolutionRow[] = [];
  const bound = new Set<string>();
  let characters = 0;
  for (const solution of solutions) {
    if (!isObject(solution)) return undefined;
    const row: string[] = [];
    for (const name of variables) {
      const text = Object.hasOwn(solution, name) ? inlineTerm(solution[name]) : undef;
      if (text === undefined) return undefined;
      if (text !== undef) bound.add(name);
      characters += text.length;
      row.push(text);
    }
    if (characters > mostCharacters) return undefined;
    rows.push(row);
  }
  return bound.size === variables.length ? rows : undefined;
}

const isPlainIri = (value: string): boolean => plainIri.test(value) && !dotSegment.test(value);

function inlineTerm(cell: unknown): string | undefined {
  if (!isObject(cell)) return undefined;
  if (Object.entries(cell).some(([key, part]) => !known.has(key) || typeof part !== "string")) return undefined;
  const term = termFromJson(cell);
  if (term?.termType === "NamedNode") return isPlainIri(term.value) ? termToText(term) : undefined;
  if (term?.termType !== "Literal" || doubtful.test(term.value)) return undefined;
  const isWritable = term.language === "" ? isPlainIri(term.datatype.value) : plainTag.test(term.language);
  return isWritable ? termToText(term) : undefined;
}

const xsd = "http://www.w3.org/2001/XMLSchema#";
const inexact = new Set([`${xsd}double`, `${xsd}float`, `${xsd}decimal`]);
/** Sums and means depend on the order of addition behind this many digits. */
const digits = 10;

function termText(cell: unknown): string {
  const term = termFromJson(cell);
  // Labels of blank nodes differ between answers.
  if (term?.termType !== "Literal") return term === undefined ? "" : termToText(relabelled(term, () => "b"));
  const number = Number(term.value);
  if (!inexact.has(term.datatype.value) || !Number.isFinite(number)) return termToText(term);
  return termToText(literalFromParts(String(Number(number.toPrecision(digits))), undefined, term.datatype.value));
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

/** Whether two answers have the same rows, as `rowsOf` gives them. */
export const areSameRows = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((row, at) => row === right[at]);

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
    const cells = isObject(row) ? Object.entries(row) : [];
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
  const answer = parsedAs(json, isObject);
  if (answer === undefined) throw malformed();
  return answer;
}

function bindingsIn(answer: Node): readonly unknown[] {
  const results = answer["results"];
  const bindings: unknown = isObject(results) ? results["bindings"] : undefined;
  if (!Array.isArray(bindings)) throw malformed();
  return bindings;
}

const malformed = (): FedwayError => new FedwayError("ENDPOINT_MALFORMED", "The answer is not in SPARQL results JSON.");
