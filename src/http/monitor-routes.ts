import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import type {
  EndpointHealth,
  HealthState,
  Availability,
  Heartbeat,
  HourSummary,
  Incident,
  MaintenanceWindow,
  Observation,
  WindowSummary,
} from "../monitor/monitor.ts";
import { answers } from "./api-routes.ts";
import { sendJson, plainHeaders } from "./common-headers.ts";
import type { HttpDeps } from "./http-deps.ts";
import {
  AvailabilityRecord,
  IncidentFilter,
  IncidentList,
  IncidentRecord,
  MaintenanceList,
  MaintenanceRecord,
  MaintenanceBody,
  StatusAnswer,
} from "./monitor-schemas.ts";
import { knownEntry } from "./registry-routes.ts";
import { IdPath, Problem } from "./schemas.ts";
import { guarded } from "./write-access.ts";

const tags = ["Availability"];
const uncached = { "Cache-Control": "no-store" } as const;

const countOf = (all: readonly EndpointHealth[], wanted: HealthState): number =>
  all.filter(({ state }) => state === wanted).length;

function addStatus(untyped: FastifyInstance, { monitor }: HttpDeps): void {
  untyped.get("/api/status", {
    schema: { tags, summary: "The state of all endpoints, and of the monitor itself", response: answers(StatusAnswer) },
    handler: (_request, reply) => {
      const all = monitor.all();
      return sendJson(reply.headers(uncached), {
        heartbeat: heartbeatView(monitor.heartbeat()),
        counts: { up: countOf(all, "up"), down: countOf(all, "down"), unknown: countOf(all, "unknown") },
        endpoints: all.map(healthView),
      });
    },
  });
}

function addAvailability(untyped: FastifyInstance, deps: HttpDeps): void {
  const app = untyped.withTypeProvider<TypeBoxTypeProvider>();
  app.get("/api/endpoints/:id/availability", {
    schema: {
      tags,
      summary: "How an endpoint is and was: state, uptime, percentiles of durations, score",
      params: IdPath,
      response: answers(AvailabilityRecord),
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      knownEntry(deps, id);
      const [availability, score] = await Promise.all([deps.monitor.availability(id), deps.monitor.score(id)]);
      // The monitor may be a moment behind the catalogue.
      const known = availability ?? { health: unseen(id, deps), windows: [], days: [] };
      return sendJson(reply.headers(uncached), { ...availabilityView(known), score: score ?? { parts: [] } });
    },
  });
}

const unseen = (id: string, deps: HttpDeps): EndpointHealth => ({
  endpoint: id,
  url: knownEntry(deps, id).url,
  state: "unknown",
  streak: 0,
  hours: [],
});

