import { estimateTokens } from "../../token-estimate.ts";
import { visible } from "../../html.ts";
import type { TabularAnswer } from "../../query/table.ts";
import { jsonRow, jsonTerm } from "../../results/json-terms.ts";
import { type CsvRows, csvRows } from "./csv-rows.ts";
import type { KeptResult } from "./result-store.ts";

/** Tokens of one page, as `estimateTokens` counts. */
const mostPageTokens = 5_000;
const mostCellCharacters = 300;
/** Rows from the end of a result that are shown beside the first ones. */
const lastRows = 3;

/** How rows are written. */
export type RowFormat = "csv" | "json";

/** Part of an answer to show. */
interface PageRequest {
  /** Rows before the first one shown. */
  readonly offset: number;
  readonly maxRows: number;
  readonly format: RowFormat;
}

/** Some rows of an answer, within a budget. */
export interface ResultPage {
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
export function resultPage({ query, answer }: Pick<KeptResult, "query" | "answer">, request: PageRequest): ResultPage {
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

interface Shown {
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

function asJson({ columns }: TabularAnswer, { rows, end }: Shown) {
  const written = (part: Rows) => part.map((cells) => jsonRow(columns, cells, shortTerm));
  const data = { rows: written(rows), ...(end.length > 0 && { last: written(end) }) };
  return { text: JSON.stringify({ columns, ...data }), data };
}

function asCsv(queryText: string, { columns }: TabularAnswer, { rows, end }: Shown) {
  const csv = csvRows(columns, [...rows, ...end], { queryText, mostCharacters: mostCellCharacters });
  const lines =
    end.length === 0 ? csv.lines : [...csv.lines.slice(0, rows.length), "...", ...csv.lines.slice(rows.length)];
  const text = [...csv.prefixes, csv.header, ...lines].join("\n");
  return { text, data: { csv: text } };
}

/** A part of a whole result for a resource: as many rows as fit into `mostCharacters`, cells uncut up to 10,000 characters. */
export function resultPart(
  { query, answer }: Pick<KeptResult, "query" | "answer">,
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
