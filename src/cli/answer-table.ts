import type { Readable } from "node:stream";
import { termFromText } from "../results/terms.ts";
import { oneLine } from "./output.ts";

/** Rows by which the widths of the columns are chosen. */
const sampleRows = 500;
const widestCell = 60;
const gap = "  ";

/**
 * An answer in SPARQL 1.1 TSV as lines for people: aligned columns, terms without their syntax, long ones cut. Rows are
 * printed as they come once the first 500, or all, are there.
 */
export async function* tableLines(body: Buffer | Readable, longest = widestCell): AsyncGenerator<string> {
  let sample: string[][] | undefined = [];
  let widths: readonly number[] = [];
  let rows = -1;
  for await (const line of linesOf(body)) {
    rows++;
    const cells = line.split("\t").map((cell) => (rows === 0 ? cell.replace(/^\?/, "") : shown(cell, longest)));
    if (sample === undefined) {
      yield aligned(cells, widths);
      continue;
    }
    sample.push(cells);
    if (sample.length <= sampleRows) continue;
    widths = widthsOf(sample);
    yield* head(sample, widths);
    sample = undefined;
  }
  if (sample !== undefined) yield* head(sample, widthsOf(sample));
  if (rows === 0) yield "(no rows)\n";
}

/** The last one may lack its end. */
async function* linesOf(body: Buffer | Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of Buffer.isBuffer(body) ? [body] : body) {
    const lines = (rest + decoder.decode(Buffer.from(chunk), { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

function shown(cell: string, longest: number): string {
  if (cell === "") return "";
  const characters = Array.from(oneLine(valueOf(cell)));
  return characters.length > longest ? `${characters.slice(0, longest - 1).join("")}…` : characters.join("");
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

const aligned = (cells: readonly string[], widths: readonly number[]): string =>
  `${cells
    .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(cell))))
    .join(gap)
    .trimEnd()}\n`;

/** The names of the columns, a rule, and the first rows. */
function* head([names = [], ...rows]: readonly (readonly string[])[], widths: readonly number[]): Generator<string> {
  yield aligned(names, widths);
  yield `${widths.map((width) => "-".repeat(width)).join(gap)}\n`;
  for (const row of rows) yield aligned(row, widths);
}
