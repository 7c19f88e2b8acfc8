import { Type } from "typebox";
import { createCollection } from "../store/collection.ts";
import type { Store } from "../store/store.ts";
import {
  addBins,
  type Counts,
  type HourBucket,
  hourMs,
  hourOf,
  type Hours,
  hourSchema,
  quantiles,
  readHour,
  storedDurations,
} from "./hours.ts";
import type { FaultCounts, HourSummary, WindowName, WindowSummary } from "./monitor.ts";

/** The hours of endpoints for 90 days, one document an endpoint and day. Every method throws FedwayError `STORE_FAILED`. */
export type History = ReturnType<typeof createHistory>;

const dayHours = 24;
/** Days of each window, the shortest first. */
const windowDays = { "24h": 1, "7d": 7, "30d": 30, "90d": 90 } as const satisfies Record<WindowName, number>;
const windowNames = ["24h", "7d", "30d", "90d"] as const satisfies readonly WindowName[];
const stripHours = windowDays["90d"] * dayHours;
/** How long a day's document stays after the day: a day more than it is read. */
const keptMs = (windowDays["90d"] + 1) * dayHours * hourMs;

const dayOf = ({ h }: HourBucket): number => Math.floor(h / dayHours);
const dayMs = (day: number): number => day * dayHours * hourMs;
const idOf = (endpoint: string, day: number): string =>
  `${endpoint}/${new Date(dayMs(day)).toISOString().slice(0, 10)}`;

/** The history in a store, under `monitor/day/{endpoint}/{yyyy-mm-dd}`. */
export function createHistory({ store, now }: { readonly store: Store; readonly now: () => number }) {
  const schema = Type.Object({ hours: Type.Array(hourSchema) });
  const days = createCollection<typeof schema, readonly HourBucket[]>(
    { store, prefix: "monitor/day/", schema, lost: "A day of the history of the endpoint is not shown." },
    {
      decode: ({ hours }) => hours.map(readHour),
      encode: (hours) => JSON.stringify({ hours: hours.map(storedDurations) }),
    },
  );
  return {
    /**
     * Writes hours that are over. Doing it again changes nothing, so the hours of an endpoint's record make up for a write
     * that its process did not come to.
     */
    async keep(endpoint: string, past: readonly HourBucket[]): Promise<void> {
      for (const [day, hours] of Map.groupBy(past, dayOf)) {
        const ttlMs = dayMs(day + 1) + keptMs - now();
        if (ttlMs < 1) continue;
        await days.change(idOf(endpoint, day), (there = []) => withHours(there, hours), { ttlMs: () => ttlMs });
      }
    },
    /** Windows and days up to now, from the stored days and the hours of the endpoint's record. */
    async read(endpoint: string, { past, running }: Hours) {
      const stored: HourBucket[] = [];
      for await (const [, hours] of days.entries(`${endpoint}/`)) stored.push(...hours);
      const latest = hourOf(now());
      // The strip begins with a whole day.
      const first = Math.floor((latest - stripHours) / dayHours) * dayHours;
      const all = withHours(stored, running ? [...past, running] : past).filter(
        ({ h, n }) => n > 0 && h >= first && h <= latest,
      );
      return { windows: windowsOf(all, latest), days: daysOf(all) };
    },
    async remove(endpoint: string): Promise<void> {
      for await (const [id] of days.versionedEntries(`${endpoint}/`)) await days.delete(id);
    },
  };
}

/**
 * Hours, each replaced by the newer one of its number; the same value where nothing changes. Good turns are never withdrawn:
 * one of fewer is from a clock that was put back.
 */
function withHours(there: readonly HourBucket[], newer: readonly HourBucket[]): readonly HourBucket[] {
  const hours = new Map(there.map((bucket) => [bucket.h, bucket]));
  let isChanged = false;
  for (const one of newer) {
    const known = hours.get(one.h);
    if (known !== undefined && (known.good > one.good || (known.good === one.good && known.n === one.n))) continue;
    hours.set(one.h, one.bins === undefined && known?.bins ? { ...one, bins: known.bins } : one);
    isChanged = true;
  }
  return isChanged ? [...hours.values()].toSorted((left, right) => left.h - right.h) : there;
}

/** Turns of several hours. */
interface Sum {
  n: number;
  good: number;
  readonly faults: Record<string, number>;
  readonly durations: Counts;
}

const emptySum = (): Sum => ({ n: 0, good: 0, faults: {}, durations: new Map() });

function add(sum: Sum, { n, good, faults = {}, bins, p50 }: HourBucket): void {
  sum.n += n;
  sum.good += good;
  for (const [kind, count = 0] of Object.entries(faults)) sum.faults[kind] = (sum.faults[kind] ?? 0) + count;
  const [, , , durations] = storedDurations({ h: 0, n, good, bins, p50 });
  if (Array.isArray(durations)) addBins(sum.durations, durations);
}

/** Windows end together: each goes on from the one before, back to the full hour in which it begins. */
function windowsOf(hours: readonly HourBucket[], latest: number): readonly WindowSummary[] {
  const sum = emptySum();
  let at = hours.length;
  return windowNames.map((window): WindowSummary => {
    for (const from = latest - windowDays[window] * dayHours; (hours[at - 1]?.h ?? -1) >= from; at -= 1) {
      const hour = hours[at - 1];
      if (hour) add(sum, hour);
    }
    const [p50Ms, p90Ms, p99Ms] = quantiles(sum.durations, [0.5, 0.9, 0.99]);
    const { n: probes, good } = sum;
    const first = at < hours.length ? hours[at] : undefined;
    const faults: FaultCounts = { ...sum.faults };
    const uptime = probes > 0 ? good / probes : undefined;
    return { window, probes, good, uptime, p50Ms, p90Ms, p99Ms, faults, firstMs: first && first.h * hourMs };
  });
}

/** Days (UTC) with turns, oldest first, the running one included. */
function daysOf(hours: readonly HourBucket[]): readonly HourSummary[] {
  return Array.from(Map.groupBy(hours, dayOf), ([day, inIt]): HourSummary => {
    const sum = emptySum();
    for (const hour of inIt) add(sum, hour);
    const { n: probes, good, faults, durations } = sum;
    return { fromMs: dayMs(day), probes, good, p50Ms: quantiles(durations, [0.5])[0], faults };
  });
}
