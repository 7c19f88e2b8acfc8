import { Type } from "typebox";
import { healthStates } from "../monitor/monitor.ts";
import { paging } from "./paging.ts";
import { view, strictObject } from "./schemas.ts";

const moment = Type.String({ format: "date-time" });
const state = Type.Union(
  healthStates.map((name) => Type.Literal(name)),
  {
    description:
      "degraded: slow by its own history, or many probes fail; flapping: goes down again and again; unknown: never probed, not for three intervals, or only while the service had no network.",
  },
);
const faults = Type.Any({ description: "Number of faults by kind." });

const Observation = view("Observation", {
  at: moment,
  ok: Type.Boolean(),
  ms: Type.Number(),
  fault: Type.Optional(Type.String()),
  status: Type.Optional(Type.Integer()),
  detail: Type.Optional(Type.String()),
  tries: Type.Integer(),
  source: Type.String({ description: "turn (counts in uptime), early." }),
  maintenance: Type.Optional(Type.Boolean()),
  offline: Type.Optional(Type.Boolean({ description: "Made while this service could not reach the network." })),
});

const healthFields = {
  endpoint: Type.String(),
  url: Type.String(),
  state,
  since: Type.Optional(moment),
  streak: Type.Integer({ description: "Probes in a row that speak for another state." }),
  last: Type.Optional(Observation),
  incident: Type.Optional(Type.String()),
  maintenanceUntil: Type.Optional(moment),
};

const span = Type.Object({
  from: moment,
  probes: Type.Integer(),
  good: Type.Integer(),
  p50Ms: Type.Optional(Type.Number()),
  faults,
});

/** Answer of `GET /api/endpoints/{id}/availability`. */
export const AvailabilityRecord = view("Availability", {
  ...healthFields,
  windows: Type.Array(
    Type.Object({
      window: Type.String({ description: "24h, 7d, 30d or 90d: up to now, from the full hour in which it begins." }),
      probes: Type.Integer(),
      good: Type.Integer(),
      uptime: Type.Optional(Type.Number({ description: "Good probes of all probes, 0 to 1; absent without a probe." })),
      p50Ms: Type.Optional(Type.Number()),
      p90Ms: Type.Optional(Type.Number()),
      p99Ms: Type.Optional(Type.Number()),
      faults,
      first: Type.Optional(
        Type.String({ format: "date-time", description: "Beginning of the first hour with a probe." }),
      ),
    }),
  ),
  hours: Type.Array(span),
  days: Type.Array(span),
  score: Type.Any({ description: "Points of 100, and what each of them comes from." }),
});

const heartbeat = Type.Object({
  enabled: Type.Boolean(),
  alive: Type.Boolean(),
  last: Type.Optional(moment),
  gaps: Type.Array(Type.Object({ from: moment, to: moment })),
  offline: Type.Optional(
    Type.Object(
      { since: moment, incident: Type.String() },
      { description: "This service cannot reach the network; probes of endpoints beyond it say nothing." },
    ),
  ),
});

/** Answer of `GET /api/status`. */
export const StatusAnswer = view("Status", {
  heartbeat,
  counts: Type.Object({
    up: Type.Integer(),
    degraded: Type.Integer(),
    flapping: Type.Integer(),
    down: Type.Integer(),
    unknown: Type.Integer(),
  }),
  endpoints: Type.Array(Type.Object(healthFields)),
});

/** Parameters of `GET /api/incidents`. */
export const IncidentFilter = strictObject({
  endpoint: Type.Optional(Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,63}$", description: "Catalogue id." })),
  open: Type.Optional(Type.Boolean({ description: "Only those that are open, or only those that are not." })),
  ...paging,
});

/** One incident. */
export const IncidentRecord = view("Incident", {
  id: Type.String(),
  kind: Type.String({ description: "down, degraded, flapping, network, certificate, drift." }),
  summary: Type.Optional(Type.String()),
  notes: Type.Optional(Type.Array(Type.String(), { description: "Evidence that is text." })),
  repair: Type.Optional(Type.String({ description: "What mends it, e.g. a query." })),
  subject: Type.Union(["endpoint", "host", "network"].map((name) => Type.Literal(name))),
  partly: Type.Optional(Type.Boolean({ description: "Of an incident of the network: only a part of the hosts." })),
  endpoint: Type.Optional(Type.String({ description: "Of an incident of one endpoint: its id." })),
  host: Type.Optional(Type.String({ description: "Of an incident of a host: its name." })),
  endpoints: Type.Optional(Type.Array(Type.String(), { description: "Of an incident of a host: who failed alike." })),
  url: Type.Optional(Type.String()),
  state: Type.String(),
  started: moment,
  opened: moment,
  reopened: Type.Optional({ ...moment, description: "When it opened again, soon after it had closed." }),
  closed: Type.Optional(moment),
  closedBy: Type.Optional(Type.String()),
  fault: Type.Optional(Type.String()),
  faults,
  evidence: Type.Optional(Type.Array(Observation)),
});

/** Answer of `GET /api/incidents`. */
export const IncidentList = view("IncidentList", {
  incidents: Type.Array(IncidentRecord),
  next: Type.Optional(Type.String()),
});

/** Body of `POST /api/endpoints/{id}/maintenance`. */
export const MaintenanceBody = strictObject({
  from: Type.Optional(
    Type.String({
      maxLength: 40,
      description: "ISO 8601 with time zone, or a day in UTC; now when left out.",
      examples: ["2099-01-31T20:00:00Z"],
    }),
  ),
  to: Type.String({ maxLength: 40, description: "As from.", examples: ["2099-01-31T22:00:00Z"] }),
  reason: Type.Optional(Type.String({ maxLength: 300 })),
});

/** A maintenance window. */
export const MaintenanceRecord = view("Maintenance", {
  id: Type.String(),
  endpoint: Type.String(),
  from: moment,
  to: moment,
  reason: Type.Optional(Type.String()),
});

/** Answer of the routes that list maintenance windows. */
export const MaintenanceList = view("MaintenanceList", { maintenance: Type.Array(MaintenanceRecord) });

/** Parameters of `POST /api/snapshot`. */
export const SnapshotParameters = strictObject({
  reviewed: Type.Optional(Type.Boolean({ description: "Publish although it looks implausible." })),
});

/** Answer of `GET /api/webhooks/muted`. */
export const MutedMessages = view("MutedMessages", {
  muted: Type.Array(
    Type.Object({ id: Type.String(), receiver: Type.String(), endpoint: Type.String(), since: moment }),
  ),
});

/** Answer of `GET /api/webhooks/dead`. */
export const DeadLetters = Type.Object({ dead: Type.Array(Type.Any()) });
