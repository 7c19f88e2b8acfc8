import type { CatalogEntry, Federation } from "../../registry/catalog.ts";
import type { Incident } from "../../monitor/monitor.ts";
import { domainOf } from "../../monitor/subjects.ts";
import { partsOf } from "../../registry/schema.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { unseen } from "../monitor-routes.ts";
import { knownEntry } from "../registry-routes.ts";
import { IdPath } from "../schemas.ts";
import { hasAccess } from "../write-access.ts";
import { descriptionText, interfaceNames, keywordTags } from "./catalog-page.ts";
import { capabilitiesBody, dataBody, type ShownData } from "./endpoint-data.ts";
import { availabilityBody, scoreBody } from "./endpoint-health.ts";
import { maintenanceBody } from "./maintenance-forms.ts";
import { numberText } from "../../figures.ts";
import { moment, heartbeatBanner } from "./figures.ts";
import { type Html, html, joined, link } from "../../html.ts";
import { linksOf, linksTable } from "./link-pictures.ts";
import { evidenceTable, incidentTable } from "./incident-page.ts";
import { badge, consolePath, fact, page, section, toCopy } from "./layout.ts";
import { sendPage } from "./page-reply.ts";
import { FedwayError } from "../../errors/fedway-error.ts";

const mostIncidents = 20;

/** Content of an endpoint's page: readings of what is known of it. */
export async function shownEndpoint(shell: HttpShell, id: string, mayAsk: boolean) {
  const { monitor, descriptions, capabilities, hosted, view, catalog, now = Date.now } = shell;
  const entry = knownEntry(shell, id);
  const publicUrl = shell.publicUrl();
  // Reached without a network, so that nothing is said of one.
  const isLocal = hosted(entry.id) !== undefined || domainOf(entry) === undefined;
  const heartbeat = monitor.heartbeat();
  const dataOf = async (): Promise<ShownData> => {
    const description = await descriptions.get(entry.id);
    const freshness = await descriptions.freshness(entry.id, description);
    const parts = description === undefined ? [] : partsOf(entry.id, description.built, shell);
    return { description, freshness, parts, published: catalog.published.facts(entry.id) };
  };
  const [availability, score, incidents, maintenance, abilities, data] = await Promise.all([
    readingOf(monitor.availability(entry.id).then((found) => found ?? unseen(entry))),
    readingOf(monitor.score(entry.id)),
    readingOf(monitor.incidents({ endpoint: entry.id, limit: mostIncidents })),
    readingOf(monitor.maintenance(entry.id)),
    readingOf(capabilities.get(entry.id)),
    readingOf(dataOf()),
  ]);
  return {
    entry,
    description: view.description(entry),
    availability,
    score,
    incidents,
    maintenance,
    capabilities: abilities,
    data,
    heartbeat: isLocal ? { ...heartbeat, offline: undefined } : heartbeat,
    nowMs: now(),
    asker: { id: entry.id, endpointApi: `${publicUrl}/api/endpoints/${entry.id}`, mayAsk },
    publicUrl,
    links: linksOf(shell.models, entry.id),
    federations: federationsOf(shell, entry.id),
  };
}

export type ShownEndpoint = Awaited<ReturnType<typeof shownEndpoint>>;

const mostFederations = 200;

/** Federations that an endpoint belongs to, of the first 200 of the catalogue. */
const federationsOf = ({ catalog }: HttpShell, id: string): readonly Federation[] =>
  catalog.federations.slice(0, mostFederations).filter((each) => catalog.membersOf(each).some((one) => one.id === id));

/** `/endpoints/{id}`. */
export const addEndpointPage = (app: TypedApp, shell: HttpShell): void =>
  void app.get("/endpoints/:id", {
    schema: { tags: ["Pages"], summary: "One endpoint as a page to read", params: IdPath },
    handler: async (request, reply) =>
      sendPage(request, reply, endpointPage(await shownEndpoint(shell, request.params.id, hasAccess(request)))),
  });

