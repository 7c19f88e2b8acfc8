import type { Repair } from "../../errors/fedway-error.ts";
import type { TabularAnswer } from "../../query/table.ts";
import { plainText } from "../../rdf/display-text.ts";
import type { Reply } from "../reply.ts";
import type { Hint } from "../tool.ts";
import { visible } from "../../html.ts";
import { jsonRow, jsonTerm } from "../../results/json-terms.ts";
import { estimateTokens } from "../../token-estimate.ts";
import { type CsvRows, csvRows } from "./csv-rows.ts";
import type { KeptResult } from "./result-store.ts";

/** How rows are written. */
export type RowFormat = "csv" | "json";

/** Rows of a result to show. */
interface PageRequest {
  /** Rows before the first one shown. */
  readonly offset: number;
  readonly maxRows: number;
  readonly format: RowFormat;
}

/** How a result is shown. */
interface Showing extends PageRequest {
  readonly hint: Hint;
  /** The query was not run again. */
  readonly isCached?: boolean;
  /** The client knows how many endpoints were not asked. */
  readonly knowsCatalog?: boolean;
  /** Repairs of the query before it was run. */
  readonly repairs?: readonly Repair[] | undefined;
}

/** A handle is missing where the result was too large to be kept. */
interface Shown {
  readonly id: string | undefined;
  readonly query: string;
  readonly answer: TabularAnswer;
}

/** The resource that has all rows of a result. */
export const resultUri = (id: string): string => `fedway://results/${id}`;

const mostNotes = 3;
const mostSources = 6;

/** A page of a result as the reply of a tool: outcome, counts, diagnosis, rows, and where the others are. */
export function showResult(
  result: Shown,
  { hint, isCached = false, knowsCatalog = false, repairs = [], ...request }: Showing,
): Reply {
  const { id, answer } = result;
  const { run, status, diagnosis, rows } = answer;
  const page = resultPage(result, request);
  const rest = restOf(id, page);
  const { offset } = request;
  const cached = isCached ? " (cached: this query was run before)" : "";
  const isExplained = status !== "ok" || diagnosis !== null;
  const notes = notesOf(answer.notes.filter(({ code }) => !knowsCatalog || code !== "CATALOG_ASKED"));
  const suggested = suggestedOf(answer);
  return {
    status: [
      `status: ${statusText(answer)}${cached}; ${countText(answer, page, offset)}`,
      // What explains a run is asked for by its id.
      isExplained ? `run: ${run}` : "",
      sourcesText(answer),
    ],
    cause: diagnosis,
    rows: rows.length === 0 ? [] : [page.text, ...restText(rest, hint)],
    notes,
    repairs,
    suggested,
    data: {
      ...dataOf(answer),
      notes,
      repairs,
      suggested,
      cached: isCached,
      offset,
      rows_shown: page.shown,
      ...(rows.length > 0 && page.data),
      ...rest,
    },
    failed: status === "failed" || status === "cancelled",
  };
}

/** Beside a repair no other query is shown. */
const suggestedOf = ({ diagnosis, notes }: TabularAnswer): string | undefined =>
  diagnosis?.suggested ?? (diagnosis?.repairs?.length ? undefined : instead(notes));

/** The query that a note says to send instead. */
export const instead = (notes: TabularAnswer["notes"]): string | undefined => notes.find(({ query }) => query)?.query;

/** COUNT, SUM and the like give a row also where nothing matches: that row says nothing of the data. */
const isOfNothing = ({ status, diagnosis }: TabularAnswer): boolean =>
  status === "ok" && diagnosis?.code.startsWith("EMPTY_") === true;

const statusText = (answer: TabularAnswer): string =>
  isOfNothing(answer) ? "empty: nothing matched, and the row below aggregates nothing" : answer.status;

/** Notes of how a query was planned. */
const routine: ReadonlySet<string> = new Set(["MEMBERS_LEFT_OUT", "CLAUSES_COLOCATED"]);

/** Notes of a run on which a reader of its rows can act. */
export const notesOf = (notes: TabularAnswer["notes"]): readonly string[] =>
  notes
    .filter(({ code }) => !routine.has(code))
    .slice(0, mostNotes)
    .map(({ message }) => plainText(message, 200));

const restOf = (id: string | undefined, { next }: ResultPage) =>
  id === undefined || next === undefined
    ? { next_cursor: undefined, resource: undefined }
    : { next_cursor: `${id}:${next}`, resource: resultUri(id) };

const restText = ({ next_cursor: cursor, resource }: ReturnType<typeof restOf>, hint: Hint): readonly string[] =>
  cursor === undefined
    ? []
    : [
        hint(`next rows: {run_query} with {run_query.cursor}=${cursor}`) ?? `next rows: ${cursor}`,
        `all rows: resource ${resource}`,
      ];

function dataOf(answer: TabularAnswer) {
  const { run, status, boolean, columns, rows, sources } = answer;
  return {
    run,
    status,
    ...(boolean !== undefined && { boolean }),
    ...(isOfNothing(answer) && { aggregates_of_nothing: true }),
    columns,
    // Unknown is not what was received.
    rows_total: status === "ok" || status === "empty" ? rows.length : null,
    rows_received: rows.length,
    sources: sources.slice(0, 20).map((source) => ({
      endpoint: source.endpoint,
      status: stateOf(source, answer),
      rows: source.rows ?? null,
    })),
  };
}

