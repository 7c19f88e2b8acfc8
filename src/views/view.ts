/** A value as text, with how it looks on pages and where it leads there. */
export interface Value {
  readonly text: string;
  /** It is a state: `up`, `work`, `down`, or outlined. */
  readonly mark?: string;
  readonly look?: "code" | "muted";
  /** The moment that it is, in ISO 8601. */
  readonly time?: string;
  /** Catalogue id of the endpoint that it names. */
  readonly endpoint?: string;
  /** Path of the service. */
  readonly path?: string | undefined;
  /** In full, where `text` is short for it. */
  readonly title?: string;
  /** Smaller, behind it. */
  readonly more?: Cell;
  /** From where to where on an axis that ends at `of`. */
  readonly bar?: { readonly from: number; readonly to: number; readonly of: number };
}

/** Several values are a list; undefined is nothing to say, which is not `unknown`. */
export type Cell = string | Value | readonly Cell[] | undefined;

export const unknown: Value = { text: "unknown", look: "muted" };

export type Fact = readonly [label: string, value: Cell];

/** A column whose name begins with `#` is one of numbers. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Something shown to people, for every medium: `viewText` and `viewHtml` write it. */
export interface View {
  readonly title: string;
  readonly facts?: readonly Fact[];
  readonly lines?: readonly Cell[];
  readonly table?: Table;
  /** Text with line ends of its own. */
  readonly code?: string | undefined;
  readonly children?: readonly View[];
}

/** Items without those too many to be named. */
export const firstOf = <Item>(
  names: readonly Item[],
  most: number,
  count = names.length,
): readonly (Item | string)[] =>
  count <= most ? names : [...names.slice(0, most), `and ${count - Math.min(most, names.length)} more`];

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
