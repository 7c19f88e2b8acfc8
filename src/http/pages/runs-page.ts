import { clientOf } from "../../clients/client-name.ts";
import { type Html, html, joined, type Piece } from "../../html.ts";
import type { RunFilter } from "../../query/run-list.ts";
import { elapsedMs } from "../../query/run-list.ts";
import type { RunRecord, RunStatus } from "../../query/records.ts";
import { runUnknown } from "../../query/query-service.ts";
import { uncached } from "../common-headers.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { viewerOf } from "../caller.ts";
import { IdPath } from "../schemas.ts";
import { refuseForeign } from "../write-access.ts";
import { choiceOf } from "./catalog-filter.ts";
import { latencyText, numberText } from "../../figures.ts";
import { marks, meaningOf, runView } from "../../views/run-view.ts";
import { capital, viewHtml } from "../../views/view-html.ts";
import { momentOf } from "./figures.ts";
import { badge, choicesOf, type Column, consolePath, page, section } from "./layout.ts";
import { addListPage, searchOf } from "./list-page.ts";
import { seeOther, sendPage } from "./page-reply.ts";

const tags = ["Pages"];
const statuses: readonly RunStatus[] = ["running", "ok", "empty", "partial", "failed", "cancelled"];
const shownAtOnce = 50;
/** Only where the reader wants it: a page that reloads takes the focus away. */
const again = html`<meta http-equiv="refresh" content="5">
`;

/** Declarations before a query, of which the list shows the beginning. */
const prologue = /^(?:\s*(?:PREFIX|BASE)\s[^>]*>)+\s*/i;

const what = ({ call, plan, asked, queryHash = "" }: RunRecord): Html =>
  asked?.query === undefined
    ? html`${call ?? plan ?? "query"} <code>${queryHash.slice(0, 12)}</code>`
    : html`<code class="query">${asked.query.slice(0, 2_000).replace(prologue, "").slice(0, 200)}</code>`;

const endpointsOf = ({ sources }: RunRecord): Piece => {
  const asked = sources.slice(0, 5).map(({ endpoint }) => endpoint);
  return [joined(asked, ", "), sources.length > 5 ? ` and ${sources.length - 5} more` : ""];
};

const columnsAt = (nowMs: number): readonly Column<RunRecord>[] => [
  ["Started", ({ id, startedAt }) => html`<a href="/runs/${id}">${momentOf(startedAt)}</a>`],
  ["State", ({ status }) => badge(marks[status] ?? "", status)],
  ["#Took", (run) => latencyText(elapsedMs(run, nowMs))],
  ["#Rows", ({ rows }) => (rows === undefined ? undefined : numberText(rows))],
  ["Endpoints", endpointsOf],
  ["Client", ({ client = "" }) => client],
  ["Query", what],
  ["Action", (run) => (run.status === "running" ? cancelForm(run) : "")],
];

const introOf = ({ isOperator, owner }: ReturnType<typeof viewerOf>, isLive: boolean): Html => {
  const client = clientOf(owner);
  return html`${isOperator ? "The runs of all clients." : html`The runs that were sent ${client === undefined ? "from your address" : html`by the client ${client}`}. <a href="/login">Sign in</a> as an operator to see those of all clients.`} ${isLive ? html`Loaded again every 5 seconds. <a href="/runs">Stop</a>` : html`<a href="/runs?live=on&amp;status=running">Watch those under way</a>`}`;
};

function readFilter(search: URLSearchParams): RunFilter {
  return {
    status: choiceOf(search, "status", statuses),
    endpoint: search.get("endpoint")?.slice(0, 500) || undefined,
    order: choiceOf(search, "order", ["longest"]),
    cursor: search.get("cursor") ?? undefined,
    limit: shownAtOnce,
  };
}

/** `/runs`, `/runs/{id}`, and the button that cancels one. */
export function addRunPages(app: TypedApp, shell: HttpShell): void {
  const { queries, catalog, now = Date.now } = shell;
  const pathOf = (endpoint: string): string | undefined =>
    catalog.byId(endpoint) === undefined ? undefined : `/endpoints/${endpoint}`;
  addListPage<RunRecord>(app, "/runs", "Running and recent queries as a page to read", async (request) => {
    const search = searchOf(request);
    const filter = readFilter(search);
    const viewer = viewerOf(request);
    const { runs, next } = await queries.runs(filter, viewer);
    const isLive = search.get("live") === "on";
    const { status, endpoint, order, cursor } = filter;
    return {
      title: "Runs of queries",
      part: "runs",
      ...(isLive && { head: again }),
      intro: introOf(viewer, isLive),
      fields: [
        { name: "status", label: "State", value: status, choices: choicesOf(statuses) },
        { name: "endpoint", label: "Endpoint", value: endpoint },
        { name: "order", label: "Order", value: order, choices: { "": "Newest first", longest: "Longest first" } },
      ],
      columns: columnsAt(now()),
      rows: runs,
      empty: html`No run is known. <a href="/query">Run a query</a>`,
      cursor,
      next,
      isPrivate: true,
    };
  });
  app.get("/runs/:id", {
    schema: { tags, summary: "One run of a query with its steps as a page to read", params: IdPath },
    handler: async (request, reply) => {
      const { owner, isOperator } = viewerOf(request);
      const record = await queries.runRecord(request.params.id, owner);
      if (record === undefined) throw runUnknown();
      // Its owner sees more of it than others, and it changes while it runs.
      return sendPage(request, reply, { text: runPage({ record, pathOf, isOperator }), headers: uncached });
    },
  });
  app.post("/runs/:id/cancel", {
    onRequest: refuseForeign,
    schema: { tags, operationId: "cancelRunFromPage", summary: "Cancel a run, from its page", params: IdPath },
    handler: async (request, reply) => {
      await queries.cancel(request.params.id, viewerOf(request));
      return seeOther(reply, "/runs");
    },
  });
}

/** Content of the page of a run. */
interface ShownRun {
  readonly record: RunRecord;
  readonly pathOf: (endpoint: string) => string | undefined;
  readonly isOperator: boolean;
}

/** The page of one run. */
export function runPage({ record, pathOf, isOperator }: ShownRun): string {
  const { id, status, asked } = record;
  // Only its owner sees what it was asked.
  const mayCancel = status === "running" && (isOperator || asked !== undefined);
  const { facts = [], children = [] } = runView(record);
  return page({
    title: `Run ${id}`,
    main: html`<p class="crumbs"><a href="/query">Query</a> / <code>${id}</code></p>
<div class="titled"><h1>Run of a query</h1>${badge(marks[status] ?? "", status)}${mayCancel ? cancelForm(record) : ""}</div>
<p class="lead">${meaningOf(record)}${status === "running" ? " Load this page again to see how it goes on." : ""}</p>
${section("facts", "What happened", viewHtml({ title: "", facts }, pathOf))}
${children.map((child, at) => section(`part${at}`, capital(child.title), viewHtml(child, pathOf)))}
${inConsole(record)}<p><a href="/api/runs/${encodeURIComponent(id)}">As JSON</a></p>`,
  });
}

/** The button that ends a run. */
const cancelForm = ({ id }: RunRecord): Html =>
  html`<form method="post" action="/runs/${id}/cancel"><button aria-label="Cancel ${id}">Cancel</button></form>`;

function inConsole({ asked }: RunRecord): Html {
  if (asked?.query === undefined) return html``;
  const { query, endpoint, federation } = asked;
  const target = { ...(endpoint !== undefined && { endpoint }), ...(federation !== undefined && { federation }) };
  return html`<p><a href="${consolePath(query, target)}">Open it in the console</a></p>\n`;
}
