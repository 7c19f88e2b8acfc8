import { unknownId } from "../../errors/unknown-id.ts";
import type { CatalogEntry, Federation } from "../../registry/catalog/catalog.ts";
import type { HealthState } from "../../monitor/monitor.ts";
import { domainOf } from "../../monitor/subjects.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { foundEntries } from "../found-entries.ts";
import { knownIncident, unseen } from "../monitor-routes.ts";
import { toHttpError } from "../problem-reply.ts";
import { knownEntry } from "../registry-routes.ts";
import { IdPath } from "../schemas.ts";
import { hasAccess } from "../write-access.ts";
import { addAsking, addLogin } from "./login.ts";
import { addAssets } from "./assets.ts";
import { partsOf, splitOver } from "../../registry/schema/split-classes.ts";
import { catalogPage, exampleEndpoints } from "./catalog-page.ts";
import { readCatalogFilter } from "./catalog-filter.ts";
import { consolePage, consolePolicy } from "./console-page.ts";
import { docsPage, docsPolicy } from "./docs-page.ts";
import { endpointPage, readingOf, type ShownEndpoint } from "./endpoint-page.ts";
import { federationPage } from "./federation-page.ts";
import { addAskPage } from "./ask-page.ts";
import { addHelp } from "./help-page.ts";
import { addMaintenanceForms } from "./maintenance-forms.ts";
import { ownerPage } from "./owner-page.ts";
import { incidentPage } from "./incident-page.ts";
import { sendPage, sendRefusalPage } from "./page-reply.ts";
import { addRunPages } from "./runs-page.ts";
import { addUnsubscribe } from "./unsubscribe-page.ts";
import { linksAmong, linksOf } from "./link-pictures.ts";
import { statusPage, readStatusFilter } from "./status-page.ts";
import { addListPages } from "./list-pages.ts";
import { searchOf } from "./list-page.ts";

const tags = ["Pages"];

const hasExamples = (hosted: HttpShell["hosted"]): boolean => exampleEndpoints.every((id) => hosted(id) !== undefined);

const nowOf = ({ now = Date.now }: HttpShell): number => now();

const stateOrder: readonly HealthState[] = ["up", "degraded", "flapping", "unknown", "down"];

function workingFirst({ catalog, monitor }: HttpShell): readonly CatalogEntry[] {
  const ranks = new Map(monitor.all().map(({ endpoint, state }) => [endpoint, stateOrder.indexOf(state)]));
  const rankOf = ({ id }: CatalogEntry): number => ranks.get(id) ?? stateOrder.indexOf("unknown");
  return catalog.entries.toSorted((a, b) => rankOf(a) - rankOf(b));
}

const otherPages = [
  { path: "/watches", text: "Watched queries" },
  { path: "/jobs", text: "Jobs in the background" },
];

function addCatalog(app: TypedApp, shell: HttpShell): void {
  const { catalog, hosted, monitor, view, publicUrl } = shell;
  app.get("/", {
    schema: { tags, summary: "The endpoints of the catalogue, with search and filters, as a page to read" },
    handler: async (request, reply) => {
      const filter = readCatalogFilter(searchOf(request));
      const found = await foundEntries(shell, filter, workingFirst(shell));
      const text = catalogPage({
        filter,
        found,
        descriptionOf: (entry) => view.description(entry),
        all: catalog.entries.length,
        publicUrl: publicUrl(),
        hasExamples: hasExamples(hosted),
        heartbeat: monitor.heartbeat(),
        more: [...otherPages, ...(shell.routes ?? []).flatMap(({ page }) => page ?? [])],
      });
      return sendPage(request, reply, text);
    },
  });
}

function addConsole(app: TypedApp, shell: HttpShell): void {
  const { catalog, hosted } = shell;
  app.get("/query", {
    schema: { tags, summary: "A console for queries, as a page with a script" },
    handler: async (request, reply) => {
      const own = catalog.byId("registry");
      const entries = own?.builtIn ? [...catalog.entries, own] : catalog.entries;
      const { federations } = catalog;
      const text = consolePage({ entries, federations, hasExamples: hasExamples(hosted) });
      return sendPage(request, reply, { text, headers: { "Content-Security-Policy": consolePolicy } });
    },
  });
}

const mostIncidents = 20;

