import type { Incident, IncidentKind, Observation } from "../../monitor/monitor.ts";
import { kindOf, subjectOf } from "../../monitor/subjects.ts";
import { amountText, durationText, latencyText } from "../../figures.ts";
import { faultList, faultText, moment, faultWords } from "./figures.ts";
import { type Html, html, link } from "../../html.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { knownIncident, listedIncidents } from "../monitor-routes.ts";
import { IdPath } from "../schemas.ts";
import { choiceOf } from "./catalog-filter.ts";
import { badge, type Column, endpointLink, fact, page, section, table } from "./layout.ts";
import { addListPage, searchOf } from "./list-page.ts";
import { sendPage } from "./page-reply.ts";

/** Content of an incident's page. */
interface ShownIncident {
  readonly incident: Incident;
  /** Title of an endpoint; undefined when that has left the catalogue. */
  readonly titleOf: (endpoint: string) => string | undefined;
  readonly nowMs: number;
}

function factsOf(shown: ShownIncident): Html {
  const { incident, nowMs } = shown;
  const { startedMs, openedMs, fault, faults, url, summary, repair } = incident;
  return html`<dl class="facts">
${fact("Kind", kindWords[kindOf(incident)])}${summary === undefined ? "" : fact("Summary", summary, true)}${fact("Started", moment(startedMs))}${fact("Opened", moment(openedMs))}${fact("Ended", endOf(incident))}${fact("Length", lengthOf(incident, nowMs))}${fault === undefined ? "" : html`${fact("First fault", faultText(fault))}${fact("Faults", faultList(faults))}`}${url === "" ? "" : fact("Probed", link(url, url), true)}${endpointsFact(shown)}</dl>${repair === undefined ? "" : html`<h3>What mends it</h3><pre>${repair}</pre>`}`;
}

/** Kinds of incidents in words. */
const kindWords: Readonly<Record<IncidentKind, string>> = {
  down: "down: it gives no good answer",
  degraded: "degraded: it is slow by its own history, or many probes fail",
  flapping: "flapping: it goes down again and again",
  network: "network: many unrelated hosts cannot be reached",
  certificate: "certificate: it ends soon",
  drift: "drift: what it answers has changed",
};

const endpointsFact = ({ incident: { endpoints = [] }, titleOf }: ShownIncident): Html =>
  endpoints.length === 0
    ? html``
    : fact("Endpoints", html`${endpoints.map((id) => html`${endpointLink(id, titleOf(id))} `)}`, true);

const leads: Readonly<Partial<Record<IncidentKind, string>>> = {
  degraded: "A time during which this endpoint was slow by its own history, or many of its probes failed.",
  flapping: "A time during which this endpoint went down again and again.",
  certificate: "A certificate that ends soon.",
  drift: "A time during which this endpoint answered otherwise than before.",
};

function wordsOf({ incident, titleOf }: ShownIncident): { readonly name: string; readonly lead: string } {
  const subject = subjectOf(incident);
  if (subject.kind === "network" && subject.partly) {
    const lead =
      "A time during which a part of the hosts could not be reached from this service while others answered. Probes made in that time are counted.";
    return { name: "Hosts out of reach", lead };
  }
  if (subject.kind === "network") {
    const lead =
      "A time during which this service could not reach the network: most hosts gave no answer. Probes made in that time are not counted.";
    return { name: "Network incident", lead };
  }
  if (subject.kind === "host") {
    const lead = "A time during which probes of several endpoints of this host failed alike.";
    return { name: `Incident of the host ${subject.host}`, lead };
  }
  const lead = leads[kindOf(incident)] ?? "A time during which probes of this endpoint failed.";
  return { name: `Incident of ${titleOf(incident.endpoint) ?? incident.endpoint}`, lead };
}

/** The page of one incident, with its evidence. */
function incidentPage(shown: ShownIncident): string {
  const { incident } = shown;
  const { name, lead } = wordsOf(shown);
  const isOpen = incident.closedMs === undefined;
  const { evidence, notes = [] } = incident;
  return page({
    title: name,
    main: html`<p class="crumbs"><a href="/status">Status</a> / <a href="/incidents">Incidents</a> / ${subjectLink(incident, shown.titleOf)}</p>
<div class="titled"><h1>${name}</h1>${isOpen ? badge("down", "open") : badge("up", "closed")}</div>
<p class="lead">${lead}</p>
${section("facts", "What happened", factsOf(shown))}
${section(
  "evidence",
  "Evidence",
  evidence.length + notes.length === 0
    ? html`<p class="muted">No observation was kept.</p>`
    : html`${notes.length === 0 ? "" : html`<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`}${
        evidence.length === 0
          ? ""
          : html`<p class="muted">${amountText(evidence.length, "observation")}: those that led to the incident and to its end, and some of those between.</p>
${evidenceTable(evidence)}`
      }`,
)}
<p><a href="/api/incidents/${encodeURIComponent(incident.id)}">As JSON</a></p>`,
  });
}

const sources: Readonly<Record<Observation["source"], string>> = {
  turn: "scheduled probe",
  early: "early probe",
};

function resultOf({ ok, fault, detail, maintenance, offline }: Observation): Html {
  const found = ok ? badge("up", "good") : badge("down", fault === undefined ? "failed" : faultWords[fault]);
  const when = maintenance ? "in maintenance" : offline ? "without a network" : undefined;
  return html`${found}${when && html` <span class="small muted">${when}</span>`}${
    detail && html`<br><span class="small muted">${detail}</span>`
  }`;
}

