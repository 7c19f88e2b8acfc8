import type { FastifyRequest } from "fastify";
import type { TypedApp } from "../http-deps.ts";
import { type Html, html, type Piece } from "../../html.ts";
import { choiceField, type Choices, type Column, page, type SitePart, table } from "./layout.ts";
import { sendPage, sendPrivatePage } from "./page-reply.ts";

/** A parameter that the reader filters by: one of the choices, or free text. */
interface Field {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly choices?: Choices;
}

/** Content of a page that lists things. */
interface List<Row> extends Shown {
  readonly title: string;
  readonly part?: SitePart;
  readonly head?: Html;
  readonly intro: Piece;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Shown instead of rows where no filter is set. */
  readonly empty: Piece;
  /** It differs from reader to reader. */
  readonly isPrivate?: true;
}

/** The part of a list that is shown. */
interface Shown {
  readonly fields?: readonly Field[];
  /** Of this page, and of the one after it. */
  readonly cursor?: string | undefined;
  readonly next?: string | undefined;
}

/** The parameters of a page's request. */
export const searchOf = ({ originalUrl }: FastifyRequest): URLSearchParams => {
  const at = originalUrl.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : originalUrl.slice(at + 1));
};

const address = (path: string, fields: readonly Field[], cursor?: string): string => {
  const given = Object.fromEntries(fields.map(({ name, value }) => [name, value ?? ""]).filter(([, value]) => value));
  const search = new URLSearchParams({ ...given, ...(cursor !== undefined && { cursor }) }).toString();
  return search === "" ? path : `${path}?${search}`;
};

const input = ({ choices, ...field }: Field): Html =>
  choices === undefined
    ? html`<label for="${field.name}">${field.label}</label><input id="${field.name}" name="${field.name}" maxlength="500" value="${field.value ?? ""}">`
    : choiceField({ ...field, choices });

const form = (path: string, fields: readonly Field[]): Html =>
  html`<form class="sorting card" action="${path}" method="get" aria-label="Filter">
${fields.map((field) => html`<div>${input(field)}</div>\n`)}<div class="act"><button>Show</button></div>
</form>
`;

/** Links to the first page and the one after this. */
export const pager = ({ path, fields = [], cursor, next }: Shown & { readonly path: string }): Html =>
  cursor === undefined && next === undefined
    ? html``
    : html`<nav class="pages" aria-label="Pages">${cursor === undefined ? html`<span></span>` : html`<a href="${address(path, fields)}">First page</a>`}${next === undefined ? "" : html`<a rel="next" href="${address(path, fields, next)}">Next page</a>`}</nav>
`;

/** Adds a page that lists things; the API has the same list below `/api`, with the same parameters. */
export const addListPage = <Row>(
  app: TypedApp,
  path: string,
  summary: string,
  listFor: (request: FastifyRequest) => Promise<List<Row>>,
): void =>
  void app.get(path, {
    schema: { tags: ["Pages"], summary },
    handler: async (request, reply) => {
      const list = await listFor(request);
      const text = listPage(path, list);
      return list.isPrivate ? sendPrivatePage(reply, text) : sendPage(request, reply, text);
    },
  });

/** A heading, a form of filters, a table with one row for each thing, and links to more. */
function listPage<Row>(path: string, list: List<Row>): string {
  const { title, part, head, intro, fields = [], columns, rows, empty } = list;
  const isAll = list.cursor === undefined && fields.every(({ value }) => !value);
  const none = isAll ? empty : html`Nothing fits. <a href="${path}">Show all</a>`;
  return page({
    title,
    ...(part && { part }),
    ...(head && { head }),
    main: html`<h1>${title}</h1>
<p class="lead">${intro}</p>
${fields.length === 0 ? "" : form(path, fields)}${
  rows.length === 0 ? html`<p class="card">${none}</p>` : table({ name: title, columns, rows })
}${pager({ ...list, path })}
<p class="small"><a href="/api${address(path, fields, list.cursor)}">As JSON</a></p>`,
  });
}
