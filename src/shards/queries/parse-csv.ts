import { FedwayError } from "../../errors/fedway-error.ts";
import { type EntryFilter, entryOf, isWanted, type QueryEntry, textFields } from "./query-entry.ts";

/** A record of a CSV file (RFC 4180). */
interface CsvRecord {
  /** 1-based line on which it starts. */
  readonly line: number;
  readonly cells: readonly string[];
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

/** Records of a text; empty lines are none. */
function csvRecords(text: string): readonly CsvRecord[] {
  const records: CsvRecord[] = [];
  let cells: string[] = [];
  let line = 1;
  let start = 1;
  for (let at = 0; at < text.length || cells.length > 0; ) {
    const { value, end, next } = cellAt(text, at, line);
    cells.push(value);
    line += lineBreaks(text, at, next);
    at = next;
    if (end === ",") continue;
    if (cells.length > 1 || value !== "") records.push({ line: start, cells });
    cells = [];
    start = line;
  }
  return records;
}

interface Cell {
  readonly value: string;
  readonly end: string;
  readonly next: number;
}

/** No regular expression reads quoted cells: a long one would overflow its stack. */
function cellAt(text: string, at: number, line: number): Cell {
  return text[at] === '"' ? quotedCell(text, at, line) : plainCell(text, at, line);
}

function quotedCell(text: string, at: number, line: number): Cell {
  let close = text.indexOf('"', at + 1);
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
  if (close < 0) throw badQuote(line, "is never closed");
  const end = separatorAt(text, close + 1);
  if (end === undefined) throw badQuote(line, "is followed by more text");
  return { value: text.slice(at + 1, close).replaceAll('""', '"'), end, next: close + 1 + end.length };
}

const cellEnd = /[",\r\n]/g;

function plainCell(text: string, at: number, line: number): Cell {
  cellEnd.lastIndex = at;
  const stop = cellEnd.exec(text)?.index ?? text.length;
  const end = separatorAt(text, stop);
  if (end === undefined) throw badQuote(line, "stands in the middle of a cell");
  return { value: text.slice(at, stop), end, next: stop + end.length };
}

/** What separates cells or records at an offset, the end of the text included. */
function separatorAt(text: string, at: number): Cell["end"] | undefined {
  if (at >= text.length) return "";
  return [",", "\r\n", "\n", "\r"].find((separator) => text.startsWith(separator, at));
}

function badQuote(line: number, what: string): FedwayError {
  return new FedwayError("REQUEST_INVALID", `The queries are not valid CSV: a quote on line ${line} ${what}.`, {
    where: { line },
    next: "Put the whole cell in quotes and double each quote in it.",
  });
}

function lineBreaks(text: string, from: number, to: number): number {
  return text.slice(from, to).match(/\r\n|\n|\r/g)?.length ?? 0;
}
