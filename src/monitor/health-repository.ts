import { Type } from "typebox";
import { type Change, createCollection } from "../store/collection.ts";
import { Mirror } from "../store/mirror.ts";
import type { Store } from "../store/store.ts";
import type { HealthRecord, IncidentNotice } from "./health-record.ts";
import { type HourBucket, hourSchema, readHour, storedHour } from "./hour-buckets.ts";
import { healthStates } from "./monitor.ts";

/** The records of all endpoints by id, in the store and in memory. */
export type HealthRepository = Mirror<HealthRecord>;

const format = 1;
const objectWith = (key: string) => Type.Object({ [key]: Type.Unknown() });

/** Fields that identify a record; the rest is taken as it was written. */
const recordSchema = Type.Unsafe<Omit<HealthRecord, "past">>(
  Type.Object({
    url: Type.String(),
    state: Type.Enum([...healthStates]),
    streak: Type.Integer(),
    trail: Type.Array(objectWith("atMs")),
    outbox: Type.Array(objectWith("incident")),
    running: Type.Optional(objectWith("h")),
    open: Type.Optional(objectWith("id")),
    last: Type.Optional(objectWith("atMs")),
  }),
);

const storedSchema = Type.Intersect([
  Type.Object({ format: Type.Literal(format), past: Type.Array(hourSchema) }),
  recordSchema,
]);

/** The repository over a store; empty until it is refreshed. */
export const createHealthRepository = (store: Store): HealthRepository =>
  new Mirror(
    createCollection(
      {
        store,
        prefix: "monitor/health/",
        schema: storedSchema,
        lost: "The history of the endpoint begins anew with its next probe.",
      },
      {
        decode(stored): HealthRecord {
          const { format: _, past, ...record } = stored;
          return { ...record, past: past.map(readHour) };
        },
        encode: ({ past, ...rest }) => `{"format":${format},"past":${pastText(past)},${JSON.stringify(rest).slice(1)}`,
      },
    ),
  );

/** Texts of the hours that are over: most of a record, and the same from one probe to the next. */
const pastTexts = new WeakMap<readonly HourBucket[], string>();

function pastText(past: readonly HourBucket[]): string {
  const known = pastTexts.get(past);
  if (known !== undefined) return known;
  const text = JSON.stringify(past.map(storedHour));
  pastTexts.set(past, text);
  return text;
}

/** Incidents that this very change has opened or closed: only the process that made it notifies listeners. */
export function newNotices({ before, after }: Change<HealthRecord>): readonly IncidentNotice[] {
  if (after === undefined || after === before || after.outbox.length === 0) return [];
  const known = new Set(before?.outbox);
  return after.outbox.filter((notice) => !known.has(notice));
}
