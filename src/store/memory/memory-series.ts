import type { RangeBounds } from "../bounds.ts";
import type { SeriesPoint } from "../store.ts";

/** Time series of a memory store; arguments are checked by the store. */
export interface MemorySeries {
  append(series: string, points: readonly SeriesPoint[], retentionMs: number | undefined): void;
  range(series: string, bounds: RangeBounds): readonly SeriesPoint[];
  drop(series: string): void;
}

/** Index of the first point at or after a moment. */
function firstAt(points: readonly SeriesPoint[], atMs: number): number {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((points[middle]?.atMs ?? 0) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** No series yet. */
export function createMemorySeries(): MemorySeries {
  const all = new Map<string, SeriesPoint[]>();
  return {
    append(series, points, retentionMs) {
      const held = all.get(series) ?? [];
      let inOrder = true;
      for (const { atMs, value } of points) {
        inOrder &&= atMs >= (held.at(-1)?.atMs ?? atMs);
        held.push({ atMs, value });
      }
      // The sort is stable: points of one moment stay in the order of arrival.
      if (!inOrder) held.sort((left, right) => left.atMs - right.atMs);
      const newest = held.at(-1);
      if (newest === undefined) return;
      if (retentionMs !== undefined) held.splice(0, firstAt(held, newest.atMs - retentionMs));
      all.set(series, held);
    },
    range(series, { fromMs, toMs, limit }) {
      const held = all.get(series) ?? [];
      const start = firstAt(held, fromMs);
      return held.slice(start, Math.max(start, Math.min(firstAt(held, toMs), start + (limit ?? held.length))));
    },
    drop(series) {
      all.delete(series);
    },
  };
}
