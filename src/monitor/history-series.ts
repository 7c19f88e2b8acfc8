import { type Static, Type } from "typebox";
import { createCollection } from "../store/collection.ts";
import type { Store } from "../store/store.ts";
import type { Observation } from "./monitor.ts";
import { decodeTally, encodeTally, isFaultKind, parseRecord, type Tally } from "./tally.ts";

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
const rolledSchema = Type.Object({ hour: Type.Number(), day: Type.Number() });
export type RolledUpTo = Readonly<Static<typeof rolledSchema>>;

/** The series of observations and tallies of endpoints, and how far they were rolled up. */
export type HistorySeries = ReturnType<typeof createHistorySeries>;

/** What the series are built over. */
export interface HistorySeriesOptions {
  readonly store: Store;
  /** Called with points that could not be read and count as missing. */
  readonly onDropped?: (endpoint: string, reason: string) => void;
}

const keyOf = (grain: Grain | "raw", endpoint: string): string => `monitor/${grain}/${endpoint}`;

/** Series under `monitor/raw/`, `monitor/hour/` and `monitor/day/`. */
export function createHistorySeries({ store, onDropped }: HistorySeriesOptions) {
  const rolled = createCollection({ store, prefix: "monitor/rolled/", schema: rolledSchema });
  const tallies = async (endpoint: string, grain: Grain, range: TimeRange): Promise<ReadonlyMap<number, Tally>> => {
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
    /** By their beginnings, oldest first. */
    tallies,
    append(endpoint: string, observation: Observation): Promise<void> {
      const point = { atMs: observation.atMs, value: encodeObservation(observation) };
      return store.append(keyOf("raw", endpoint), [point], { retentionMs: retentionMs.raw });
    },
    /** The moment of the first observation in a range. */
    async firstMs(endpoint: string, range: TimeRange): Promise<number | undefined> {
      const [first] = await store.range(keyOf("raw", endpoint), { ...range, limit: 1 });
      return first?.atMs;
    },
    /** Oldest first. */
    async observations(endpoint: string, range: TimeRange): Promise<readonly Observation[]> {
      if (range.fromMs >= range.toMs) return [];
      const points = await store.range(keyOf("raw", endpoint), range);
      const found = points.flatMap(({ atMs, value }) => {
        const observation = decodeObservation(atMs, value);
        if (observation === undefined) onDropped?.(endpoint, "an observation cannot be read");
        return observation ?? [];
      });
      return withoutWithdrawn(found);
    },
    /** Adds tallies by their beginnings; one that is there already is replaced only by one of more turns. */
    async appendTallies(endpoint: string, grain: Grain, given: ReadonlyMap<number, Tally>): Promise<void> {
      const moments = [...given.keys()];
      if (moments.length === 0) return;
      const range = { fromMs: Math.min(...moments), toMs: Math.max(...moments) + 1 };
      const there = await tallies(endpoint, grain, range);
      const points = [...given]
        .filter(([atMs, tally]) => tally.probes > (there.get(atMs)?.probes ?? 0))
        .map(([atMs, tally]) => ({ atMs, value: encodeTally(tally, atMs) }));
      if (points.length > 0) await store.append(keyOf(grain, endpoint), points, { retentionMs: retentionMs[grain] });
    },
    rolledUpTo: (endpoint: string): Promise<RolledUpTo | undefined> => rolled.get(endpoint),
    async setRolledUpTo(endpoint: string, to: RolledUpTo): Promise<void> {
      await rolled.put(endpoint, to);
    },
    async remove(endpoint: string): Promise<void> {
      for (const kind of ["raw", "hour", "day"] as const) await store.dropSeries(keyOf(kind, endpoint));
      await rolled.delete(endpoint);
    },
  };
}

const nameOf = ({ atMs, source }: Observation): string => `${atMs} ${source}`;

/** A probe that is found to have been made offline is kept a second time, marked so: then that is the one that holds. */
function withoutWithdrawn(found: readonly Observation[]): readonly Observation[] {
  const withdrawn = new Set(found.filter(({ offline }) => offline).map(nameOf));
  return withdrawn.size === 0 ? found : found.filter((one) => one.offline || !withdrawn.has(nameOf(one)));
}

const mostDetail = 300;

/** To a hundredth of a millisecond: more digits are noise and take room. */
const rounded = (ms: number): number => Math.round(ms * 100) / 100;

/** The first characters of a text, no surrogate pair cut in two: the store takes well-formed text only. */
const bounded = (detail: string): string => detail.slice(0, mostDetail).toWellFormed();

/**
 * An observation as JSON text, without its moment. Whatever is as usual is left out, so that most are `{"m":12.3}`:
 * milliseconds, 0 for not ok, fault, HTTP status, detail, tries, source, 1 for in maintenance, 1 for offline.
 */
function encodeObservation(observation: Observation): string {
  const { ms, ok, fault, status, detail, tries, source, maintenance, offline } = observation;
  return JSON.stringify({
    m: rounded(ms),
    k: ok ? undefined : 0,
    f: fault,
    s: status,
    d: detail === undefined ? undefined : bounded(detail),
    t: tries === 1 ? undefined : tries,
    o: source === "turn" ? undefined : source,
    w: maintenance ? 1 : undefined,
    x: offline ? 1 : undefined,
  });
}

/** What `encodeObservation` wrote; undefined when it is something else. */
function decodeObservation(atMs: number, text: string): Observation | undefined {
  const kept = parseRecord(text);
  if (kept === undefined) return undefined;
  const { m, k, f, s, d, t = 1, o = "turn", w, x } = kept;
  if (typeof m !== "number" || typeof t !== "number" || !isSource(o)) return undefined;
  return {
    atMs,
    ok: k !== 0,
    ms: m,
    fault: isFaultKind(f) ? f : undefined,
    status: typeof s === "number" ? s : undefined,
    detail: typeof d === "string" ? d : undefined,
    tries: t,
    source: o,
    maintenance: w === 1 ? true : undefined,
    offline: x === 1 ? true : undefined,
  };
}

const isSource = (value: unknown): value is Observation["source"] =>
  value === "turn" || value === "early" || value === "traffic";
