import { FedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import { healthStates } from "../monitor/monitor.ts";
import type { Availability, Incident, MaintenanceWindow } from "../monitor/monitor.ts";
import { kindOf, subjectOf } from "../monitor/subjects.ts";
import { sendNow } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import {
  AvailabilityRecord,
  IncidentFilter,
  IncidentRecord,
  MaintenanceRecord,
  MaintenanceBody,
  shown,
  StatusAnswer,
} from "./monitor-schemas.ts";
import { firstOf, pageAt, paging, placeOf } from "./paging.ts";
import { knownEntry } from "./registry-routes.ts";
import { resource } from "./resource.ts";
import { IdPath, documented, strictObject } from "./schemas.ts";
import { guarded } from "./write-access.ts";

const heading = "Availability";
const doc = documented(heading);

function addStatus(app: TypedApp, { monitor }: HttpShell): void {
  app.get("/api/status", {
    schema: {
      ...doc("getStatus", "The state of all endpoints, by id, and of the monitor itself", StatusAnswer),
      querystring: strictObject(paging),
    },
    handler: (request, reply) => {
      const all = monitor.all();
      const { limit = 100, cursor } = request.query;
      const { items, next } = pageAt(all, { limit, cursor });
      return sendNow(reply, {
        heartbeat: shown(monitor.heartbeat()),
        counts: Object.fromEntries(
          healthStates.map((name) => [name, all.filter(({ state }) => state === name).length]),
        ),
        endpoints: items.map(({ hours: _hours, ...health }) => shown(health)),
        next,
      });
    },
  });
}

function addAvailability(app: TypedApp, shell: HttpShell): void {
  const { monitor } = shell;
  app.get("/api/endpoints/:id/availability", {
    schema: {
      ...doc(
        "getAvailability",
        "How an endpoint is and was: state, uptime, percentiles of durations, score",
        AvailabilityRecord,
      ),
      params: IdPath,
    },
    handler: async (request, reply) => {
      const entry = knownEntry(shell, request.params.id);
      const [found, score = { parts: [] }] = await Promise.all([
        monitor.availability(entry.id),
        monitor.score(entry.id),
      ]);
      const { health, ...record } = found ?? unseen(entry);
      return sendNow(reply, shown({ ...health, ...record, score }));
    },
  });
}

/** The monitor may be a moment behind the catalogue; until then nothing is known. */
export const unseen = ({ id, url }: CatalogEntry): Availability => ({
  health: { endpoint: id, url, state: "unknown", streak: 0, hours: [] },
  windows: [],
  days: [],
});

function addIncidents(app: TypedApp, shell: HttpShell): void {
  const { monitor } = shell;
  const routes = resource(app, "incidents", {
    heading,
    params: IdPath,
    view: IncidentRecord,
    filter: IncidentFilter,
    show: (incident: Incident, _request, isListed) => incidentView(incident, !isListed),
  });
  routes.list("List incidents, newest first", ({ query }) => listedIncidents(monitor, query));
  routes.listOfEndpoint("List an endpoint's incidents", async (id) => ({
    items: await monitor.incidents({ endpoint: knownEntry(shell, id).id }),
  }));
  routes.get("Get an incident with its evidence", (id) => knownIncident(monitor, id));
}

interface ListedIncidents extends NonNullable<Parameters<HttpShell["monitor"]["incidents"]>[0]> {
  readonly cursor?: string | undefined;
}

/** A page of incidents, newest first. @throws FedwayError `REQUEST_INVALID` */
export async function listedIncidents(
  monitor: HttpShell["monitor"],
  { cursor, limit = 100, ...wanted }: ListedIncidents,
) {
  const behind = cursor === undefined ? undefined : placeOf(cursor);
  const found = await monitor.incidents({ ...wanted, limit: limit + 1, behind });
  return firstOf(found, limit, ({ startedMs, id }) => ({ atMs: startedMs, id }));
}

/** @throws FedwayError `INCIDENT_UNKNOWN` */
export async function knownIncident(monitor: HttpShell["monitor"], id: string): Promise<Incident> {
  const incident = await monitor.incident(id);
  if (incident) return incident;
  throw new FedwayError("INCIDENT_UNKNOWN", "The incident is not known; old ones are removed.", {
    next: "GET /api/incidents lists those that are kept.",
  });
}

/** A day, or a time with its zone: without one it would be that of whoever reads it. */
const moment = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Days such as 30 February are counted on into the next month, and so are another day. */
function isInCalendar(day: string): boolean {
  const ms = Date.parse(day);
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(day);
}

/** Milliseconds of a moment that somebody sent. @throws FedwayError `REQUEST_INVALID` */
export function momentOf(name: string, text: string): number {
  const [, day] = moment.exec(text) ?? [];
  const ms = day !== undefined && isInCalendar(day) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(ms)) return ms;
  throw new FedwayError("REQUEST_INVALID", `"${name}" is not a moment in ISO 8601 with its time zone.`, {
    next: "Send a moment such as 2026-01-31T22:00:00Z.",
  });
}

function addMaintenance(app: TypedApp, shell: HttpShell): void {
  const { monitor } = shell;
  const show = (window: MaintenanceWindow) => shown(window);
  const routes = resource(app, "maintenance", { heading, params: IdPath, view: MaintenanceRecord, show });
  routes.list("List maintenance windows that have not ended", async () => ({ items: await monitor.maintenance() }));
  routes.listOfEndpoint("List an endpoint's maintenance windows that have not ended", async (id) => ({
    items: await monitor.maintenance(knownEntry(shell, id).id),
  }));
  routes.remove("remove", "Call a maintenance window off", async (id) => {
    if (await monitor.removeMaintenance(id)) return;
    throw new FedwayError("NOT_FOUND", "There is no such maintenance window.", {
      next: "GET /api/maintenance lists them.",
    });
  });
  app.post("/api/endpoints/:id/maintenance", {
    ...guarded,
    schema: {
      ...doc("announceMaintenance", "Announce a time in which an endpoint's probes count nowhere"),
      params: IdPath,
      body: MaintenanceBody,
      response: { 201: MaintenanceRecord },
    },
    handler: async (request, reply) => {
      const { from, to, reason } = request.body;
      const window = await monitor.addMaintenance({
        endpoint: knownEntry(shell, request.params.id).id,
        fromMs: from === undefined ? Date.now() : momentOf("from", from),
        toMs: momentOf("to", to),
        ...(reason !== undefined && { reason }),
      });
      void reply.header("Location", `/api/maintenance/${window.id}`);
      return sendNow(reply, shown(window), 201);
    },
  });
}

/** How endpoints are and were: state, availability, incidents, maintenance. */
export function addMonitorRoutes(app: TypedApp, shell: HttpShell): void {
  addStatus(app, shell);
  addAvailability(app, shell);
  addIncidents(app, shell);
  addMaintenance(app, shell);
}

/** An incident; with its evidence when it is shown alone. */
function incidentView(incident: Incident, whole: boolean): object {
  const { endpoint, url, evidence, ...rest } = incident;
  const { kind, ...subject } = subjectOf(incident);
  return {
    ...shown(rest),
    kind: kindOf(incident),
    subject: kind,
    ...subject,
    endpoint: kind === "endpoint" ? endpoint : undefined,
    url: kind === "network" ? undefined : url,
    state: incident.closedMs === undefined ? "open" : "closed",
    evidence: whole ? shown(evidence) : undefined,
  };
}
