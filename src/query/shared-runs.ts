import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../store/store.ts";
import { type OwnedRecord, recordLength } from "./run-log.ts";
import { createWriteBehind, writeAfterMs } from "./write-behind.ts";
import { parsedJson } from "../values.ts";

/** Options of sharing runs. */
export interface SharedRunsOptions {
  readonly store: Pick<Store, "get" | "put" | "list" | "watch">;
  /** Records of the log at the positions from `from` to before `to`. */
  readonly records: (from: number, to: number) => readonly OwnedRecord[];
  /** Longest time that a query may take. */
  readonly timeoutMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Places of the log that are written together, as one document. */
const pageSize = 64;
const keptMs = 3_600_000;
/** Characters of a page, about: it is put together, and read, on the main thread. A run that is too much stays here. */
const longestPage = 500_000;
/** Pages that are listed together, and characters that are read for one list. */
const pagesAtOnce = 16;
const mostRead = 64_000_000;
/** How far beyond its time limit a run may be: its client reads slowly, or clocks differ. */
const graceMs = 120_000;

const keyOf = (name: string, place: number): string => `run/${name}/${Math.floor(place / pageSize)}`;

/**
 * Copies the log into the store, page by page, after the answers were sent. The copy is no longer than the log: places that are
 * used again are written again. What the store does not take is written when it takes it again, as it is by then.
 */
export function shareRuns({ store, records, timeoutMs, now }: SharedRunsOptions) {
  const name = randomBytes(4).toString("hex");
  const pages = createWriteBehind(async (place: number) => {
    const page = fittingRecords(records(place, place + pageSize));
    await store.put(keyOf(name, place), JSON.stringify(page), { ttlMs: keptMs });
  });
  const read = async (id: string, { owner, place }: LogPosition): Promise<OwnedRecord | undefined> =>
    parsePage((await store.get(keyOf(owner, place)))?.value).find((record) => record.id === id);
  // One that cannot be under way any more: its process ended before it did.
  const isPossible = ({ status, startedAt }: OwnedRecord): boolean =>
    status !== "running" || now() - Date.parse(startedAt) <= timeoutMs + graceMs;
  return {
    /** Names this process in the ids of its runs. */
    name,
    /** To be called with the place in the log of each run that begins or ends. */
    changed: (place: number): void => pages.changed(place - (place % pageSize)),
    /** A run of another process. @throws FedwayError `STORE_FAILED` */
    async find(id: string): Promise<OwnedRecord | undefined> {
      const place = placeOf(id);
      if (place === undefined || place.owner === name) return undefined;
      let record = await read(id, place);
      if (record === undefined) {
        // Its answer may have been quicker than its record.
        await sleep(2 * writeAfterMs);
        record = await read(id, place);
      }
      return record && isPossible(record) ? record : undefined;
    },
    /** Calls `listener` when the record of a run of another process may have changed. @returns ends that */
    watch(id: string, listener: () => void): (() => void) | undefined {
      const place = placeOf(id);
      return place === undefined || place.owner === name
        ? undefined
        : store.watch(keyOf(place.owner, place.place), listener);
    },
    /** Records of other processes, some at a time; nothing of what is beyond the bound. @throws FedwayError `STORE_FAILED` */
    async *others(): AsyncGenerator<readonly OwnedRecord[]> {
      let after = "";
      for (let characters = 0; characters < mostRead; ) {
        const found = await store.list("run/", { limit: pagesAtOnce, after });
        for (const { key, value } of found) {
          after = key;
          characters += value.length;
          if (!key.startsWith(`run/${name}/`)) yield parsePage(value).filter(isPossible);
        }
        if (found.length < pagesAtOnce) return;
      }
    },
    /** Writes what is not written yet. */
    close: () => pages.close(),
  };
}

interface LogPosition {
  readonly owner: string;
  readonly place: number;
}

/** Process and position of a run; undefined for an id that is not of a shared run. */
function placeOf(id: string): LogPosition | undefined {
  const [, place = "", owner = ""] = /^([0-9a-z]{1,6})-([0-9a-f]{8})-[0-9a-f-]{36}$/.exec(id) ?? [];
  return owner === "" ? undefined : { owner, place: Number.parseInt(place, 36) };
}

function fittingRecords(page: readonly OwnedRecord[]): readonly OwnedRecord[] {
  let left = longestPage;
  const fits = (record: OwnedRecord): boolean => {
    const length = recordLength(record);
    if (length > left) return false;
    left -= length;
    return true;
  };
  return page.flatMap((record) => {
    if (fits(record)) return record;
    // The text is the part that a record can do without.
    const short = {
      ...record,
      steps: undefined,
      asked: record.asked && { ...record.asked, query: undefined, repairs: [] },
    };
    return fits(short) ? short : [];
  });
}

/** Parses a page; an unreadable one holds no records. */
function parsePage(text = "[]"): readonly OwnedRecord[] {
  const page = parsedJson(text);
  return Array.isArray(page) ? page.filter(isRecord) : [];
}

const isRecord = (value: unknown): value is OwnedRecord =>
  typeof value === "object" && value !== null && "id" in value && "status" in value && "startedAt" in value;
