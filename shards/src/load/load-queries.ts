import { setImmediate as otherWork } from "node:timers/promises";
import { readdir, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import type { ErrorCode } from "../../../src/errors/codes.ts";
import { FedwayError, toFedwayError } from "../../../src/errors/fedway-error.ts";
import { parseQuery } from "../../../src/sparql/query.ts";
import type { ShardQuery } from "../rules/problem.ts";
import { compareText } from "../../../src/rdf/canonical.ts";
import { readBoundedFile } from "../bounded-file.ts";
import { splitCsv, unquoted } from "../../../src/results/read-records.ts";
import { isObject } from "../guards.ts";

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
 * Loads the queries of a JSON, JSON Lines, QALD or CSV file, or of a folder of `.rq` files. A query that cannot be used is reported and
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
  { id, place }: { readonly id: string; readonly place: string },
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

/** Bounds of reading. */
interface ReadLimits {
  /** All files together. */
  readonly maxBytes: number;
  readonly maxQueries: number;
}

/**
 * The entries of a file, or of a folder's `.rq` and `.sparql` files in the order of their names: the id is the name
 * without its ending, the question what the comment lines at the beginning say.
 * @throws FedwayError `REQUEST_INVALID`, `REQUEST_TOO_LARGE`
 */
async function readEntries(path: string, limits: ReadLimits, only?: EntryFilter): Promise<readonly QueryEntry[]> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new FedwayError("REQUEST_INVALID", `The queries "${basename(path)}" cannot be read.`, { cause });
  });
  if (found.isDirectory()) return readFolder(path, limits);
  if (!found.isFile()) throw new FedwayError("REQUEST_INVALID", `"${basename(path)}" is not a regular file.`);
  const read = fileReaders[extname(path).toLowerCase()];
  if (read === undefined) {
    throw new FedwayError("REQUEST_INVALID", `The queries "${basename(path)}" are neither JSON, JSON Lines nor CSV.`, {
      next: "Give a .json, .jsonl or .csv file, or a folder of .rq files.",
    });
  }
  return read(await readText(path, limits.maxBytes), only);
}

const fileReaders: Readonly<Record<string, typeof entriesFromJson>> = {
  ".json": entriesFromJson,
  ".jsonl": entriesFromLines,
  ".csv": entriesFromCsv,
};

const queryEndings: ReadonlySet<string> = new Set([".rq", ".sparql"]);

async function readFolder(path: string, limits: ReadLimits): Promise<readonly QueryEntry[]> {
  const entries = await readdir(path, { withFileTypes: true });
  const queryFiles = entries
    .filter(({ name }) => queryEndings.has(extname(name)))
    .toSorted((left, right) => compareText(left.name, right.name));
  if (queryFiles.length > limits.maxQueries) throw tooMany(limits.maxQueries);
  const found: QueryEntry[] = [];
  let left = limits.maxBytes;
  for (const entry of queryFiles) {
    const id = basename(entry.name, extname(entry.name));
    if (!entry.isFile()) {
      // A symbolic link could lead anywhere.
      found.push({ place: entry.name, id, problem: "This is not a regular file." });
      continue;
    }
    const text = await readText(join(path, entry.name), left);
    left -= Buffer.byteLength(text);
    found.push({ place: entry.name, id, text, question: leadingComment(text) || undefined });
  }
  return found;
}

/** The error for more queries than allowed. */
function tooMany(maxQueries: number): FedwayError {
  return new FedwayError("REQUEST_TOO_LARGE", `There are more than ${maxQueries} queries.`);
}

function leadingComment(text: string): string {
  const lines: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (!line.startsWith("#")) break;
    lines.push(line.replace(/^#+\+?/, "").trim());
  }
  return lines.join(" ").trim();
}

/** A file's text. */
async function readText(path: string, maxBytes: number): Promise<string> {
  const bytes = await readBoundedFile(path, maxBytes, (fault, cause) =>
    fault === "too large"
      ? tooLarge(maxBytes)
      : new FedwayError("REQUEST_INVALID", `The file "${basename(path)}" cannot be read.`, { cause }),
  );
  return decoded(bytes, basename(path));
}

const tooLarge = (maxBytes: number): FedwayError =>
  new FedwayError("REQUEST_TOO_LARGE", `The queries are larger than ${maxBytes} bytes.`);

function decoded(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new FedwayError("REQUEST_INVALID", `The file "${name}" is not UTF-8 text.`, { cause });
  }
}

/**
 * The entries of a CSV file whose first record names the columns, in any order and case. A record with another number
 * of cells than the header becomes an entry without text.
 * @throws FedwayError `REQUEST_INVALID` with `where.line` for a quote that is never closed or stands in the middle of a
 *   cell, and for a header without a column for the query
 */
export function entriesFromCsv(text: string, only: EntryFilter = {}): readonly QueryEntry[] {
  const [header, ...records] = csvRecords(text);
  if (!header) return [];
  const names = header.cells.map((name) => name.trim().toLowerCase());
  if (!textFields.some((name) => names.includes(name))) {
    throw new FedwayError("REQUEST_INVALID", "The queries are CSV, but no column is named sparql, query or text.", {
      where: { line: header.line },
      next: "Begin the file with a line such as id,sparql,question.",
    });
  }
  return records.flatMap(({ line, cells }) => {
    const place = `line ${line}`;
    if (cells.length !== names.length) {
      return [{ place, problem: `The record has ${cells.length} cells, the header has ${names.length}.` }];
    }
    const fields = Object.fromEntries(names.map((name, column) => [name, cells[column]]));
    return isWanted(fields, only) ? [entryOf(fields, place)] : [];
  });
}