async function shownEndpoint(shell: HttpShell, entry: CatalogEntry, mayAsk: boolean): Promise<ShownEndpoint> {
  const { monitor, descriptions, capabilities, hosted, view, publicUrl } = shell;
  const { id } = entry;
  // Reached without a network, so that nothing is said of one.
  const isLocal = hosted(id) !== undefined || domainOf(entry) === undefined;
  const dataOf = async () => {
    const [description, freshness] = await Promise.all([descriptions.get(id), descriptions.freshness(id)]);
    const parts = description === undefined ? [] : partsOf(id, description, shell);
    return { id, description, freshness, parts, published: shell.catalog.published.facts(id) };
  };
  const [availability, score, incidents, maintenance, abilities, data] = await Promise.all([
    readingOf(monitor.availability(id).then((found) => found ?? unseen(entry))),
    readingOf(monitor.score(id)),
    readingOf(monitor.incidents({ endpoint: id, limit: mostIncidents })),
    readingOf(monitor.maintenance(id)),
    readingOf(capabilities.get(id)),
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
    heartbeat: isLocal ? { ...monitor.heartbeat(), offline: undefined } : monitor.heartbeat(),
    nowMs: nowOf(shell),
    asker: { id, endpointApi: `${publicUrl()}/api/endpoints/${id}`, mayAsk },
    publicUrl: publicUrl(),
    links: linksOf(shell.models, id),
    federations: federationsOf(shell, id),
  };
}

const mostFederations = 200;

/** Federations that an endpoint belongs to, of the first 200 of the catalogue. */
const federationsOf = ({ catalog }: HttpShell, id: string): readonly Federation[] =>
  catalog.federations.slice(0, mostFederations).filter((each) => catalog.membersOf(each).some((one) => one.id === id));

function addEndpoint(app: TypedApp, shell: HttpShell): void {
  app.get("/endpoints/:id", {
    schema: { tags, summary: "One endpoint as a page to read", params: IdPath },
    handler: async (request, reply) => {
      const entry = knownEntry(shell, request.params.id);
      return sendPage(request, reply, endpointPage(await shownEndpoint(shell, entry, hasAccess(request))));
    },
  });
  app.get("/endpoints/:id/owner", {
    schema: { tags, summary: "One endpoint for its owner, as a page to read", params: IdPath },
    handler: async (request, reply) => {
      const entry = knownEntry(shell, request.params.id);
      const shown = await shownEndpoint(shell, entry, hasAccess(request));
      return sendPage(request, reply, ownerPage(shown, shell.config));
    },
  });
}

function addFederation(app: TypedApp, shell: HttpShell): void {
  const { catalog, search, hosted, publicUrl } = shell;
  app.get("/federations/:id", {
    schema: { tags, summary: "One federation as a page to read", params: IdPath },
    handler: async (request, reply) => {
      const { id } = request.params;
      const federation = catalog.federation(id);
      if (federation === undefined) throw unknownId("federation", id, catalog);
      const entries = catalog.membersOf(federation);
      const { hits } = search.filterEntries({ entries }, { limit: entries.length, offset: 0 });
      const text = federationPage({
        federation,
        members: hits.map(({ entry, status }) => ({
          entry,
          status,
          hours: shell.monitor.health(entry.id)?.hours ?? [],
          terms: search.termCounts(entry.id),
        })),
        links: linksAmong(shell.models, entries),
        missing: federation.members.filter((each) => catalog.byId(each) === undefined),
        split: splitOver(entries, shell),
        isExample: id === "examples" && hasExamples(hosted),
        publicUrl: publicUrl(),
      });
      return sendPage(request, reply, text);
    },
  });
}

function addStatus(app: TypedApp, shell: HttpShell): void {
  const { monitor, catalog } = shell;
  const titleOf = (id: string): string => catalog.byId(id)?.title ?? id;
  app.get("/status", {
    schema: { tags, summary: "The state of all endpoints as a page to read" },
    handler: async (request, reply) => {
      const filter = readStatusFilter(searchOf(request));
      const { state } = shell.ready().checks;
      const incidents = await readingOf(monitor.incidents({ open: true }));
      const maintenance = await readingOf(monitor.maintenance());
      const text = statusPage({
        filter,
        all: monitor.all(),
        titleOf,
        heartbeat: monitor.heartbeat(),
        incidents: incidents.ok ? incidents.value : undefined,
        maintenance: maintenance.ok ? maintenance.value : [],
        storeProblem: state?.ok === false ? state.detail : undefined,
        nowMs: nowOf(shell),
      });
      return sendPage(request, reply, text);
    },
  });
}

function addIncident(app: TypedApp, shell: HttpShell): void {
  const { monitor, catalog } = shell;
  const titleOf = (id: string): string | undefined => catalog.byId(id)?.title;
  app.get("/incidents/:id", {
    schema: { tags, summary: "One incident with its evidence as a page to read", params: IdPath },
    handler: async (request, reply) => {
      const incident = await knownIncident(monitor, request.params.id);
      return sendPage(request, reply, incidentPage({ incident, titleOf, nowMs: nowOf(shell) }));
    },
  });
}

/** Errors on the way to a page are answered with a page. */
function answerWithPages(app: TypedApp, { logger }: HttpShell): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = toHttpError(thrown);
    if (error.code === "INTERNAL") logger?.error({ err: error.cause ?? error }, "unexpected error");
    return sendRefusalPage(request, reply, error);
  });
}

/** The pages for people and what they load. */
export function addPageRoutes(parent: TypedApp, shell: HttpShell): void {
  const { publicUrl } = shell;
  void parent.register(async (app: TypedApp) => {
    answerWithPages(app, shell);
    addAssets(app);
    addCatalog(app, shell);
    addConsole(app, shell);
    addEndpoint(app, shell);
    addFederation(app, shell);
    addStatus(app, shell);
    addIncident(app, shell);
    addListPages(app, shell);
    addRunPages(app, shell);
    addLogin(app, shell);
    addAsking(app, shell);
    addMaintenanceForms(app, shell);
    addUnsubscribe(app, shell);
    addHelp(app, shell);
    addAskPage(app, shell);
    app.get("/docs", {
      schema: { tags, summary: "This API as a page to read and to try" },
      handler: async (request, reply) =>
        sendPage(request, reply, {
          text: docsPage(app.basePath),
          headers: { "Content-Security-Policy": docsPolicy(publicUrl()) },
        }),
    });
  });
}
