import {
  type EndpointHealth,
  type Heartbeat,
  type HealthState,
  healthStates,
  type Incident,
  type MaintenanceWindow,
} from "../../monitor/monitor.ts";
import { amountText, numberText } from "../../figures.ts";
import { heartbeatBanner, heartbeatFacts, latencyOf, moment, noData, uptimeOf } from "./figures.ts";
import { type Html, html } from "../../html.ts";
import { openIncidentList } from "./incident-page.ts";
import { badge, choiceField, choicesOf, page, section } from "./layout.ts";
import { createStrips, hourScale, stripKey } from "./strip.ts";
import { windowList } from "./maintenance-forms.ts";
import { choiceOf } from "./catalog-filter.ts";

/** Content of the status page. */
interface ShownStatus {
  readonly filter: StatusFilter;
  readonly all: readonly EndpointHealth[];
  readonly titleOf: (endpoint: string) => string;
  readonly heartbeat: Heartbeat;
  /** Those that are open; undefined when they cannot be read. */
  readonly incidents: readonly Incident[] | undefined;
  /** Windows that have not ended. */
  readonly maintenance: readonly MaintenanceWindow[];
  /** Problem of the service's own storage. */
  readonly storeProblem?: string | undefined;
  readonly nowMs: number;
}

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
  const { incidents, all } = shown;
  if (incidents === undefined) {
    return html`<div class="banner down"><p><strong>Incidents cannot be read now.</strong> There may be open ones.</p></div>
`;
  }
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
  const path = statusPath({ ...filter, sort: column, order: isSorted ? turned : usualOrder[column] });
  const sorting = isSorted ? html` aria-sort="${filter.order === "asc" ? "ascending" : "descending"}"` : "";
  return html`<th scope="col"${columnClass(column, filter)}${sorting}><a href="${path}">${sortTexts[column]}</a></th>`;
}

interface RowLook {
  readonly strip: ReturnType<typeof createStrips>;
  /** Attributes of cells by column. */
  readonly cells: Readonly<Record<StatusSort, Html>>;
}

function rowHtml({ health, title, probes, good, latencyMs }: StatusRow, { strip, cells }: RowLook): Html {
  const { endpoint, state, sinceMs, maintenanceUntilMs } = health;
  return html`<tr><th scope="row"><a href="/endpoints/${endpoint}">${title}</a></th><td>${badge(state)}${
    maintenanceUntilMs === undefined ? "" : html` ${badge("work", "maintenance")}`
  }</td><td${cells.uptime}>${uptimeOf({ probes, good })}</td><td${cells.latency}>${latencyOf(latencyMs)}</td><td${cells.since}>${sinceMs === undefined ? noData : moment(sinceMs, false)}</td><td>${strip(health.hours)}</td></tr>
`;
}

function fleet({ filter, all, titleOf, nowMs }: ShownStatus): Html {
  const shown = filter.state === undefined ? all : all.filter(({ state }) => state === filter.state);
  if (shown.length === 0)
    return html`<p class="card">${all.length === 0 ? "The catalogue is empty." : "No endpoint is in this state."}</p>
`;
  const rows = sortedRows(
    shown.map((health) => statusRow(health, titleOf(health.endpoint))),
    filter,
  );
  const look: RowLook = {
    strip: createStrips(hourScale(nowMs)),
    cells: {
      name: html``,
      state: html``,
      uptime: columnClass("uptime", filter),
      latency: columnClass("latency", filter),
      since: columnClass("since", filter),
    },
  };
  return html`<div class="fleet"><table>
<caption>${amountText(rows.length, "endpoint")}, sorted by ${sortTexts[filter.sort].toLowerCase()}, ${filter.order === "asc" ? "ascending" : "descending"}. Latency is the median of the hourly medians of 24 hours.</caption>
<thead><tr>${sorts.map((column) => columnHead(column, filter))}<th scope="col">Last 24 h</th></tr></thead>
<tbody>
${rows.map((row) => rowHtml(row, look))}</tbody></table></div>
`;
}

