import { type Html, html, joined, type Piece } from "../html.ts";
import { latencyText } from "../figures.ts";
import type { Cell, Table, Value, View } from "./view.ts";

/** Where the path of an endpoint's page is, for those that have one. */
type PathOf = (endpoint: string) => string | undefined;

/** A view as HTML without its title; its children come under headings. */
export const viewHtml = (
  { title, facts = [], lines = [], table: rows, code, children = [] }: View,
  pathOf: PathOf = () => undefined,
): Html =>
  html`${lines.length === 0 ? "" : html`<ul class="plain">${lines.map((line) => html`<li>${cellHtml(line, pathOf)}</li>\n`)}</ul>`}${facts.length === 0 ? "" : html`<dl class="facts">\n${facts.map(([label, value]) => factHtml(label, value, pathOf))}</dl>`}${rows === undefined ? "" : tableHtml(title, rows, pathOf)}${code === undefined ? "" : html`<pre tabindex="0" role="group" aria-label="${title}">${code}</pre>`}${children.map((child) => html`<h3>${capital(child.title)}</h3>\n${viewHtml(child, pathOf)}`)}`;

/** `Some words` for headings. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const longestShort = 30;

const factHtml = (label: string, value: Cell, pathOf: PathOf): Html =>
  value === undefined ? html`` : fact(capital(label), cellHtml(value, pathOf), isLong(value));

const isLong = (cell: Cell): boolean =>
  cell !== undefined && (typeof cell === "string" ? cell : "text" in cell ? cell.text : "").length > longestShort;

function cellHtml(cell: Cell, pathOf: PathOf): Html {
  if (cell === undefined || typeof cell === "string") return html`${cell}`;
  if (!("text" in cell))
    return html`${joined(
      cell.map((each) => cellHtml(each, pathOf)),
      ", ",
    )}`;
  const { more, endpoint, title, path = endpoint === undefined ? undefined : pathOf(endpoint) } = cell;
  const shown = lookOf(cell);
  const linked =
    path === undefined
      ? shown
      : html`<a href="${path}"${title === undefined ? "" : html` title="${title}"`}>${shown}</a>`;
  return more === undefined ? linked : html`${linked} <span class="small muted">${cellHtml(more, pathOf)}</span>`;
}

function lookOf({ text, mark, look, time, bar }: Value): Html {
  if (bar !== undefined) return barHtml(bar);
  if (mark !== undefined) return badge(mark, text);
  if (time !== undefined) return html`<time datetime="${time}">${text}</time>`;
  if (look === "code") return html`<code>${text}</code>`;
  return look === "muted" ? html`<span class="muted">${text}</span>` : html`${text}`;
}

/** Units of a bar's coordinates. */
const width = 1000;

function barHtml({ from, to, of }: NonNullable<Value["bar"]>): Html {
  const length = Math.max(6, Math.round(((to - from) / of) * width));
  const x = Math.min(width - length, Math.round((from / of) * width));
  return html`<svg class="span" viewBox="0 0 ${width} 10" preserveAspectRatio="none" role="img" aria-label="from ${latencyText(from)} to ${latencyText(to)}"><rect class="track" width="${width}" height="10"/><rect class="bar" x="${x}" width="${length}" height="10"/></svg>`;
}

const tableHtml = (name: string, { columns, rows }: Table, pathOf: PathOf): Html =>
  table({
    name: capital(name),
    columns: columns.map((head, at): Column<readonly Cell[]> => [head, (row) => cellHtml(row[at], pathOf)]),
    rows,
  });

/** Mark of one state; the text carries the meaning, mark and colour repeat it. */
export const badge = (state: string, text = state): Html => html`<span class="badge ${state}">${text}</span>`;

/** A head, which begins with `#` above numbers, and the cell of a row; an undefined one is shown as unknown. */
export type Column<Row> = readonly [head: string, cell: (row: Row) => Piece];

interface TableContent<Row> {
  /** For screen readers. */
  readonly name: string;
  readonly caption?: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
}

/** A table that scrolls sideways on its own; the first cell of a row names it. */
export const table = <Row>({ name, caption, columns, rows }: TableContent<Row>): Html =>
  html`<div class="scroll" role="group" aria-label="${name}" tabindex="0"><table>
${caption === undefined ? "" : html`<caption>${caption}</caption>\n`}<thead><tr>${columns.map(([head]) => html`<th scope="col"${numeric(head)}>${head.replace(/^#/, "")}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${columns.map(([head, cell], at) => cellOf(head, at, cell(row)))}</tr>\n`)}</tbody></table></div>
`;

const numeric = (head: string): Piece => (head.startsWith("#") ? html` class="n"` : "");
const muted = html`<span class="muted">unknown</span>`;

const cellOf = (head: string, at: number, piece: Piece = muted): Html =>
  at === 0 ? html`<th scope="row">${piece}</th>` : html`<td${numeric(head)}>${piece}</td>`;

/** A name and a value in a list of facts; `long` ones take a line of their own. */
export const fact = (name: string, value: Html | string | undefined, long = false): Html =>
  value === undefined
    ? html``
    : html`<div${long ? html` class="long"` : ""}><dt>${name}</dt><dd>${value}</dd></div>
`;
