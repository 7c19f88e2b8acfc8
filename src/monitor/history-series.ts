import type { Store } from "../store/store.ts";
import type { Observation } from "./monitor.ts";
import { decodeObservation, encodeObservation, parseRecord } from "./observation-text.ts";
import { decodeTally, encodeTally, type Tally } from "./tally.ts";

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** How long observations are kept. */
export const rawMs = 7 * dayMs;
const retentionMs = { raw: rawMs, hour: 90 * dayMs, day: 731 * dayMs } as const;

/** A series of tallies. */
export type Grain = "hour" | "day";

/** A stretch of time; `toMs` is outside. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Up to where the history of an endpoint is summarised: the ends, outside, of the last hour and of the last day. */
export interface RolledUpTo {
  readonly hour: number;
  readonly day: number;
}

/** The series of observations and tallies of endpoints, and how far they were rolled up. */
export interface HistorySeries {
  append(endpoint: string, observation: Observation): Promise<void>;
  /** Oldest first. */
  observations(endpoint: string, range: TimeRange): Promise<readonly Observation[]>;
  /** The moment of the first observation in a range. */
  firstMs(endpoint: string, range: TimeRange): Promise<number | undefined>;
  /** Adds tallies by their beginnings; one that is there already is replaced only by one of more turns. */
  appendTallies(endpoint: string, grain: Grain, tallies: ReadonlyMap<number, Tally>): Promise<void>;
  /** By their beginnings, oldest first. */
  tallies(endpoint: string, grain: Grain, range: TimeRange): Promise<ReadonlyMap<number, Tally>>;
  rolledUpTo(endpoint: string): Promise<RolledUpTo | undefined>;
  setRolledUpTo(endpoint: string, to: RolledUpTo): Promise<void>;
  remove(endpoint: string): Promise<void>;
}

/** What the series are built over. */
export interface HistorySeriesOptions {
  readonly store: Store;
  /** Hears of points that could not be read and count as not there. */
  readonly onDropped?: (endpoint: string, reason: string) => void;
}

const keyOf = (grain: Grain | "raw" | "rolled", endpoint: string): string => `monitor/${grain}/${endpoint}`;

/** Series under `monitor/raw/`, `monitor/hour/` and `monitor/day/`. */
export function createHistorySeries({ store, onDropped }: HistorySeriesOptions): HistorySeries {
  const tallies: HistorySeries["tallies"] = async (endpoint, grain, range) => {
    const found = new Map<number, Tally>();
    if (range.fromMs >= range.toMs) return found;
    // A series has no overwriting: of points of one moment the last to arrive is the one that counts.
    for (const { atMs, value } of await store.range(keyOf(grain, endpoint), range)) {
      const tally = decodeTally(atMs, value);
      if (tally === undefined) onDropped?.(endpoint, `a summary of one ${grain} cannot be read`);
      else found.set(atMs, tally);
    }
    return found;
  };
  return {
    tallies,
    append(endpoint, observation) {
      const point = { atMs: observation.atMs, value: encodeObservation(observation) };
      return store.append(keyOf("raw", endpoint), [point], { retentionMs: retentionMs.raw });
    },
    async firstMs(endpoint, range) {
      const [first] = await store.range(keyOf("raw", endpoint), { ...range, limit: 1 });
      return first?.atMs;
    },
    async observations(endpoint, range) {
      if (range.fromMs >= range.toMs) return [];
      const points = await store.range(keyOf("raw", endpoint), range);
      return points.flatMap(({ atMs, value }) => {
        const observation = decodeObservation(atMs, value);
        if (observation === undefined) onDropped?.(endpoint, "an observation cannot be read");
        return observation ?? [];
      });
    },
    async appendTallies(endpoint, grain, given) {
      const moments = [...given.keys()];
      if (moments.length === 0) return;
      const range = { fromMs: Math.min(...moments), toMs: Math.max(...moments) + 1 };
      const there = await tallies(endpoint, grain, range);
      const points = [...given]
        .filter(([atMs, tally]) => tally.probes > (there.get(atMs)?.probes ?? 0))
        .map(([atMs, tally]) => ({ atMs, value: encodeTally(tally, atMs) }));
      if (points.length > 0) await store.append(keyOf(grain, endpoint), points, { retentionMs: retentionMs[grain] });
    },
    async rolledUpTo(endpoint) {
      const document = await store.get(keyOf("rolled", endpoint));
      const { hour, day } = (document && parseRecord(document.value)) ?? {};
      return typeof hour === "number" && typeof day === "number" ? { hour, day } : undefined;
    },
    async setRolledUpTo(endpoint, to) {
      await store.put(keyOf("rolled", endpoint), JSON.stringify(to));
    },
    async remove(endpoint) {
      for (const kind of ["raw", "hour", "day"] as const) await store.dropSeries(keyOf(kind, endpoint));
      await store.delete(keyOf("rolled", endpoint));
    },
  };
}
