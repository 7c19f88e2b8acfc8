import { clientOf } from "../../clients/client-name.ts";
import { type Html, html, joined } from "../../html.ts";
import type { ListedRuns, RunFilter } from "../../query/run-list.ts";
import { elapsedMs } from "../../query/run-list.ts";
import type { RunRecord, RunStatus } from "../../query/run-log.ts";
import { runUnknown } from "../../query/query-service.ts";
import { marks } from "../../query/run-text.ts";
import { uncached } from "../common-headers.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { viewerOf } from "../ownership.ts";
import { IdPath } from "../schemas.ts";
import { refuseForeign } from "../write-access.ts";
import { choiceOf } from "./catalog-filter.ts";
import { latencyText, momentOf, numberText } from "./figures.ts";
import { badge, option, page, table } from "./layout.ts";
import { privateHeaders, sendPage, sendPrivatePage } from "./page-reply.ts";
import { cancelForm, runPage } from "./run-page.ts";

const tags = ["Pages"];
const statuses: readonly RunStatus[] = ["running", "ok", "empty", "partial", "failed", "cancelled"];
const shownAtOnce = 50;
/** Only where the reader wants it: a page that reloads takes the focus away. */
const again = html`<meta http-equiv="refresh" content="5">
`;

/** What the page of all runs shows. */
interface ShownRuns {
  readonly listed: ListedRuns;
  readonly filter: RunFilter;
  /** Loads again and again. */
  readonly isLive: boolean;
  readonly isOperator: boolean;
  /** Who looks. */
  readonly owner: string;
  readonly nowMs: number;
}

const what = ({ call, plan, asked, queryHash = "" }: RunRecord): Html =>
  asked?.query === undefined
    ? html`${call ?? plan ?? "query"} <code>${queryHash.slice(0, 12)}</code>`
    : html`<code>${asked.query.slice(0, 200)}</code>`;

const runRow =
  (nowMs: number) =>
  (run: RunRecord): Html => {
    const { id, status, startedAt, rows, sources, client } = run;
    const asked = joined(
      sources.slice(0, 5).map(({ endpoint }) => html`${endpoint}`),
      ", ",
    );
    const more = sources.length > 5 ? ` and ${sources.length - 5} more` : "";
    return html`<tr><th scope="row"><a href="/runs/${id}">${momentOf(startedAt)}</a></th><td>${badge(marks[status] ?? "", status)}</td><td class="n">${latencyText(elapsedMs(run, nowMs))}</td><td class="n">${rows === undefined ? html`<span class="muted">not known</span>` : numberText(rows)}</td><td>${asked}${more}</td><td>${client ?? ""}</td><td>${what(run)}</td><td>${status === "running" ? cancelForm(run) : ""}</td></tr>
`;
  };

const heads = ["Started", "State", "#Took", "#Rows", "Endpoints", "Client", "Query", "Act"];

const searchOf = ({ status, endpoint, order }: RunFilter, cursor: string): string =>
  `?${new URLSearchParams({ ...(status && { status }), ...(endpoint && { endpoint }), ...(order && { order }), cursor }).toString()}`;

/** The page of runs: one's own, an operator's all. */
function runsPage({ listed: { runs, next }, filter, isLive, isOperator, owner, nowMs }: ShownRuns): string {
  const client = clientOf(owner);
  return page({
    title: "Runs - Fedway",
    part: "runs",
    ...(isLive && { head: again }),
    main: html`<h1>Runs of queries</h1>
<p class="lead">${isOperator ? "The runs of all clients." : html`The runs that were sent ${client === undefined ? "from your address" : html`by the client ${client}`}. <a href="/login">Sign in</a> as an operator to see those of all clients.`} ${isLive ? html`Loaded again every 5 seconds. <a href="/runs">Stop</a>` : html`<a href="/runs?live=on&amp;status=running">Watch those under way</a>`}</p>
<form class="sorting card" action="/runs" method="get" aria-label="What is shown">
<div><label for="status">State</label><select id="status" name="status">${option("", "Any", filter.status === undefined)}${statuses.map((each) => option(each, each, each === filter.status))}</select></div>
<div><label for="endpoint">Endpoint</label><input id="endpoint" name="endpoint" maxlength="500" value="${filter.endpoint ?? ""}"></div>
<div><label for="order">Order</label><select id="order" name="order">${option("newest", "Newest first", filter.order !== "longest")}${option("longest", "Longest first", filter.order === "longest")}</select></div>
<div class="act"><button>Show</button></div>
</form>
${runs.length === 0 ? html`<p class="muted">None is known.</p>` : table({ name: "Runs", heads, rows: runs.map(runRow(nowMs)) })}
${next === undefined ? "" : html`<p><a href="/runs${searchOf(filter, next)}">More</a></p>`}`,
  });
}

function readFilter(search: URLSearchParams): RunFilter {
  return {
    status: choiceOf(search, "status", statuses),
    endpoint: search.get("endpoint")?.slice(0, 500) || undefined,
    order: search.get("order") === "longest" ? "longest" : "newest",
    cursor: search.get("cursor") ?? undefined,
    limit: shownAtOnce,
  };
}

/** `/runs`, `/runs/{id}`, and the button that cancels one. */
export function addRunPages(app: TypedApp, shell: HttpShell): void {
  const { queries, catalog, now = Date.now } = shell;
  const isKnown = (endpoint: string): boolean => catalog.byId(endpoint) !== undefined;
  app.get("/runs", {
    schema: { tags, summary: "Running and recent queries as a page to read" },
    handler: async (request, reply) => {
      const search = new URLSearchParams(request.url.split("?", 2)[1]);
      const filter = readFilter(search);
      const viewer = viewerOf(request);
      const listed = await queries.runs(filter, viewer);
      return sendPrivatePage(
        reply,
        runsPage({ listed, filter, isLive: search.get("live") === "on", ...viewer, nowMs: now() }),
      );
    },
  });
  app.get("/runs/:id", {
    schema: { tags, summary: "One run of a query with its steps as a page to read", params: IdPath },
    handler: async (request, reply) => {
      const { owner, isOperator } = viewerOf(request);
      const record = await queries.runRecord(request.params.id, owner);
      if (record === undefined) throw runUnknown();
      // Its owner sees more of it than others, and it changes while it runs.
      return sendPage(request, reply, { text: runPage({ record, isKnown, isOperator }), headers: uncached });
    },
  });
  app.post("/runs/:id/cancel", {
    onRequest: refuseForeign,
    schema: { tags, operationId: "cancelRunFromPage", summary: "Cancel a run, from its page", params: IdPath },
    handler: async (request, reply) => {
      await queries.cancel(request.params.id, viewerOf(request));
      return reply.headers(privateHeaders).redirect("/runs", 303);
    },
  });
}
