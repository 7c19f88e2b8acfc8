import type { EndpointHealth, Heartbeat, HealthState, Incident } from "../../monitor/monitor.ts";
import { amountText, latencyText, moment, numberText, percentText } from "./figures.ts";
import { heartbeatBanner, heartbeatFacts } from "./heartbeat.ts";
import { type Html, html } from "../../html.ts";
import { openIncidentList } from "./incident-parts.ts";
import { badge, page, section } from "./layout.ts";
import {
  healthStates,
  sortedRows,
  sorts,
  type StatusRow,
  statusPath,
  statusRow,
  type StatusSort,
  type StatusWish,
  usualOrder,
} from "./status-rows.ts";
import { createStrips, hourScale, stripKey } from "./strip.ts";

/** What the status page shows. */
export interface ShownStatus {
  readonly wish: StatusWish;
  readonly all: readonly EndpointHealth[];
  readonly titleOf: (endpoint: string) => string;
  readonly heartbeat: Heartbeat;
  /** Those that are open; undefined when they cannot be read. */
  readonly incidents: readonly Incident[] | undefined;
  readonly nowMs: number;
  readonly version: string;
}

const stateTexts: Readonly<Record<HealthState, string>> = {
  up: "up",
  down: "down",
  unknown: "unknown",
};

