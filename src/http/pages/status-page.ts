import { type HealthState, healthStates, type Incident, type MaintenanceWindow } from "../../monitor/monitor.ts";
import { amountText, numberText } from "../../figures.ts";
import { heartbeatBanner, heartbeatFacts, latencyOf, moment, noData, uptimeOf } from "./figures.ts";
import { type Html, html, type Piece } from "../../html.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { readingOf } from "./endpoint-page.ts";
import { openIncidentList } from "./incident-page.ts";
import { badge, choiceField, choicesOf, endpointLink, page, section } from "./layout.ts";
import { createStrips, hourScale, stripKey } from "./strip.ts";
import { windowList } from "./maintenance-forms.ts";
import {
  readStatusFilter,
  sortedRows,
  type StatusFilter,
  statusPath,
  statusRow,
  type StatusRow,
  type StatusSort,
  sorts,
  usualOrder,
} from "./status-rows.ts";
import { pageAt } from "../paging.ts";
import { pager, searchOf } from "./list-page.ts";
import { sendPage } from "./page-reply.ts";

const shownAtOnce = 100;

/** Content of the status page. */
async function shownStatus(shell: HttpShell, search: URLSearchParams) {
  const { monitor, catalog, ready, now = Date.now } = shell;
  const filter = readStatusFilter(search);
  const { state } = ready().checks;
  const [incidents, windows] = await Promise.all([
    readingOf(monitor.incidents({ open: true })),
    readingOf(monitor.maintenance()),
  ]);
  const all = monitor.all();
  const titleOf = (id: string): string => catalog.byId(id)?.title ?? id;
  const fitting = filter.state === undefined ? all : all.filter((health) => health.state === filter.state);
  const rows = fitting.map((health) => statusRow(health, titleOf(health.endpoint)));
  return {
    filter,
    all,
    fitting: fitting.length,
    page: pageAt(await sortedRows(rows, filter), { limit: shownAtOnce, cursor: filter.cursor }),
    titleOf,
    heartbeat: monitor.heartbeat(),
    incidents,
    maintenance: windows.ok ? windows.value : [],
    storeProblem: state?.ok === false ? state.detail : undefined,
    nowMs: now(),
  };
}

type ShownStatus = Awaited<ReturnType<typeof shownStatus>>;

/** `/status`. */
export const addStatusPage = (app: TypedApp, shell: HttpShell): void =>
  void app.get("/status", {
    schema: { tags: ["Pages"], summary: "The state of all endpoints as a page to read" },
    handler: async (request, reply) =>
      sendPage(request, reply, statusPage(await shownStatus(shell, searchOf(request)))),
  });

const storeBanner = (problem: string | undefined): Html =>
  problem === undefined
    ? html``
    : html`<div class="banner down"><p><strong>The service cannot store anything now.</strong> Its storage ${problem}</p></div>
`;

function tile(shown: ShownStatus, state: HealthState | undefined): Html {
  const { all, filter } = shown;
  const count = state === undefined ? all.length : all.filter((health) => health.state === state).length;
  const { sort, order } = filter;
  const path = statusPath({ sort, order, state });
  return html`<li><a class="${state ?? "all"}" href="${path}"${filter.state === state ? html` aria-current="true"` : ""}><b>${numberText(count)}</b> ${state === undefined ? "endpoints" : state}</a></li>
`;
}

const tiles = (shown: ShownStatus): Html => html`<ul class="tiles" aria-label="Endpoints by state">
${[undefined, ...healthStates].map((state) => tile(shown, state))}</ul>
`;

const mostInSight = 10;

/** The newest incidents in sight, the others a click away; says how many there are where not all were read. */
function incidentLists(incidents: readonly Incident[], total: number, shown: ShownStatus): Html {
  const list = (some: readonly Incident[]): Html => openIncidentList(some, shown);
  const others = incidents.slice(mostInSight);
  const left = total - incidents.length;
  return html`${list(incidents.slice(0, mostInSight))}${
    others.length === 0
      ? ""
      : html`<details><summary>${numberText(others.length)} more</summary>\n${list(others)}</details>\n`
  }${left > 0 ? html`<p class="muted">${amountText(left, "older one")} not shown.</p>\n` : ""}`;
}

const incidentLinks = html`<a href="/incidents">All incidents</a>, <a href="/incidents.atom">follow the feed</a>`;

function openIncidents(shown: ShownStatus): Html {
  const { incidents: read, all } = shown;
  if (!read.ok) {
    return html`<div class="banner down"><p><strong>Incidents cannot be read now.</strong> There may be open ones.</p></div>
`;
  }
  const { value: incidents } = read;
  const total = Math.max(incidents.length, new Set(all.flatMap(({ incident }) => incident ?? [])).size);
  if (total === 0)
    return html`<p>There is no open incident. ${incidentLinks}</p>
`;
  return html`<section class="card open" aria-labelledby="open"><h2 id="open">${amountText(total, "open incident")}</h2>
${incidentLists(incidents, total, shown)}<p class="small">${incidentLinks}</p></section>
`;
}