const graphList = (graphs: readonly string[]): Html =>
  html`${joined(
    graphs.map((graph) => html`<code>${graph}</code>`),
    ", ",
  )}, unless a query names its own`;

const licenceOf = ({ license }: CatalogEntry): Html =>
  license === undefined ? html`<span class="muted">not given</span>` : link(license, license);

function factsOf(entry: CatalogEntry): Html {
  const {
    id,
    url,
    defaultGraphs = [],
    homepage,
    engine,
    rowCap,
    blocksService,
    needsUserAgent,
    rawQueries,
    method,
    notes,
  } = entry;
  return html`<dl class="facts">
${fact("Id", html`<code>${id}</code>`)}${fact("URL", link(url, url), true)}${fact("Default graph", defaultGraphs.length === 0 ? undefined : graphList(defaultGraphs), true)}${fact("Interface", interfaceNames[entry.interface])}${fact("Engine", engine ?? html`<span class="muted">not known</span>`)}${fact("Home page", homepage === undefined ? undefined : link(homepage, homepage), true)}${fact("Licence", licenceOf(entry), true)}${fact("Rows are cut at", rowCap === undefined ? undefined : numberText(rowCap))}${fact("Request method", method)}${fact("SERVICE", blocksService ? "refused" : undefined)}${fact("User-Agent", needsUserAgent ? "must name a contact" : undefined)}${fact("Dialect queries", rawQueries ? "passed on" : undefined)}</dl>
${
  notes.length === 0
    ? ""
    : html`<h3>What users should know</h3>
<ul>
${notes.map((note) => html`<li>${note}</li>\n`)}</ul>`
}`;
}

const query = "SELECT ?type (COUNT(*) AS ?n) WHERE { ?s a ?type } GROUP BY ?type ORDER BY DESC(?n) LIMIT 10";

const command = (publicUrl: string, id: string): string =>
  `curl -s '${publicUrl}/endpoints/${id}/sparql' -H 'Accept: text/csv' \\\n  --data-urlencode 'query=${query}'`;

const howToAsk = ({
  entry,
  publicUrl,
}: ShownEndpoint): Html => html`<p>Its SPARQL route here is <a href="/endpoints/${entry.id}/sparql"><code>/endpoints/${entry.id}/sparql</code></a>; no <code>SERVICE</code> is needed.</p>
<p><a href="${consolePath(undefined, { endpoint: entry.id })}">Ask it in the console</a>, where its terms are completed, or <a href="${consolePath(query, { endpoint: entry.id })}">start with its classes</a>.</p>
${toCopy("Command to copy", command(publicUrl, entry.id))}`;

/** State in a sentence. */
export function stateLine({ availability }: ShownEndpoint): Html {
  if (!availability.ok) return html`<p class="muted">The state could not be read now.</p>`;
  const { state, sinceMs, maintenanceUntilMs, last } = availability.value.health;
  const since = sinceMs === undefined ? "" : html` since ${moment(sinceMs)}`;
  const probed = last === undefined ? "It has never been probed." : html`Last probed at ${moment(last.atMs)}.`;
  const until = maintenanceUntilMs === undefined ? "" : html` In maintenance until ${moment(maintenanceUntilMs)}.`;
  return html`<p class="muted">State: ${state}${since}. ${probed}${until}</p>`;
}

/** The newest incidents, with evidence. */
export function incidentsBody(incidents: readonly Incident[], nowMs: number): Html {
  if (incidents.length === 0) return html`<p class="muted">None is recorded.</p>`;
  const [newest] = incidents;
  return html`<p class="muted">The newest come first; at most ${mostIncidents} are shown.</p>
${incidentTable(incidents, nowMs)}${
  newest === undefined || newest.evidence.length === 0
    ? ""
    : html`<details${newest.closedMs === undefined ? html` open` : ""}><summary>Evidence of the newest</summary>
${evidenceTable(newest.evidence)}</details>`
}`;
}

