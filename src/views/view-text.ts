import type { Cell, Table, View } from "./view.ts";

/** A view as indented text for people. Ends without a line break. */
export const viewText = (view: View): string => linesOf(view).join("\n");

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

function linesOf({ title, facts = [], lines = [], table, code = "", children = [] }: View): string[] {
  const own = [
    ...lines.map((line) => cellText(line)),
    ...facts.flatMap(([label, value]) => (value === undefined ? [] : `${label} ${cellText(value)}`)),
    ...(table === undefined ? [] : tableLines(table)),
    ...(code.match(/^[^\S\r\n\u2028\u2029]*\S.*$/gm) ?? []).map((line) => line.trimEnd()),
    ...children.flatMap(linesOf),
  ];
  return [title, ...indented(own)];
}

/** A value in a line. */
function cellText(cell: Cell, most = Number.POSITIVE_INFINITY): string {
  if (cell === undefined) return "";
  if (typeof cell === "string") return cut(cell, most);
  if (!("text" in cell)) return cut(cell.map((each) => cellText(each)).join(", "), most);
  const more = cellText(cell.more, most);
  return more === "" ? cut(cell.text, most) : `${cut(cell.text, most)} (${more})`;
}

const widestCell = 60;

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text;

/** Aligned columns, those of numbers to the right. */
function tableLines({ columns, rows }: Table): string[] {
  const cells = [
    columns.map((name) => name.replace("#", "")),
    ...rows.map((row) => row.map((cell) => cellText(cell, widestCell).replaceAll(/\s+/g, " "))),
  ];
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const aligned = (text: string, at: number): string =>
    columns[at]?.startsWith("#") ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0);
  return cells.map((row) => row.map(aligned).join("  ").trimEnd());
}