/** The records of a CSV text (RFC 4180), each with the line on which it starts; empty lines are none. */
function csvRecords(text: string) {
  const lines = text.includes("\n") ? text : text.replaceAll("\r", "\n");
  let line = 1;
  return splitCsv(lines.endsWith("\n") ? lines : `${lines}\n`).flatMap((fields) => {
    const start = line;
    const cells = fields.map((field) => {
      refuseBadQuote(field, line);
      line += field.split("\n").length - 1;
      return unquoted(field);
    });
    line += 1;
    return cells.length > 1 || cells[0] !== "" ? [{ line: start, cells }] : [];
  });
}

function refuseBadQuote(field: string, line: number): void {
  const what = field.startsWith('"') ? quotedFault(field) : field.includes('"') && "stands in the middle of a cell";
  if (!what) return;
  throw new FedwayError("REQUEST_INVALID", `The queries are not valid CSV: a quote on line ${line} ${what}.`, {
    where: { line },
    next: "Put the whole cell in quotes and double each quote in it.",
  });
}

function quotedFault(field: string): string | undefined {
  const rest = field.slice(1).replaceAll('""', "");
  const close = rest.indexOf('"');
  if (close < 0) return "is never closed";
  return close < rest.length - 1 ? "is followed by more text" : undefined;
}

/**
 * The entries of a JSON array of objects with `id`, `sparql` (or `query`, `text`) and `question`, or of QALD JSON, whose
 * `questions` have `query.sparql` and `question[].string`, of which the English one counts, else the first. A value that is no
 * object becomes an entry without text.
 * @throws FedwayError `REQUEST_INVALID` for anything else
 */
export function entriesFromJson(text: string, only: EntryFilter = {}): readonly QueryEntry[] {
  const value = parsed(text);
  const list = isObject(value) ? value["questions"] : value;
  if (!Array.isArray(list)) {
    throw new FedwayError("REQUEST_INVALID", "The queries file must be a JSON array, or QALD JSON with questions.", {
      next: 'Write [{"id": "q1", "sparql": "SELECT ...", "question": "..."}].',
    });
  }
  return list.flatMap((entry: unknown, index) => entryFrom(entry, `entry ${index + 1}`, only));
}

/** The entries of JSON Lines, an object of the same kinds on each; a line that is no JSON becomes an entry without text. */
function entriesFromLines(text: string, only: EntryFilter = {}): readonly QueryEntry[] {
  return text.split(/\r?\n/u).flatMap((line, index) => {
    const place = `line ${index + 1}`;
    if (line.trim() === "") return [];
    try {
      return entryFrom(parsed(line), place, only);
    } catch (error) {
      return [{ place, problem: toFedwayError(error).message }];
    }
  });
}

function entryFrom(entry: unknown, place: string, only: EntryFilter): readonly QueryEntry[] {
  if (!isObject(entry)) return [{ place, problem: "The entry must be an object." }];
  const { query, question } = entry;
  const asked: readonly unknown[] = Array.isArray(question) ? question : [];
  const texts = asked.filter(isObject);
  const fields = {
    ...entry,
    ...(isObject(query) && { query: query["sparql"] }),
    ...(texts.length > 0 && { question: (texts.find(({ language }) => language === "en") ?? texts[0])?.["string"] }),
  };
  return isWanted(fields, only) ? [entryOf(fields, place)] : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replaceAll(/\s+/g, " ").slice(0, 200) : "";
    throw new FedwayError("REQUEST_INVALID", `The queries are not valid JSON: ${reason}.`, { cause });
  }
}

/** A query as a file gives it, not yet looked at. */
export interface QueryEntry {
  /** Where it was found, for messages: "entry 3", "line 12", "all-dogs.rq". */
  readonly place: string;
  readonly id?: string | undefined;
  readonly text?: string | undefined;
  readonly question?: string | undefined;
  /** Why it cannot be used, a sentence. */
  readonly problem?: string | undefined;
}

/** Values that fields of an entry must have for the entry to count. */
type EntryFilter = Readonly<Record<string, string>>;

/** Names of the field that holds the query, the first that is there counts. */
const textFields = ["sparql", "query", "text"] as const;

/** The entry that some fields make; a number is taken as text. */
function entryOf(fields: Readonly<Record<string, unknown>>, place: string): QueryEntry {
  const text = textFields.map((name) => textIn(fields, name)).find((found) => found !== undefined);
  return {
    place,
    problem: text === undefined ? "The entry has no text under sparql, query or text." : undefined,
    id: textIn(fields, "id")?.trim() || undefined,
    text,
    question: textIn(fields, "question")?.trim() || undefined,
  };
}

/** The entry is one of those asked for. */
function isWanted(fields: Readonly<Record<string, unknown>>, only: EntryFilter): boolean {
  return Object.entries(only).every(([name, value]) => textIn(fields, name) === value);
}

function textIn(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
}