function addIncidents(untyped: FastifyInstance, deps: HttpDeps): void {
  const app = untyped.withTypeProvider<TypeBoxTypeProvider>();
  const { monitor } = deps;
  app.get("/api/incidents", {
    schema: {
      tags,
      summary: "List incidents, newest first",
      querystring: IncidentFilter,
      response: answers(IncidentList),
    },
    handler: async (request, reply) => {
      const incidents = await monitor.incidents(request.query);
      return sendJson(reply.headers(uncached), { incidents: incidents.map((each) => incidentView(each, false)) });
    },
  });
  app.get("/api/endpoints/:id/incidents", {
    schema: { tags, summary: "List an endpoint's incidents", params: IdPath, response: answers(IncidentList) },
    handler: async (request, reply) => {
      const endpoint = knownEntry(deps, request.params.id).id;
      const incidents = await monitor.incidents({ endpoint });
      return sendJson(reply.headers(uncached), { incidents: incidents.map((each) => incidentView(each, false)) });
    },
  });
  app.get("/api/incidents/:id", {
    schema: { tags, summary: "Get an incident with its evidence", params: IdPath, response: answers(IncidentRecord) },
    handler: async (request, reply) => {
      const incident = await monitor.incident(request.params.id);
      if (incident) return sendJson(reply.headers(uncached), incidentView(incident, true));
      throw new FedwayError("INCIDENT_UNKNOWN", "The incident is not known; old ones are removed.", {
        next: "GET /api/incidents lists those that are kept.",
      });
    },
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
function momentOf(name: string, text: string): number {
  const [, day] = moment.exec(text) ?? [];
  const ms = day !== undefined && isInCalendar(day) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(ms)) return ms;
  throw new FedwayError("REQUEST_INVALID", `"${name}" is not a moment in ISO 8601 with its time zone.`, {
    next: "Send a moment such as 2026-01-31T22:00:00Z.",
  });
}

function addMaintenance(untyped: FastifyInstance, deps: HttpDeps): void {
  const app = untyped.withTypeProvider<TypeBoxTypeProvider>();
  const { monitor } = deps;
  app.get("/api/maintenance", {
    schema: { tags, summary: "List maintenance windows that have not ended", response: answers(MaintenanceList) },
    handler: async (_request, reply) =>
      sendJson(reply.headers(uncached), { maintenance: (await monitor.maintenance()).map(maintenanceView) }),
  });
  app.get("/api/endpoints/:id/maintenance", {
    schema: {
      tags,
      summary: "List an endpoint's maintenance windows that have not ended",
      params: IdPath,
      response: answers(MaintenanceList),
    },
    handler: async (request, reply) => {
      const { id } = knownEntry(deps, request.params.id);
      return sendJson(reply.headers(uncached), { maintenance: (await monitor.maintenance(id)).map(maintenanceView) });
    },
  });
  app.post("/api/endpoints/:id/maintenance", {
    ...guarded,
    schema: {
      tags,
      summary: "Announce a time in which an endpoint's probes count nowhere",
      params: IdPath,
      body: MaintenanceBody,
      response: { 201: MaintenanceRecord, "4xx": Problem, "5xx": Problem },
    },
    handler: async (request, reply) => {
      const { from, to, reason } = request.body;
      const window = await monitor.addMaintenance({
        endpoint: knownEntry(deps, request.params.id).id,
        fromMs: from === undefined ? Date.now() : momentOf("from", from),
        toMs: momentOf("to", to),
        ...(reason !== undefined && { reason }),
      });
      void reply.header("Location", `/api/maintenance/${window.id}`);
      return sendJson(reply.headers(uncached), maintenanceView(window), 201);
    },
  });
  app.delete("/api/maintenance/:id", {
    ...guarded,
    schema: { tags, summary: "Call a maintenance window off", params: IdPath },
    handler: async (request, reply) => {
      if (await monitor.removeMaintenance(request.params.id)) return reply.code(204).headers(plainHeaders).send();
      throw new FedwayError("NOT_FOUND", "There is no such maintenance window.", {
        next: "GET /api/maintenance lists them.",
      });
    },
  });
}

/** How endpoints are and were: state, availability, incidents, maintenance. */
export function addMonitorRoutes(app: FastifyInstance, deps: HttpDeps): void {
  addStatus(app, deps);
  addAvailability(app, deps);
  addIncidents(app, deps);
  addMaintenance(app, deps);
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** A moment under another name; nothing where there is none. */
const at = (name: string, ms: number | undefined): object => (ms === undefined ? {} : { [name]: iso(ms) });

/** An observation as the JSON API shows it: moments in ISO 8601, durations in milliseconds. */
const observationView = ({ atMs, ...rest }: Observation): object => ({ at: iso(atMs), ...rest });

const hourView = ({ fromMs, ...rest }: HourSummary): object => ({ from: iso(fromMs), ...rest });

const windowView = ({ firstMs, ...rest }: WindowSummary): object => ({ ...rest, ...at("first", firstMs) });

/** The state of an endpoint, without its hours. */
function healthView(health: EndpointHealth): object {
  const { endpoint, url, state, streak, sinceMs, last, incident, maintenanceUntilMs } = health;
  return {
    endpoint,
    url,
    state,
    ...at("since", sinceMs),
    streak,
    ...(last && { last: observationView(last) }),
    ...(incident !== undefined && { incident }),
    ...at("maintenanceUntil", maintenanceUntilMs),
  };
}

/** The record of an endpoint. */
const availabilityView = ({ health, windows, days }: Availability): object => ({
  ...healthView(health),
  windows: windows.map(windowView),
  hours: health.hours.map(hourView),
  days: days.map(hourView),
});

/** An incident; with its evidence when it is shown alone. */
function incidentView(incident: Incident, whole: boolean): object {
  const { startedMs, openedMs, closedMs, evidence, ...rest } = incident;
  return {
    ...rest,
    state: closedMs === undefined ? "open" : "closed",
    started: iso(startedMs),
    opened: iso(openedMs),
    ...at("closed", closedMs),
    ...(whole && { evidence: evidence.map(observationView) }),
  };
}

/** A maintenance window. */
const maintenanceView = ({ fromMs, toMs, ...rest }: MaintenanceWindow): object => ({
  ...rest,
  from: iso(fromMs),
  to: iso(toMs),
});

/** Whether the monitor runs. */
const heartbeatView = ({ enabled, alive, lastMs, gaps }: Heartbeat): object => ({
  enabled,
  alive,
  ...at("last", lastMs),
  gaps: gaps.map(({ fromMs, toMs }) => ({ from: iso(fromMs), to: iso(toMs) })),
});