/** Observations as a table. */
export const evidenceTable = (evidence: readonly Observation[]): Html =>
  table({
    name: "Evidence",
    columns: [
      ["Time (UTC)", ({ atMs }) => moment(atMs, false)],
      ["Result", resultOf],
      ["#HTTP status", ({ status }) => status ?? html`<span class="muted">none</span>`],
      ["#Took", ({ ms }) => latencyText(ms)],
      ["#Tries", ({ tries }) => tries],
      ["Source", ({ source }) => sources[source]],
    ],
    rows: evidence,
  });

const endings: Readonly<Record<NonNullable<Incident["closedBy"]>, string>> = {
  recovered: "recovered",
  removed: "left the catalogue",
  moved: "got another URL",
  maintenance: "went into maintenance",
};

/** How an incident ended, or that it did not. */
const endOf = ({ closedMs, closedBy = "recovered" }: Incident): Html =>
  closedMs === undefined
    ? badge("down", "open")
    : html`${moment(closedMs)} <span class="muted">(${endings[closedBy]})</span>`;

/** How long an incident lasted, or has lasted so far. */
const lengthOf = ({ startedMs, closedMs }: Incident, nowMs: number): string =>
  closedMs === undefined
    ? `${durationText(Math.max(0, nowMs - startedMs))} so far`
    : durationText(Math.max(0, closedMs - startedMs));

const incidentPath = ({ id }: Incident): string => `/incidents/${encodeURIComponent(id)}`;

const started: Column<Incident> = [
  "Started",
  (incident) => html`<a href="${incidentPath(incident)}">${moment(incident.startedMs)}</a>`,
];

const course = (nowMs: number): readonly Column<Incident>[] => [
  ["Ended", endOf],
  ["Length", (incident) => lengthOf(incident, nowMs)],
  ["Cause", causeOf],
];

/** Incidents of one endpoint, one a row. */
export const incidentTable = (incidents: readonly Incident[], nowMs: number): Html =>
  table({ name: "Incidents", columns: [started, ...course(nowMs)], rows: incidents });

/** The kind where it is another than down, and the first fault or what has changed. */
const causeOf = (incident: Incident): Html => {
  const kind = kindOf(incident);
  const { fault, summary } = incident;
  return html`${kind === "down" ? "" : `${kind} `}${fault === undefined ? summary : faultText(fault)}`;
};

const shownAtOnce = 50;

/** `/incidents` and `/incidents/{id}`. */
export function addIncidentPages(app: TypedApp, { monitor, catalog, now = Date.now }: HttpShell): void {
  const titleOf = (id: string): string | undefined => catalog.byId(id)?.title;
  addListPage<Incident>(app, "/incidents", "All incidents as a page to read", async (request) => {
    const search = searchOf(request);
    const endpoint = search.get("endpoint")?.trim().slice(0, 64) || undefined;
    const state = choiceOf(search, "open", ["true", "false"]);
    const open = state && state === "true";
    const cursor = search.get("cursor") || undefined;
    const { items, next } = await listedIncidents(monitor, { endpoint, open, cursor, limit: shownAtOnce });
    return {
      title: "Incidents",
      intro: html`Times in which endpoints, hosts or the network failed, newest first. <a href="/status">Status of all endpoints</a>, <a href="/incidents.atom">feed</a>`,
      fields: [
        { name: "endpoint", label: "Endpoint (id)", value: endpoint },
        { name: "open", label: "State", value: state, choices: { "": "Any", true: "Open", false: "Closed" } },
      ],
      columns: [started, ["Of", (incident) => subjectLink(incident, titleOf)], ...course(now())],
      rows: items,
      empty: "No incident is recorded.",
      cursor,
      next,
    };
  });
  app.get("/incidents/:id", {
    schema: { tags: ["Pages"], summary: "One incident with its evidence as a page to read", params: IdPath },
    handler: async (request, reply) => {
      const incident = await knownIncident(monitor, request.params.id);
      return sendPage(request, reply, incidentPage({ incident, titleOf, nowMs: now() }));
    },
  });
}

/** Subject of an incident; a link where the catalogue has it. */
function subjectLink(incident: Incident, titleOf: ShownIncident["titleOf"]): Html {
  const subject = subjectOf(incident);
  if (subject.kind === "network") {
    return html`${subject.partly ? "A part of the hosts cannot be reached" : "This service cannot reach the network"}`;
  }
  if (subject.kind === "host") return html`The host ${subject.host}`;
  const title = titleOf(incident.endpoint);
  return title === undefined
    ? html`${incident.endpoint} (no longer in the catalogue)`
    : endpointLink(incident.endpoint, title);
}

/** The endpoints of a host that failed alike, each with a link. */
const membersOf = ({ endpoints = [] }: Incident, titleOf: (endpoint: string) => string): Html =>
  html`${endpoints.map((id) => html`${endpointLink(id, titleOf(id))}, `)}`;

/** Open incidents of several endpoints. */
export const openIncidentList = (
  incidents: readonly Incident[],
  { nowMs, titleOf }: { readonly nowMs: number; readonly titleOf: (endpoint: string) => string },
): Html => html`<ul class="happening">
${incidents.map(
  (incident) => html`<li>${subjectLink(incident, titleOf)} ${badge("down", "open")}
<div class="small">${membersOf(incident, titleOf)}${causeOf(incident)}, <a href="${incidentPath(incident)}">since ${moment(incident.startedMs)}</a> (${lengthOf(incident, nowMs)})</div></li>
`,
)}</ul>
`;
