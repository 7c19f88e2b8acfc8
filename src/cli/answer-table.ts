import type { Readable, Writable } from "node:stream";
import { linesOf } from "../lines.ts";
import { termFromText } from "../results/terms.ts";
import { oneLine } from "./output.ts";
import { styled, styledState, widthOf } from "./terminal.ts";

/** Rows by which the widths of the columns are chosen. */
const sampleRows = 500;
const widestCell = 60;
const gap = "  ";

interface TableOptions {
  /** In characters. */
  readonly longest?: number;
  /** Name of the column whose cells are states. */
  readonly states?: string | undefined;
}

/**
 * An answer in SPARQL 1.1 TSV as lines for people: aligned columns, terms without their syntax, long ones cut, lines cut to
 * the width of the terminal. Rows are printed as they come once the first 500, or all, are there.
 */
export async function* tableLines(
  body: Buffer | Readable,
  stream: Writable,
  { longest = widestCell, states }: TableOptions = {},
): AsyncGenerator<string> {
  let sample: string[][] | undefined = [];
  let layout: Layout = { stream, widths: [], states: -1 };
  let rows = -1;
  for await (const line of linesOf(Buffer.isBuffer(body) ? [body] : body)) {
    rows++;
    const cells = line.split("\t").map((cell) => (rows === 0 ? cell.replace(/^\?/, "") : shown(cell, longest)));
    if (sample === undefined) {
      yield aligned(cells, layout);
      continue;
    }
    sample.push(cells);
    if (sample.length <= sampleRows) continue;
    layout = layoutOf(sample, stream, states);
    yield* head(sample, layout);
    sample = undefined;
  }
  if (sample !== undefined) yield* head(sample, layoutOf(sample, stream, states));
  if (rows === 0) yield "(no rows)\n";
}

const shown = (cell: string, longest: number): string => (cell === "" ? "" : cut(oneLine(valueOf(cell)), longest));

function cut(text: string, longest: number): string {
  const characters = Array.from(text);
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : text;
}

/** Cells that are no terms are shown as they came. */
function valueOf(cell: string): string {
  try {
    return termFromText(cell).value;
  } catch {
    return cell;
  }
}

const widthsOf = (rows: readonly (readonly string[])[]): readonly number[] =>
  (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => lengthOf(row[column] ?? ""))));

/** In characters, not UTF-16 code units. */
const lengthOf = (text: string): number => Array.from(text).length;

interface Layout {
  readonly stream: Writable;
  readonly widths: readonly number[];
  /** Place of the column of states; -1 for none. */
  readonly states: number;
}

const layoutOf = (rows: readonly (readonly string[])[], stream: Writable, states: string | undefined): Layout => ({
  stream,
  widths: widthsOf(rows),
  states: states === undefined ? -1 : (rows[0] ?? []).indexOf(states),
});

function aligned(cells: readonly string[], { stream, widths, states }: Layout): string {
  const padded = cells.map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(cell))));
  const line = cut(padded.join(gap).trimEnd(), widthOf(stream));
  const from = padded.slice(0, Math.max(0, states)).reduce((sum, cell) => sum + cell.length + gap.length, 0);
  const state = cells[states] ?? "";
  if (!line.startsWith(state, from)) return `${line}\n`;
  return `${line.slice(0, from)}${styledState(stream, state)}${line.slice(from + state.length)}\n`;
}

/** The names of the columns, a rule, and the first rows. */
function* head([names = [], ...rows]: readonly (readonly string[])[], layout: Layout): Generator<string> {
  const { stream, widths } = layout;
  yield `${styled(stream, "bold", aligned(names, layout).trimEnd())}\n`;
  yield `${cut(widths.map((width) => "-".repeat(width)).join(gap), widthOf(stream))}\n`;
  for (const row of rows) yield aligned(row, layout);
}