const sortTexts: Readonly<Record<StatusSort, string>> = {
  name: "Name",
  state: "State",
  uptime: "Uptime 24 h",
  latency: "Latency",
  since: "Since (UTC)",
};

const sortForm = ({
  filter,
}: ShownStatus): Html => html`<form class="sorting card" action="/status" method="get" aria-label="What is shown">
<div>${choiceField({ name: "state", label: "State", value: filter.state, choices: choicesOf(healthStates) })}</div>
<div>${choiceField({ name: "sort", label: "Sort by", value: filter.sort, choices: sortTexts })}</div>
<div>${choiceField({ name: "order", label: "Order", value: filter.order, choices: { asc: "Ascending", desc: "Descending" } })}</div>
<div class="act"><button>Show</button></div>
</form>
`;

/** Columns that a phone has no room for, unless the rows are sorted by them. */
const hidesOnPhones = (column: StatusSort, { sort }: StatusFilter): boolean =>
  (column === "latency" || column === "since" || (column === "uptime" && (sort === "latency" || sort === "since"))) &&
  column !== sort;

const numeric = (column: StatusSort): boolean => column === "uptime" || column === "latency";

function columnClass(column: StatusSort, filter: StatusFilter): Html {
  const names = [...(numeric(column) ? ["n"] : []), ...(hidesOnPhones(column, filter) ? ["rest"] : [])];
  return names.length === 0 ? html`` : html` class="${names.join(" ")}"`;
}

function columnHead(column: StatusSort, filter: StatusFilter): Html {
  const isSorted = column === filter.sort;
  const turned = filter.order === "asc" ? "desc" : "asc";
  const { state } = filter;
  const path = statusPath({ state, sort: column, order: isSorted ? turned : usualOrder[column] });
  const sorting = isSorted ? html` aria-sort="${filter.order === "asc" ? "ascending" : "descending"}"` : "";
  return html`<th scope="col"${columnClass(column, filter)}${sorting}><a href="${path}">${sortTexts[column]}</a></th>`;
}

function rowHtml(
  { health, title, latencyMs, ...probed }: StatusRow,
  strip: ReturnType<typeof createStrips>,
  filter: StatusFilter,
): Html {
  const { endpoint, state, sinceMs, maintenanceUntilMs, hours } = health;
  const cell = (column: StatusSort, piece: Piece): Html => html`<td${columnClass(column, filter)}>${piece}</td>`;
  return html`<tr><th scope="row">${endpointLink(endpoint, title)}</th><td>${badge(state)}${
    maintenanceUntilMs === undefined ? "" : html` ${badge("work", "maintenance")}`
  }</td>${cell("uptime", uptimeOf(probed))}${cell("latency", latencyOf(latencyMs))}${cell("since", sinceMs === undefined ? noData : moment(sinceMs, false))}<td>${strip(hours)}</td></tr>
`;
}

function fleet({ filter, all, fitting, page: { items, next }, nowMs }: ShownStatus): Html {
  if (fitting === 0)
    return html`<p class="card">${all.length === 0 ? "The catalogue is empty." : "No endpoint is in this state."}</p>
`;
  const { sort, order, state, cursor } = filter;
  const fields = Object.entries({ sort, order, state }).map(([name, value]) => ({ name, label: name, value }));
  const strip = createStrips(hourScale(nowMs));
  return html`<div class="fleet"><table>
<caption>${amountText(fitting, "endpoint")}, sorted by ${sortTexts[filter.sort].toLowerCase()}, ${filter.order === "asc" ? "ascending" : "descending"}. Latency is the median of the hourly medians of 24 hours.</caption>
<thead><tr>${sorts.map((column) => columnHead(column, filter))}<th scope="col">Last 24 h</th></tr></thead>
<tbody>
${items.map((row) => rowHtml(row, strip, filter))}</tbody></table></div>
${pager({ path: "/status", fields, cursor, next })}`;
}

/** The state of all endpoints. */
function statusPage(shown: ShownStatus): string {
  const { heartbeat } = shown;
  return page({
    title: "Status",
    part: "status",
    main: html`<h1>Status</h1>
${storeBanner(shown.storeProblem)}${heartbeatBanner(heartbeat)}${tiles(shown)}${openIncidents(shown)}${sortForm(shown)}${stripKey("hour")}
<section aria-label="Endpoints">
${fleet(shown)}</section>
${maintenance(shown)}${section("monitor", "The monitor itself", heartbeatFacts(heartbeat))}
<p class="small"><a href="/api/status">As JSON</a></p>`,
  });
}

const mostWindows = 20;

function maintenance({ maintenance: windows, titleOf, nowMs }: ShownStatus): Html {
  if (windows.length === 0) return html``;
  const link = ({ endpoint }: MaintenanceWindow): Html => endpointLink(endpoint, titleOf(endpoint));
  const left = windows.length - mostWindows;
  const more = left > 0 ? html`<p class="muted">${amountText(left, "later one")} not shown.</p>\n` : "";
  return section("maintenance", "Maintenance", html`${windowList(windows.slice(0, mostWindows), nowMs, link)}${more}`);
}