/** The state of all endpoints. */
export function statusPage(shown: ShownStatus): string {
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
  const link = ({ endpoint }: MaintenanceWindow): Html =>
    html`<a href="/endpoints/${endpoint}">${titleOf(endpoint)}</a>`;
  const left = windows.length - mostWindows;
  const more = left > 0 ? html`<p class="muted">${amountText(left, "later one")} not shown.</p>\n` : "";
  return section("maintenance", "Maintenance", html`${windowList(windows.slice(0, mostWindows), nowMs, link)}${more}`);
}

/** By what the endpoints are ordered. */
type StatusSort = "name" | "state" | "uptime" | "latency" | "since";
type SortOrder = "asc" | "desc";

/** Filter of the status page. */
export interface StatusFilter {
  readonly sort: StatusSort;
  readonly order: SortOrder;
  readonly state?: HealthState | undefined;
}

const sorts: readonly StatusSort[] = ["name", "state", "uptime", "latency", "since"];

/** The order that is meant when none is named: trouble first, else A to Z. */
const usualOrder: Readonly<Record<StatusSort, SortOrder>> = {
  name: "asc",
  state: "asc",
  uptime: "asc",
  latency: "desc",
  since: "desc",
};

/** @throws FedwayError `REQUEST_INVALID` */
export function readStatusFilter(query: URLSearchParams): StatusFilter {
  const sort = choiceOf(query, "sort", sorts) ?? "name";
  const order = choiceOf(query, "order", ["asc", "desc"] as const) ?? usualOrder[sort];
  const state = choiceOf(query, "state", healthStates);
  return { sort, order, state };
}

/** The page that shows what is asked for. */
export function statusPath({ sort, order, state }: StatusFilter): string {
  const parameters = new URLSearchParams();
  if (sort !== "name" || order !== "asc") {
    parameters.set("sort", sort);
    parameters.set("order", order);
  }
  if (state !== undefined) parameters.set("state", state);
  return parameters.size === 0 ? "/status" : `/status?${parameters.toString()}`;
}

/** One endpoint of the status page. */
export interface StatusRow {
  readonly health: EndpointHealth;
  readonly title: string;
  /** Probes of the last 24 hours and the running one. */
  readonly probes: number;
  readonly good: number;
  /** Median of the hours' medians; undefined when no probe was good. */
  readonly latencyMs: number | undefined;
}

function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  const lower = sorted[middle - 1];
  return sorted.length % 2 === 1 || upper === undefined || lower === undefined ? upper : (lower + upper) / 2;
}

/** The figures of one endpoint. */
export function statusRow(health: EndpointHealth, title: string): StatusRow {
  let probes = 0;
  let good = 0;
  const medians: number[] = [];
  for (const hour of health.hours) {
    probes += hour.probes;
    good += hour.good;
    if (hour.p50Ms !== undefined) medians.push(hour.p50Ms);
  }
  return { health, title, probes, good, latencyMs: medianOf(medians) };
}

const severity: Readonly<Record<HealthState, number>> = { down: 0, flapping: 1, degraded: 2, unknown: 3, up: 4 };

const keys: Readonly<Record<Exclude<StatusSort, "name">, (row: StatusRow) => number | undefined>> = {
  state: ({ health }) => severity[health.state],
  uptime: ({ probes, good }) => (probes === 0 ? undefined : good / probes),
  latency: ({ latencyMs }) => latencyMs,
  since: ({ health }) => health.sinceMs,
};

const collator = new Intl.Collator("en", { sensitivity: "base", numeric: true });

const byName = (left: StatusRow, right: StatusRow): number =>
  collator.compare(left.title, right.title) || (left.health.endpoint < right.health.endpoint ? -1 : 1);

/** Rows in the order asked for; those without the figure come last in either, equal ones by name. */
export function sortedRows(rows: readonly StatusRow[], { sort, order }: StatusFilter): readonly StatusRow[] {
  const sign = order === "asc" ? 1 : -1;
  if (sort === "name") return rows.toSorted((left, right) => sign * byName(left, right));
  const keyed = rows.map((row) => ({ row, key: keys[sort](row) }));
  return keyed
    .toSorted((left, right) => {
      if (left.key === undefined || right.key === undefined) {
        return Number(left.key === undefined) - Number(right.key === undefined) || byName(left.row, right.row);
      }
      return sign * (left.key - right.key) || byName(left.row, right.row);
    })
    .map(({ row }) => row);
}
