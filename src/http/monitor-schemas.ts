import { type TObject, type TSchema, Type } from "typebox";
import {
  Availability,
  EndpointHealth,
  healthStates,
  Heartbeat,
  Incident,
  IncidentKind,
  MaintenanceWindow,
  Score,
} from "../monitor/monitor.ts";
import { paging } from "./paging.ts";
import { view, strictObject, boolean, text } from "./schemas.ts";

/** Names of moments, such as atMs; p50Ms and the like are durations. */
const nameOfMoment = /^(?!p\d)(.+)Ms$/;
const shownName = (name: string): string => name.replace(nameOfMoment, "$1");

/** A record of the monitor as the JSON API shows it: `atMs`, milliseconds since the epoch, is `at` in ISO 8601. */
export function shown(record: object): object {
  if (Array.isArray(record)) return record.map(shownValue);
  const fields = Object.entries(record).map(([name, value]: [string, unknown]) => {
    const isMoment = typeof value === "number" && nameOfMoment.test(name);
    return isMoment ? [shownName(name), new Date(value).toISOString()] : [name, shownValue(value)];
  });
  return Object.fromEntries(fields);
}

const shownValue = (value: unknown): unknown => (typeof value === "object" && value !== null ? shown(value) : value);

/** Schemas of the fields of such records. */
export const shownFields = ({ properties }: TObject): Record<string, TSchema> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, field]) => {
      const its = nameOfMoment.test(name) ? { ...field, type: "string", format: "date-time" } : shownSchema(field);
      return [shownName(name), Type.IsOptional(field) ? Type.Optional(its) : its];
    }),
  );

function shownSchema(schema: TSchema): TSchema {
  if (Type.IsArray(schema)) return { ...schema, items: shownSchema(schema.items) };
  return Type.IsObject(schema) ? { ...schema, ...Type.Object(shownFields(schema)) } : schema;
}

/** Answer of `GET /api/endpoints/{id}/availability`. */
export const AvailabilityRecord = view("Availability", {
  ...shownFields(EndpointHealth),
  ...shownFields(Type.Omit(Availability, ["health"])),
  score: Score,
});

/** Answer of `GET /api/status`. */
export const StatusAnswer = view("Status", {
  heartbeat: shownSchema(Heartbeat),
  counts: Type.Object(Object.fromEntries(healthStates.map((state) => [state, Type.Integer()]))),
  endpoints: Type.Array(shownSchema(Type.Omit(EndpointHealth, ["hours"]))),
  next: Type.Optional(text("Cursor of the next page; absent on the last one.")),
});

/** Parameters of `GET /api/incidents`. */
export const IncidentFilter = strictObject({
  endpoint: Type.Optional(Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,63}$", description: "Catalogue id." })),
  open: Type.Optional(boolean("Only those that are open, or only those that are not.")),
  ...paging,
});

/** One incident. */
export const IncidentRecord = view("Incident", {
  ...shownFields(Incident),
  kind: IncidentKind,
  subject: Type.Enum(["endpoint", "host", "network"]),
  partly: Type.Optional(boolean("Of an incident of the network: only a part of the hosts.")),
  endpoint: Type.Optional(text("Of an incident of one endpoint: its id.")),
  host: Type.Optional(text("Of an incident of a host: its name.")),
  url: Type.Optional(Type.String()),
  state: Type.Enum(["open", "closed"]),
  evidence: Type.Optional(shownSchema(Incident.properties.evidence)),
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
export const MaintenanceRecord = shownSchema(MaintenanceWindow);

/** Parameters of `POST /api/snapshot`. */
export const SnapshotParameters = strictObject({
  reviewed: Type.Optional(Type.Boolean({ description: "Publish although it looks implausible." })),
});

/** Answer of `GET /api/webhooks/muted`. */
export const MutedMessages = view("MutedMessages", {
  muted: Type.Array(
    Type.Object({
      id: Type.String(),
      receiver: Type.String(),
      endpoint: Type.String(),
      since: Type.String({ format: "date-time" }),
    }),
  ),
});

/** Answer of `GET /api/webhooks/dead`. */
export const DeadLetters = Type.Object({ dead: Type.Array(Type.Any()) });
