import type { HealthRecord } from "./health-record.ts";
import type { HourBucket } from "./hour-buckets.ts";
import { parseRecord } from "./observation-text.ts";

const format = 1;

/** Texts of the hours that are over: most of a record, and the same from one probe to the next. */
const pastTexts = new WeakMap<readonly HourBucket[], string>();

function pastText(past: readonly HourBucket[]): string {
  const known = pastTexts.get(past);
  if (known !== undefined) return known;
  const text = JSON.stringify(past.map(({ h, n, good, p50 = null, faults }) => [h, n, good, p50, faults]));
  pastTexts.set(past, text);
  return text;
}

/** A record as JSON text. */
export function encodeHealth({ past, ...rest }: HealthRecord): string {
  return `{"format":${format},"past":${pastText(past)},${JSON.stringify(rest).slice(1)}`;
}

/** What `encodeHealth` wrote; undefined when it is something else. */
export function decodeHealth(text: string): HealthRecord | undefined {
  const { past, ...rest } = parseRecord(text) ?? {};
  const hours = Array.isArray(past) ? past.map(hourOf) : [undefined];
  const known = hours.filter((hour) => hour !== undefined);
  if (known.length !== hours.length || !isRecord(rest)) return undefined;
  const { format: _, ...record } = rest;
  return { ...record, past: known };
}

function hourOf(value: unknown): HourBucket | undefined {
  if (!Array.isArray(value)) return undefined;
  const [h, n, good, p50, faults]: unknown[] = value;
  if (typeof h !== "number" || typeof n !== "number" || typeof good !== "number") return undefined;
  return {
    h,
    n,
    good,
    ...(typeof p50 === "number" && { p50 }),
    ...(typeof faults === "object" && faults !== null && { faults }),
  };
}

type Stored = Partial<Record<string, unknown>> & Omit<HealthRecord, "past">;

const isRecord = (value: Partial<Record<string, unknown>>): value is Stored =>
  value["format"] === format &&
  typeof value["url"] === "string" &&
  isState(value["state"]) &&
  Number.isSafeInteger(value["streak"]) &&
  isListOf(value["trail"], "atMs") &&
  isListOf(value["outbox"], "incident") &&
  (value["running"] === undefined || isListOf([value["running"]], "h")) &&
  (value["open"] === undefined || isListOf([value["open"]], "id")) &&
  (value["last"] === undefined || isListOf([value["last"]], "atMs"));

const isState = (value: unknown): boolean => value === "up" || value === "down" || value === "unknown";

const isListOf = (value: unknown, key: string): boolean =>
  Array.isArray(value) && value.every((one: unknown) => typeof one === "object" && one !== null && key in one);