/** Shown rows and their total: unknown is not 0. */
function countText(answer: TabularAnswer, { shown, last }: ResultPage, offset: number): string {
  const { boolean, rows, status } = answer;
  if (boolean !== undefined) return `answer: ${boolean}`;
  if (status === "failed" || status === "cancelled") return "no rows were received, which is not an empty answer";
  if (rows.length === 0) return status === "empty" ? "0 rows" : "no rows were received, others may be missing";
  const end = last === 0 ? "" : ` and the last ${last}`;
  return `rows ${offset + 1}-${offset + shown}${end} of ${totalText(answer)}`;
}

function totalText({ rows, truncated, status }: TabularAnswer): string {
  if (truncated) return `more than ${rows.length}`;
  return status === "partial" ? `at least ${rows.length}, as rows are missing` : String(rows.length);
}

function sourcesText(answer: TabularAnswer): string {
  const { sources } = answer;
  const told = sources.slice(0, mostSources).map((source) => {
    const state = stateOf(source, answer);
    return `${plainText(source.endpoint, 60)} ${state === "ok" ? "" : `${state} `}${source.rows ?? "?"}`;
  });
  const more = sources.length > mostSources ? `, and ${sources.length - mostSources} more` : "";
  return told.length === 0 ? "" : `endpoints (rows received): ${told.join(", ")}${more}`;
}

/** A source that had more to give than was wanted is no fault. */
function stateOf({ status: state }: TabularAnswer["sources"][number], { status, truncated }: TabularAnswer): string {
  if (state !== "cancelled") return state;
  if (truncated) return "stopped at the row limit";
  return status === "ok" || status === "empty" ? "stopped, as no more was needed" : state;
}

/** Tokens of one page, as `estimateTokens` counts. */
const mostPageTokens = 5_000;
const mostCellCharacters = 300;
/** Rows from the end of a result that are shown beside the first ones. */
const lastRows = 3;

/** Some rows of an answer, within a budget. */
interface ResultPage {
  /** Lines for the model. */
  readonly text: string;
  /** The same for programs: CSV, or rows as `/api/query` writes them. */
  readonly data: { readonly csv: string } | { readonly rows: readonly object[]; readonly last?: readonly object[] };
  /** Rows that are shown from the offset on. */
  readonly shown: number;
  /** Rows from the end of the result that are shown as well. */
  readonly last: number;
  /** Offset of the next page; undefined when there is none. */
  readonly next: number | undefined;
}

/** The rows from `offset` on that fit into the budget, at least one; with the last rows when some are left out. */
function resultPage({ query, answer }: Shown, request: PageRequest): ResultPage {
  const { offset, format } = request;
  const left = answer.rows.slice(offset);
  let shown = Math.min(request.maxRows, left.length);
  for (;;) {
    const isCut = shown < left.length;
    // The end of a result that broke off is not its end.
    const last = isCut && offset === 0 && !answer.truncated ? Math.min(lastRows, left.length - shown) : 0;
    const page = { rows: left.slice(0, shown), end: last === 0 ? [] : left.slice(-last) };
    const { text, data } = format === "json" ? asJson(answer, page) : asCsv(query, answer, page);
    const tokens = estimateTokens(text);
    const next = isCut ? offset + shown : undefined;
    if (tokens <= mostPageTokens) return { text, data, shown, last, next };
    // One row may have very many columns.
    const cut = `${text.slice(0, mostPageTokens)}…`;
    if (shown <= 1) return { text: cut, data: { csv: cut }, shown, last, next };
    shown = Math.max(1, Math.min(shown - 1, Math.floor((shown * mostPageTokens * 0.9) / tokens)));
  }
}

type Rows = TabularAnswer["rows"];

interface ShownRows {
  readonly rows: Rows;
  readonly end: Rows;
}

const shorter = (text: string): string => visible(text.slice(0, 2 * mostCellCharacters));

function shortTerm(cell: string) {
  const term = jsonTerm(cell);
  if (typeof term === "string") return shorter(term);
  if (typeof term !== "object") return term;
  return Object.fromEntries(Object.entries(term).map(([name, text]) => [name, shorter(text)]));
}

function asJson({ columns }: TabularAnswer, { rows, end }: ShownRows) {
  const written = (part: Rows) => part.map((cells) => jsonRow(columns, cells, shortTerm));
  const data = { rows: written(rows), ...(end.length > 0 && { last: written(end) }) };
  return { text: JSON.stringify({ columns, ...data }), data };
}

function asCsv(queryText: string, { columns }: TabularAnswer, { rows, end }: ShownRows) {
  const csv = csvRows(columns, [...rows, ...end], { queryText, mostCharacters: mostCellCharacters });
  const lines =
    end.length === 0 ? csv.lines : [...csv.lines.slice(0, rows.length), "...", ...csv.lines.slice(rows.length)];
  const text = [...csv.prefixes, csv.header, ...lines].join("\n");
  return { text, data: { csv: text } };
}

/** A part of a whole result for a resource: as many rows as fit into `mostCharacters`, cells uncut up to 10,000 characters. */
export function resultPart(
  { query, answer }: KeptResult,
  {
    offset,
    maxRows,
    mostCharacters,
  }: { readonly offset: number; readonly maxRows: number; readonly mostCharacters: number },
): { readonly csv: CsvRows; readonly next: number | undefined } {
  let size = 0;
  let end = offset;
  for (const row of answer.rows.slice(offset, offset + maxRows)) {
    size += row.reduce((sum, cell) => sum + Math.min(cell?.length ?? 0, 10_000), 0);
    if (size > mostCharacters && end > offset) break;
    end += 1;
  }
  const csv = csvRows(answer.columns, answer.rows.slice(offset, end), { queryText: query, mostCharacters: 10_000 });
  return { csv, next: end < answer.rows.length ? end : undefined };
}
