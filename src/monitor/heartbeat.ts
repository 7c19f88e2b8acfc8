import type { Store } from "../store/store.ts";
import type { Heartbeat } from "./monitor.ts";
import { parseRecord } from "./tally.ts";

/** Whether anybody probes, as all processes see it. */
export interface HeartbeatBook {
  /** Somebody probes now; written at most every 10 s. @throws FedwayError `STORE_FAILED` */
  beat(nowMs: number): Promise<void>;
  /** Takes in the beats of other processes. @throws FedwayError `STORE_FAILED` */
  refresh(): Promise<void>;
  /** From memory. */
  view(nowMs: number): Heartbeat;
}

/** What a heartbeat is made of. */
export interface HeartbeatOptions {
  readonly store: Pick<Store, "get" | "put">;
  readonly enabled: boolean;
  /** Silence that is longer is a gap. */
  readonly quietMs: number;
}

type Gap = Heartbeat["gaps"][number];

interface Beats {
  readonly lastMs?: number;
  readonly gaps: readonly Gap[];
  readonly version: number;
}

const key = "monitor/heartbeat";
const writeEveryMs = 10_000;
const mostGaps = 1_000;
const gapsKeptMs = 90 * 24 * 3_600_000;

/** The heartbeat in one document. */
export function createHeartbeatBook({ store, enabled, quietMs }: HeartbeatOptions): HeartbeatBook {
  let beats: Beats = { gaps: [], version: 0 };
  const read = async (): Promise<void> => {
    const document = await store.get(key);
    beats = document === undefined ? { gaps: [], version: 0 } : beatsOf(document.value, document.version);
  };
  return {
    async beat(nowMs) {
      const { lastMs } = beats;
      const isFresh = lastMs !== undefined && nowMs - lastMs < writeEveryMs && lastMs - nowMs <= quietMs;
      if (isFresh) return;
      const gaps = gapsWith(beats, nowMs, quietMs);
      const version = await store.put(key, JSON.stringify({ lastMs: nowMs, gaps }), { ifVersion: beats.version });
      if (version === undefined) await read();
      else beats = { lastMs: nowMs, gaps, version };
    },
    refresh: read,
    view(nowMs) {
      const { lastMs, gaps } = beats;
      const alive = !enabled || (lastMs !== undefined && nowMs - lastMs <= quietMs);
      const kept = gaps.filter(({ toMs }) => toMs > nowMs - gapsKeptMs);
      return { enabled, ...(lastMs !== undefined && { lastMs }), gaps: kept, alive };
    },
  };
}

function gapsWith({ lastMs, gaps }: Beats, nowMs: number, quietMs: number): readonly Gap[] {
  const silent = lastMs !== undefined && nowMs - lastMs > quietMs;
  const all = silent ? [...gaps, { fromMs: lastMs, toMs: nowMs }] : gaps;
  return all.filter(({ toMs }) => toMs > nowMs - gapsKeptMs).slice(-mostGaps);
}

function beatsOf(value: string, version: number): Beats {
  const { lastMs, gaps } = parseRecord(value) ?? {};
  return {
    ...(typeof lastMs === "number" && { lastMs }),
    gaps: Array.isArray(gaps) ? gaps.filter(isGap) : [],
    version,
  };
}

const isGap = (value: unknown): value is Gap =>
  typeof value === "object" &&
  value !== null &&
  "fromMs" in value &&
  "toMs" in value &&
  typeof value.fromMs === "number" &&
  typeof value.toMs === "number";