const federationList = (federations: readonly Federation[]): Html =>
  federations.length === 0
    ? html`<p class="muted">It belongs to none.</p>`
    : html`<ul class="plain">
${federations.map(({ id, title }) => html`<li><a href="/federations/${id}">${title}</a></li>\n`)}</ul>`;

const documents = ({ entry: { id }, data }: ShownEndpoint): Html => html`<ul class="plain">
<li><a href="/endpoints/${id}/owner">For its owner</a>: evidence, how it is asked, badges</li>
<li><a href="/api/endpoints/${id}">Catalogue entry as JSON</a>, <a href="/api/endpoints/${id}?format=turtle">as Turtle</a></li>
${data.ok && data.value.description !== undefined ? html`<li><a href="/api/endpoints/${id}/void?format=turtle">Description of the data (VoID) as Turtle</a>, <a href="/api/endpoints/${id}/schema">schema as JSON</a></li>\n` : ""}<li><a href="/api/endpoints/${id}/availability">Availability as JSON</a>, <a href="/api/endpoints/${id}/incidents">incidents as JSON</a></li>
</ul>`;

const stateBadge = ({ availability }: ShownEndpoint): Html => {
  if (!availability.ok) return badge("unknown");
  const { state, maintenanceUntilMs } = availability.value.health;
  return html`${badge(state)}${maintenanceUntilMs === undefined ? "" : html` ${badge("work", "maintenance")}`}`;
};

/** The page of one endpoint: what it is, how it is doing, what it holds, what it can do. */
function endpointPage(shown: ShownEndpoint): string {
  const { asker, entry, nowMs } = shown;
  return page({
    title: entry.title,
    main: html`<p class="crumbs"><a href="/">Endpoints</a> / <code>${entry.id}</code></p>
<div class="titled"><h1>${entry.title}</h1>${stateBadge(shown)}</div>
<p class="lead">${descriptionText(shown.description)}</p>
${stateLine(shown)}
${heartbeatBanner(shown.heartbeat)}<div class="columns"><div>
${readSection("Availability", shown.availability, (value) => availabilityBody(value, nowMs))}
${readSection("Incidents", shown.incidents, (value) => incidentsBody(value, nowMs))}
${readSection("Data", shown.data, (value) => dataBody(value, asker))}
${section("links", "Links with other endpoints", linksTable(shown.links))}
${readSection("Capabilities", shown.capabilities, (value) => capabilitiesBody(value, asker))}
</div>
<div>
${section("facts", "About", html`${factsOf(entry)}${keywordTags(entry.keywords)}`)}
${section("ask", "Ask it", howToAsk(shown))}
${section("federations", "Federations", federationList(shown.federations))}
${readSection("Score", shown.score, scoreBody)}
${readSection("Maintenance", shown.maintenance, (value) => maintenanceBody(value, nowMs, asker))}
${section("documents", "For programs", documents(shown))}
</div></div>`,
  });
}

/** Result of reading the data of one section; a failure leaves the rest of the page. */
type Reading<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false };

/** Waits for a value; errors of ours become a reading that failed, others are thrown. */
export async function readingOf<Value>(promise: Promise<Value>): Promise<Reading<Value>> {
  try {
    return { ok: true, value: await promise };
  } catch (error) {
    if (!(error instanceof FedwayError)) throw error;
    return { ok: false };
  }
}

/** Shows the value; says so in plain words where it could not be read, so that it is not taken for nothing. */
export const readSection = <Value>(heading: string, reading: Reading<Value>, show: (value: Value) => Html): Html =>
  section(heading.toLowerCase(), heading, reading.ok ? show(reading.value) : notRead);

const notRead = html`<p class="banner down">This could not be read now. It may be there all the same.</p>`;
