import { FedwayError } from "../errors/fedway-error.ts";
import type { Store } from "../store/store.ts";
import type { HealthRecord, IncidentNotice } from "./health-record.ts";
import type { HourBucket } from "./hour-buckets.ts";
import { parseRecord } from "./tally.ts";

/** What an endpoint's record was and is; the same value when nothing was to be changed. */
export interface HealthChange {
  readonly before: HealthRecord | undefined;
  readonly after: HealthRecord | undefined;
}

/** Incidents that this very change has opened or closed: whoever made it tells listeners, nobody else. */
export function newNotices({ before, after }: HealthChange): readonly IncidentNotice[] {
  if (after === undefined || after === before || after.outbox.length === 0) return [];
  const known = new Set(before?.outbox);
  return after.outbox.filter((notice) => !known.has(notice));
}

/** The records of all endpoints: in the store, and in memory as this process last saw them. */
export interface HealthBook {
  /** From memory. */
  get(endpoint: string): HealthRecord | undefined;
  /** From memory. */
  entries(): Iterable<readonly [endpoint: string, record: HealthRecord]>;
  /** Endpoints with something in their outbox. From memory. */
  withNotices(): readonly string[];
  /** Takes in what other processes have written. @throws FedwayError `STORE_FAILED` */
  refresh(): Promise<void>;
  /**
   * Changes a record by compare-and-set, beginning anew as often as others are faster.
   * @param change must depend on nothing but its argument; undefined leaves the record as it is
   * @throws FedwayError `STORE_FAILED`
   */
  change(
    endpoint: string,
    change: (record: HealthRecord | undefined) => HealthRecord | undefined,
  ): Promise<HealthChange>;
  /** Removes a record that is still this one. @throws FedwayError `STORE_FAILED` */
  remove(endpoint: string, record: HealthRecord): Promise<void>;
}

interface Held {
  readonly version: number;
  /** Undefined when the stored text could not be read; it is written over. */
  readonly record: HealthRecord | undefined;
}

const prefix = "monitor/health/";
const pageSize = 1_000;
/** More processes than would change one record at the same time. */
const mostTurns = 50;

/** What is in memory. */
class HeldRecords {
  readonly #held = new Map<string, Held>();
  readonly #noticing = new Set<string>();

  get(endpoint: string): Held | undefined {
    return this.#held.get(endpoint);
  }

  keep(endpoint: string, held: Held): void {
    this.#held.set(endpoint, held);
    if ((held.record?.outbox.length ?? 0) > 0) this.#noticing.add(endpoint);
    else this.#noticing.delete(endpoint);
  }

  drop(endpoint: string): void {
    this.#held.delete(endpoint);
    this.#noticing.delete(endpoint);
  }

  copy(): ReadonlyMap<string, Held> {
    return new Map(this.#held);
  }

  *records(): Iterable<readonly [endpoint: string, record: HealthRecord]> {
    for (const [endpoint, { record }] of this.#held) if (record !== undefined) yield [endpoint, record];
  }

  withNotices(): readonly string[] {
    return Array.from(this.#noticing);
  }
}

type HealthStore = Pick<Store, "get" | "put" | "delete" | "list">;

/** The book over a store; empty until it is refreshed. */
export function createHealthBook(store: HealthStore): HealthBook {
  const held = new HeldRecords();
  return {
    get: (endpoint) => held.get(endpoint)?.record,
    entries: () => held.records(),
    withNotices: () => held.withNotices(),
    refresh: () => refresh(store, held),
    async change(endpoint, change) {
      let current = held.get(endpoint);
      for (let turn = 0; turn < mostTurns; turn += 1) {
        const before = current?.record;
        const after = change(before);
        if (after === undefined || after === before) return { before, after: before };
        const version = await store.put(prefix + endpoint, encodeHealth(after), { ifVersion: current?.version ?? 0 });
        if (version !== undefined) {
          held.keep(endpoint, { version, record: after });
          return { before, after };
        }
        current = await readAgain(store, held, endpoint);
      }
      throw new FedwayError("STORE_FAILED", "The state of the endpoint changes all the time and could not be written.");
    },
    async remove(endpoint, record) {
      const known = held.get(endpoint);
      if (known?.record !== record) return;
      await store.delete(prefix + endpoint, { ifVersion: known.version });
      if (held.get(endpoint) === known) held.drop(endpoint);
    },
  };
}

async function readAgain(store: HealthStore, held: HeldRecords, endpoint: string): Promise<Held | undefined> {
  const document = await store.get(prefix + endpoint);
  const found = document && { version: document.version, record: decodeHealth(document.value) };
  if (found) held.keep(endpoint, found);
  else held.drop(endpoint);
  return found;
}

async function refresh(store: HealthStore, held: HeldRecords): Promise<void> {
  const before = held.copy();
  const found = await listed(store, held);
  // What this process wrote meanwhile is newer than what was listed. Versions alone do not tell, as a store that was
  // emptied begins to count anew.
  const isUntouched = (endpoint: string): boolean => held.get(endpoint) === before.get(endpoint);
  for (const [endpoint, one] of found) if (isUntouched(endpoint)) held.keep(endpoint, one);
  for (const endpoint of before.keys()) if (!found.has(endpoint) && isUntouched(endpoint)) held.drop(endpoint);
}

/** All records; those that have not changed are not read again. */
async function listed(store: HealthStore, held: HeldRecords): Promise<ReadonlyMap<string, Held>> {
  const found = new Map<string, Held>();
  for (let after: string | undefined; ; ) {
    const page = await store.list(prefix, { limit: pageSize, ...(after !== undefined && { after }) });
    for (const { key, version, value } of page) {
      const endpoint = key.slice(prefix.length);
      const known = held.get(endpoint);
      found.set(endpoint, known?.version === version ? known : { version, record: decodeHealth(value) });
    }
    after = page.at(-1)?.key;
    if (page.length < pageSize) return found;
  }
}

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
