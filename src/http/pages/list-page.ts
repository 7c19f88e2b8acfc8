import type { FastifyRequest } from "fastify";
import { type Html, html, type Piece } from "../../html.ts";
import { option, page, type SitePart, table } from "./layout.ts";

/** A column of a list; a head that begins with `#` is that of numbers. Undefined cells are shown as not known. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => Piece;
}

/** A parameter that the reader filters by: one of the choices (value and text), or free text. */
interface Field {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly choices?: Readonly<Record<string, string>>;
}

/** Content of a page that lists things. */
interface List<Row> {
  readonly title: string;
  readonly part?: SitePart;
  readonly head?: Html;
  /** Of the page; the API has the same list below `/api`, with the same parameters. */
  readonly path: string;
  readonly intro: Piece;
  readonly fields?: readonly Field[];
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Shown instead of rows where no filter is set. */
  readonly empty: Piece;
  /** Of this page, and of the one after it. */
  readonly cursor?: string | undefined;
  readonly next?: string | undefined;
}

/** The parameters of a page's request. */
export const searchOf = ({ originalUrl }: FastifyRequest): URLSearchParams => {
  const at = originalUrl.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : originalUrl.slice(at + 1));
};

/** Choices of a field that are shown as they are sent, after one for any. */
export const choicesOf = (names: readonly string[]): Readonly<Record<string, string>> => ({
  "": "Any",
  ...Object.fromEntries(names.map((name) => [name, name])),
});

const address = (path: string, fields: readonly Field[], cursor?: string): string => {
  const given = Object.fromEntries(fields.map(({ name, value }) => [name, value ?? ""]).filter(([, value]) => value));
  const search = new URLSearchParams({ ...given, ...(cursor !== undefined && { cursor }) }).toString();
  return search === "" ? path : `${path}?${search}`;
};

const input = ({ name, value = "", choices }: Field): Html =>
  choices === undefined
    ? html`<input id="${name}" name="${name}" maxlength="500" value="${value}">`
    : html`<select id="${name}" name="${name}">${Object.entries(choices).map(([each, text]) => option(each, text, each === value))}</select>`;

const form = (path: string, fields: readonly Field[]): Html =>
  html`<form class="sorting card" action="${path}" method="get" aria-label="Filter">
${fields.map((field) => html`<div><label for="${field.name}">${field.label}</label>${input(field)}</div>\n`)}<div class="act"><button>Show</button></div>
</form>
`;

const unknown = html`<span class="muted">not known</span>`;

const rowOf = <Row>(columns: readonly Column<Row>[], row: Row): Html =>
  html`<tr>${columns.map(({ head, cell }, at) => {
    const piece = cell(row) ?? unknown;
    if (at === 0) return html`<th scope="row">${piece}</th>`;
    return head.startsWith("#") ? html`<td class="n">${piece}</td>` : html`<td>${piece}</td>`;
  })}</tr>
`;

const pager = <Row>({ path, fields = [], cursor, next }: List<Row>): Html =>
  cursor === undefined && next === undefined
    ? html``
    : html`<nav class="pages" aria-label="Pages">${cursor === undefined ? html`<span></span>` : html`<a href="${address(path, fields)}">First page</a>`}${next === undefined ? "" : html`<a rel="next" href="${address(path, fields, next)}">Next page</a>`}</nav>
`;

/** The rows of a list as a table. */
export const listTable = <Row>(name: string, columns: readonly Column<Row>[], rows: readonly Row[]): Html =>
  table({ name, heads: columns.map(({ head }) => head), rows: rows.map((row) => rowOf(columns, row)) });

/** A page with a heading, a form of filters, a table with one row for each thing, and links to more. */
export function listPage<Row>(list: List<Row>): string {
  const { title, part, head, path, intro, fields = [], columns, rows, empty } = list;
  const isAll = list.cursor === undefined && fields.every(({ value }) => !value);
  const none = isAll ? empty : html`Nothing fits. <a href="${path}">Show all</a>`;
  return page({
    title,
    ...(part && { part }),
    ...(head && { head }),
    main: html`<h1>${title}</h1>
<p class="lead">${intro}</p>
${fields.length === 0 ? "" : form(path, fields)}${
  rows.length === 0 ? html`<p class="card">${none}</p>` : listTable(title, columns, rows)
}${pager(list)}
<p class="small"><a href="/api${address(path, fields, list.cursor)}">As JSON</a></p>`,
  });
}
