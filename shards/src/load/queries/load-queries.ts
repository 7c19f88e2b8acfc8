import { setImmediate as otherWork } from "node:timers/promises";
import type { ErrorCode } from "../../../../src/errors/codes.ts";
import { FedwayError, toFedwayError } from "../../../../src/errors/fedway-error.ts";
import { parseQuery } from "../../../../src/sparql/query.ts";
import type { ShardQuery } from "../../rules/problem.ts";
import { type ReadLimits, readEntries, tooMany, type EntryFilter, type QueryEntry } from "./read-files.ts";

/** A query that was left out, and why. */
export interface RejectedQuery {
  readonly id: string;
  /** Where it was found: "entry 3", "line 12", "all-dogs.rq". */
  readonly place: string;
  readonly code: ErrorCode;
  readonly message: string;
  /** 1-based, in the query's text. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** Queries that can be used, and those that cannot. */
export interface LoadedQueries {
  /** Distinct texts in the order of the source; at least one. */
  readonly queries: readonly ShardQuery[];
  readonly rejected: readonly RejectedQuery[];
  /** Entries that can be used, those with the same text counted each. */
  readonly questions: number;
}

/** Bounds, and which entries count. */
interface LoadOptions {
  readonly limits?: Partial<QueryLimits>;
  /** Only JSON objects or CSV records with these values: one file may hold the queries of several datasets. */
  readonly only?: EntryFilter | undefined;
  /** Declared in front of each query that does not declare them itself: prefix to IRI. */
  readonly prefixes?: Readonly<Record<string, string>> | undefined;
}

/** Bounds of a set of queries. */
interface QueryLimits extends ReadLimits {
  /** UTF-8 bytes of one query. */
  readonly maxQueryBytes: number;
}

const defaultLimits: QueryLimits = { maxBytes: 64 * 2 ** 20, maxQueries: 20_000, maxQueryBytes: 2 ** 20 };
/** Parsing takes up to a few milliseconds each; other work of the process goes on in between. */
const queriesAtATime = 20;
const maxIdLength = 200;
const maxQuestionLength = 2_000;

/**
 * Loads the queries of a JSON file, a CSV file or a folder of `.rq` files. A query that cannot be used is reported and
 * left out; queries whose texts are equal character by character become one.
 * @throws FedwayError `REQUEST_INVALID` for files that cannot be read and when no query can be used, `REQUEST_TOO_LARGE`
 */
export async function loadQueries(path: string, options: LoadOptions = {}): Promise<LoadedQueries> {
  return collectQueries(await readEntries(path, { ...defaultLimits, ...options.limits }, options.only), options);
}

/** One line, or nothing. A prefix that a query declares too is the query's from there on (SPARQL 1.1, section 4.1.1). */
const prologueOf = ({ prefixes = {} }: LoadOptions): string =>
  Object.entries(prefixes)
    .map(([prefix, iri]) => `PREFIX ${prefix}: <${iri}>`)
    .join(" ");

/** The same for entries that were read. */
export async function collectQueries(
  entries: readonly QueryEntry[],
  options: LoadOptions = {},
): Promise<LoadedQueries> {
  const limits = { ...defaultLimits, ...options.limits };
  const prologue = prologueOf(options);
  if (entries.length > limits.maxQueries) throw tooMany(limits.maxQueries);
  const byText = new Map<string, GrowingQuery>();
  const ids = new Set<string>();
  const rejected: RejectedQuery[] = [];
  for (const [index, entry] of entries.entries()) {
    if (index % queriesAtATime === 0) await otherWork();
    const id = shownId(entry.id) ?? `query-${index + 1}`;
    try {
      const text = withPrologue(prologue, checkedText(entry, limits));
      if (ids.has(id)) throw invalid(`The id ${JSON.stringify(id)} is taken by another query.`);
      // A text that was seen before has been parsed.
      if (!byText.has(text)) parseAlone(text);
      ids.add(id);
      const found = byText.get(text) ?? firstWith(text, id, entry.question);
      addQuestion(found, id, entry.question);
      byText.set(text, found);
    } catch (thrown) {
      rejected.push(rejection({ id, place: entry.place }, toFedwayError(thrown), prologue === "" ? 0 : 1));
    }
  }
  const queries = [...byText.values()];
  if (queries.length === 0) throw noQueries(rejected);
  return { queries, rejected, questions: queries.reduce((sum, { same }) => sum + same.length, 0) };
}

const invalid = (message: string): FedwayError => new FedwayError("REQUEST_INVALID", message);

/** An id that was given, on one line and not too long. */
function shownId(id: string | undefined): string | undefined {
  return id?.replaceAll(/\p{Cc}+/gu, " ").slice(0, maxIdLength);
}

type GrowingQuery = ShardQuery & { readonly same: string[]; questions?: Record<string, string> };

function firstWith(text: string, id: string, question: string | undefined): GrowingQuery {
  return { id, text, same: [], question: question?.slice(0, maxQuestionLength) };
}

function addQuestion(query: GrowingQuery, id: string, asked: string | undefined): void {
  query.same.push(id);
  const question = asked?.slice(0, maxQuestionLength);
  if (question !== undefined && question !== query.question) query.questions = { ...query.questions, [id]: question };
}

function checkedText(entry: QueryEntry, limits: QueryLimits): string {
  if (entry.text === undefined) throw invalid(entry.problem ?? "There is no query.");
  if (Buffer.byteLength(entry.text) > limits.maxQueryBytes) {
    throw new FedwayError("QUERY_TOO_LARGE", `The query is larger than ${limits.maxQueryBytes} bytes.`);
  }
  return entry.text;
}

const withPrologue = (prologue: string, text: string): string => (prologue === "" ? text : `${prologue}\n${text}`);

/** A query that names endpoints asks other data than the dataset's. */
function parseAlone(text: string): void {
  const { tokens } = parseQuery(text);
  if (tokens.some(({ kind, text: word }) => kind === "word" && word === "SERVICE")) {
    throw invalid("The query has a SERVICE clause; queries to be federated name no endpoints.");
  }
}

/** `addedLines` stand in front of the text that was given. */
function rejection(
  { id, place }: Pick<RejectedQuery, "id" | "place">,
  { code, message, details }: FedwayError,
  addedLines: number,
): RejectedQuery {
  const { line, column } = details.where ?? {};
  return { id, place, code, message, line: line && Math.max(1, line - addedLines), column };
}

function noQueries(rejected: readonly RejectedQuery[]): FedwayError {
  const [first] = rejected;
  if (!first) return invalid("There are no queries.");
  const at = first.line === undefined ? "" : ` (line ${first.line}, column ${first.column ?? 1})`;
  return invalid(
    `None of the ${rejected.length} queries can be used. The first, ${JSON.stringify(first.id)}: ${first.message}${at}`,
  );
}