function tile(shown: ShownStatus, state: HealthState | undefined): Html {
  const { all, wish } = shown;
  const count = state === undefined ? all.length : all.filter((health) => health.state === state).length;
  const { sort, order } = wish;
  const path = statusPath({ sort, order, ...(state !== undefined && { state }) });
  return html`<li><a class="${state ?? "all"}" href="${path}"${wish.state === state ? html` aria-current="true"` : ""}><b>${numberText(count)}</b> ${state === undefined ? "endpoints" : stateTexts[state]}</a></li>
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

function openIncidents(shown: ShownStatus): Html {
  const { incidents, all } = shown;
  if (incidents === undefined) {
    return html`<div class="banner down"><p><strong>Incidents cannot be read now.</strong> There may be open ones.</p></div>
`;
  }
  const total = Math.max(incidents.length, all.filter(({ incident }) => incident !== undefined).length);
  if (total === 0)
    return html`<p>There is no open incident. <a href="/incidents.atom">Follow the feed</a></p>
`;
  return html`<section class="card open" aria-labelledby="open"><h2 id="open">${amountText(total, "open incident")}</h2>
${incidentLists(incidents, total, shown)}<p class="small"><a href="/incidents.atom">Follow the feed</a></p></section>
`;
}

const sortTexts: Readonly<Record<StatusSort, string>> = {
  name: "Name",
  state: "State",
  uptime: "Uptime 24 h",
  latency: "Latency",
  since: "Since (UTC)",
};

const option = (value: string, text: string, isChosen: boolean): Html =>
  html`<option value="${value}"${isChosen ? html` selected` : ""}>${text}</option>`;

const sortForm = ({
  wish,
}: ShownStatus): Html => html`<form class="sorting card" action="/status" method="get" aria-label="What is shown">
<div><label for="state">State</label><select id="state" name="state">${option("", "Any", wish.state === undefined)}${healthStates.map((each) => option(each, stateTexts[each], each === wish.state))}</select></div>
<div><label for="sort">Sort by</label><select id="sort" name="sort">${sorts.map((each) => option(each, sortTexts[each], each === wish.sort))}</select></div>
<div><label for="order">Order</label><select id="order" name="order">${option("asc", "Ascending", wish.order === "asc")}${option("desc", "Descending", wish.order === "desc")}</select></div>
<div class="act"><button>Show</button></div>
</form>
`;

/** Columns that a phone has no room for, unless the rows are sorted by them. */
const hidesOnPhones = (column: StatusSort, { sort }: StatusWish): boolean =>
  (column === "latency" || column === "since" || (column === "uptime" && (sort === "latency" || sort === "since"))) &&
  column !== sort;

const numeric = (column: StatusSort): boolean => column === "uptime" || column === "latency";

function columnClass(column: StatusSort, wish: StatusWish): Html {
  const names = [...(numeric(column) ? ["n"] : []), ...(hidesOnPhones(column, wish) ? ["rest"] : [])];
  return names.length === 0 ? html`` : html` class="${names.join(" ")}"`;
}

function columnHead(column: StatusSort, wish: StatusWish): Html {
  const isSorted = column === wish.sort;
  const turned = wish.order === "asc" ? "desc" : "asc";
  const path = statusPath({ ...wish, sort: column, order: isSorted ? turned : usualOrder[column] });
  const sorting = isSorted ? html` aria-sort="${wish.order === "asc" ? "ascending" : "descending"}"` : "";
  return html`<th scope="col"${columnClass(column, wish)}${sorting}><a href="${path}">${sortTexts[column]}</a></th>`;
}

const noData = html`<span class="muted">no data</span>`;

interface RowLook {
  readonly strip: ReturnType<typeof createStrips>;
  /** Attributes of cells by column. */
  readonly cells: Readonly<Record<StatusSort, Html>>;
}

function rowHtml({ health, title, probes, good, latencyMs }: StatusRow, { strip, cells }: RowLook): Html {
  const { endpoint, state, sinceMs, maintenanceUntilMs } = health;
  return html`<tr><th scope="row"><a href="/endpoints/${endpoint}">${title}</a></th><td>${badge(state)}${
    maintenanceUntilMs === undefined ? "" : html` ${badge("work", "maintenance")}`
  }</td><td${cells.uptime}>${probes === 0 ? noData : percentText(good, probes)}</td><td${cells.latency}>${
    latencyMs === undefined ? noData : latencyText(latencyMs)
  }</td><td${cells.since}>${sinceMs === undefined ? noData : moment(sinceMs, false)}</td><td>${strip(health.hours)}</td></tr>
`;
}

function fleet({ wish, all, titleOf, nowMs }: ShownStatus): Html {
  const shown = wish.state === undefined ? all : all.filter(({ state }) => state === wish.state);
  if (shown.length === 0)
    return html`<p class="card">${all.length === 0 ? "The catalogue is empty." : "No endpoint is in this state."}</p>
`;
  const rows = sortedRows(
    shown.map((health) => statusRow(health, titleOf(health.endpoint))),
    wish,
  );
  const look: RowLook = {
    strip: createStrips(hourScale(nowMs)),
    cells: {
      name: html``,
      state: html``,
      uptime: columnClass("uptime", wish),
      latency: columnClass("latency", wish),
      since: columnClass("since", wish),
    },
  };
  return html`<div class="fleet"><table>
<caption>${amountText(rows.length, "endpoint")}, sorted by ${sortTexts[wish.sort].toLowerCase()}, ${wish.order === "asc" ? "ascending" : "descending"}. Latency is the median of the hourly medians of 24 hours.</caption>
<thead><tr>${sorts.map((column) => columnHead(column, wish))}<th scope="col">Last 24 h</th></tr></thead>
<tbody>
${rows.map((row) => rowHtml(row, look))}</tbody></table></div>
`;
}

/** The state of all endpoints. */
export function statusPage(shown: ShownStatus): string {
  const { heartbeat, version } = shown;
  return page({
    title: "Status - Fedway",
    part: "status",
    version,
    main: html`<h1>Status</h1>
${heartbeatBanner(heartbeat)}${openIncidents(shown)}${tiles(shown)}${sortForm(shown)}${stripKey("hour")}
<section aria-label="Endpoints">
${fleet(shown)}</section>
${section("monitor", "The monitor itself", heartbeatFacts(heartbeat))}
<p class="small"><a href="/api/status">As JSON</a></p>`,
  });
}
