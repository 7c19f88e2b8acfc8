import { type Static, Type } from "typebox";
import { createCollection } from "../store/collection.ts";
import { Mirror } from "../store/mirror.ts";
import type { Store } from "../store/store.ts";
import type { Heartbeat } from "./monitor.ts";

/** Options of a heartbeat. */
export interface HeartbeatOptions {
  readonly store: Store;
  readonly enabled: boolean;
  /** Silence that is longer is a gap. */
  readonly quietMs: number;
}

/** Shows all processes if any of them probes. */
export type HeartbeatRepository = ReturnType<typeof createHeartbeat>;

const schema = Type.Object({
  lastMs: Type.Number(),
  gaps: Type.Array(Type.Object({ fromMs: Type.Number(), toMs: Type.Number() })),
});
type Beats = Static<typeof schema>;

const writeEveryMs = 10_000;
const mostGaps = 1_000;
const gapsKeptMs = 90 * 24 * 3_600_000;

/** The heartbeat in one document. */
export function createHeartbeat({ store, enabled, quietMs }: HeartbeatOptions) {
  // The only document of its collection.
  const id = "";
  const mirror = new Mirror(
    createCollection({
      store,
      prefix: "monitor/heartbeat",
      schema,
      lost: "Times in which the monitor did not run are not known.",
    }),
  );
  const beaten = (beats: Beats | undefined, nowMs: number): Beats | undefined => {
    const { lastMs, gaps = [] } = beats ?? {};
    const isFresh = lastMs !== undefined && nowMs - lastMs < writeEveryMs && lastMs - nowMs <= quietMs;
    if (isFresh) return undefined;
    const isGap = lastMs !== undefined && nowMs - lastMs > quietMs;
    const all = isGap ? [...gaps, { fromMs: lastMs, toMs: nowMs }] : gaps;
    return { lastMs: nowMs, gaps: all.filter(({ toMs }) => toMs > nowMs - gapsKeptMs).slice(-mostGaps) };
  };
  return {
    mirror,
    /** Somebody probes now; written at most every 10 s. @throws FedwayError `STORE_FAILED` */
    async beat(nowMs: number): Promise<void> {
      await mirror.change(id, (beats) => beaten(beats, nowMs));
    },
    /** From memory. */
    view(nowMs: number): Heartbeat {
      const { lastMs, gaps = [] } = mirror.get(id) ?? {};
      const alive = !enabled || (lastMs !== undefined && nowMs - lastMs <= quietMs);
      const kept = gaps.filter(({ toMs }) => toMs > nowMs - gapsKeptMs);
      return { enabled, lastMs, gaps: kept, alive };
    },
  };
}
