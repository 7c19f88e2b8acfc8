import type { FastifyInstance, FastifyRequest } from "fastify";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { CatalogEntry } from "../../registry/catalog/catalog.ts";
import type { Availability } from "../../monitor/monitor.ts";
import type { CatalogShell } from "../catalog-routes.ts";
import type { EntryDescription } from "../catalog-view.ts";
import type { HttpDeps } from "../http-deps.ts";
import { toHttpError } from "../problem-reply.ts";
import { knownEntry } from "../registry-routes.ts";
import { IdPath } from "../schemas.ts";
import { hasAccess } from "../write-access.ts";
import { addAsking, addLogin } from "./login.ts";
import { addAssets } from "./assets.ts";
import { catalogPage, exampleEndpoints } from "./catalog-page.ts";
import { readCatalogFilter } from "./catalog-filter.ts";
import { docsPage } from "./docs-page.ts";
import { endpointPage, readingOf } from "./endpoint-page.ts";
import { incidentPage } from "./incident-page.ts";
import { pageHeaders, sendPage, refusalPage } from "./page-reply.ts";
import { statusPage, readStatusFilter } from "./status-page.ts";

/** What the pages are made with. */
export interface PageShell extends CatalogShell {
  readonly publicUrl: () => string;
}

const tags = ["Pages"];

const queryOf = ({ originalUrl }: FastifyRequest): URLSearchParams => {
  const at = originalUrl.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : originalUrl.slice(at + 1));
};

const idOf = ({ params }: FastifyRequest): string =>
  typeof params === "object" && params !== null && "id" in params ? String(params.id) : "";

const nowOf = ({ now = Date.now }: HttpDeps): number => now();

function addCatalog(app: FastifyInstance, { deps, view, publicUrl }: PageShell): void {
  app.get("/", {
    schema: { tags, summary: "The endpoints of the catalogue, with search and filters, as a page to read" },
    handler: async (request, reply) => {
      const filter = readCatalogFilter(queryOf(request));
      const found = deps.search.filterEntries(deps.catalog, filter);
      const descriptions = new Map<string, EntryDescription>();
      for (const { entry } of found.hits) {
        const description = await view.description(entry);
        if (description !== undefined) descriptions.set(entry.id, description);
      }
      const text = catalogPage({
        filter,
        found,
        descriptions,
        all: deps.catalog.entries.length,
        publicUrl: publicUrl(),
        hasExamples: exampleEndpoints.every((id) => deps.hosted(id) !== undefined),
        version: deps.version,
      });
      return sendPage(request, reply, text);
    },
  });
}

/** The monitor may be a moment behind the catalogue; until then nothing is known. */
const unseen = ({ id, url }: CatalogEntry): Availability => ({
  health: { endpoint: id, url, state: "unknown", streak: 0, hours: [] },
  windows: [],
  days: [],
});

const mostIncidents = 20;

async function endpointText(
  { deps, view, publicUrl }: PageShell,
  entry: CatalogEntry,
  mayAsk: boolean,
): Promise<string> {
  const { monitor, descriptions, capabilities } = deps;
  const { id } = entry;
  const dataOf = async () => {
    const [description, freshness] = await Promise.all([descriptions.get(id), descriptions.freshness(id)]);
    return { id, description, freshness };
  };
  const [description, availability, score, incidents, maintenance, abilities, data] = await Promise.all([
    view.description(entry),
    readingOf(monitor.availability(id).then((found) => found ?? unseen(entry))),
    readingOf(monitor.score(id)),
    readingOf(monitor.incidents({ endpoint: id, limit: mostIncidents })),
    readingOf(monitor.maintenance(id)),
    readingOf(capabilities.get(id)),
    readingOf(dataOf()),
  ]);
  return endpointPage({
    entry,
    description,
    availability,
    score,
    incidents,
    maintenance,
    capabilities: abilities,
    data,
    heartbeat: monitor.heartbeat(),
    nowMs: nowOf(deps),
    asker: { id, endpointApi: `${publicUrl()}/api/endpoints/${id}`, mayAsk },
    publicUrl: publicUrl(),
    version: deps.version,
  });
}

function addEndpoint(app: FastifyInstance, shell: PageShell): void {
  app.get("/endpoints/:id", {
    schema: { tags, summary: "One endpoint as a page to read", params: IdPath },
    handler: async (request, reply) => {
      const entry = knownEntry(shell.deps, idOf(request));
      const mayAsk = hasAccess(request, shell.deps.config);
      return sendPage(request, reply, await endpointText(shell, entry, mayAsk));
    },
  });
}

function addStatus(app: FastifyInstance, { deps }: PageShell): void {
  const { monitor, catalog } = deps;
  const titleOf = (id: string): string => catalog.byId(id)?.title ?? id;
  app.get("/status", {
    schema: { tags, summary: "The state of all endpoints as a page to read" },
    handler: async (request, reply) => {
      const filter = readStatusFilter(queryOf(request));
      const incidents = await readingOf(monitor.incidents({ open: true }));
      const text = statusPage({
        filter,
        all: monitor.all(),
        titleOf,
        heartbeat: monitor.heartbeat(),
        incidents: incidents.ok ? incidents.value : undefined,
        nowMs: nowOf(deps),
        version: deps.version,
      });
      return sendPage(request, reply, text);
    },
  });
}

function addIncident(app: FastifyInstance, { deps }: PageShell): void {
  app.get("/incidents/:id", {
    schema: { tags, summary: "One incident with its evidence as a page to read", params: IdPath },
    handler: async (request, reply) => {
      const incident = await deps.monitor.incident(idOf(request));
      if (incident === undefined) {
        throw new FedwayError("INCIDENT_UNKNOWN", "The incident is not known; old ones are removed.");
      }
      const title = deps.catalog.byId(incident.endpoint)?.title;
      return sendPage(request, reply, incidentPage({ incident, title, nowMs: nowOf(deps), version: deps.version }));
    },
  });
}

/** What goes wrong on the way to a page is answered with a page. */
function answerWithPages(app: FastifyInstance, { deps }: PageShell): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = toHttpError(thrown);
    request.exchange.code = error.code;
    if (error.code === "INTERNAL") deps.logger?.error({ err: error.cause ?? error }, "unexpected error");
    return reply
      .code(error.kind.status)
      .headers({ ...pageHeaders, "Cache-Control": "no-store" })
      .send(refusalPage(error, deps.version));
  });
}

/** The pages for people and what they load. */
export function addPageRoutes(untyped: FastifyInstance, shell: PageShell): void {
  const { deps, publicUrl } = shell;
  void untyped.register(async (app) => {
    answerWithPages(app, shell);
    addAssets(app);
    addCatalog(app, shell);
    addEndpoint(app, shell);
    addStatus(app, shell);
    addIncident(app, shell);
    addLogin(app, deps);
    addAsking(app, deps);
    app.get("/docs", {
      schema: { tags, summary: "This API as a page to read" },
      handler: async (request, reply) =>
        sendPage(request, reply, docsPage(app.swagger(), { publicUrl: publicUrl(), version: deps.version })),
    });
  });
}
