import { itemAt } from "../values.ts";

/** Size of an answer at a time. */
interface Point {
  readonly atMs: number;
  readonly size: number;
}

const weekMs = 7 * 24 * 3_600_000;
const leastSlackMs = 3 * 3_600_000;
const leastPoints = 6;
/** As a logarithm: 28 % more or 22 % less. */
const leastTolerance = 0.25;

/**
 * The size that is expected now, and whether that of a run fits: it is like the latest ones or, where the data have the rhythm of
 * a week, like that of one or two weeks ago, with the growth since. How far it may be off is what sizes have differed by.
 * Undefined before a week has been seen, and where this time of the week has not.
 */
export function expectedSize(
  points: readonly Point[],
  now: Point,
): { readonly size: number; readonly fits: boolean } | undefined {
  if (points.length < leastPoints || now.atMs - itemAt(points, 0).atMs < weekMs) return undefined;
  const logs = points.map(({ atMs, size }) => ({ atMs, x: Math.log1p(size) }));
  const steps = logs.slice(1).map(({ x }, at) => x - itemAt(logs, at).x);
  const gaps = logs.slice(1).map(({ atMs }, at) => atMs - itemAt(logs, at).atMs);
  const slackMs = Math.max(leastSlackMs, 0.6 * median(gaps));
  const sizesAt = (ms: number): readonly number[] =>
    logs
      .filter(({ atMs }) => Math.abs(atMs - ms) <= slackMs)
      .toSorted((one, other) => Math.abs(one.atMs - ms) - Math.abs(other.atMs - ms))
      .map(({ x }) => x);
  const weekly = logs.flatMap(({ atMs, x }) =>
    sizesAt(atMs - weekMs)
      .slice(0, 1)
      .map((before) => x - before),
  );
  const isRhythm = weekly.length >= 3;
  const growth = isRhythm ? median(weekly) : 0;
  const then = [1, 2].flatMap((weeks) => sizesAt(now.atMs - weeks * weekMs).map((x) => x + weeks * growth));
  const recent = logs.slice(-5).map(({ x }) => x);
  const isLikeRecent = isNear(now.size, median(recent), toleranceOf(steps));
  // A time of the week that was missed, as in an outage, may be like no other.
  if (then.length === 0 && !isLikeRecent) return undefined;
  const tolerance = toleranceOf(isRhythm ? weekly : steps);
  const fits = isLikeRecent || then.some((x) => isNear(now.size, x, tolerance));
  return { size: Math.expm1(then[0] ?? median(recent)), fits };
}

/** One row more or less is always near. */
const isNear = (size: number, x: number, tolerance: number): boolean =>
  Math.abs(Math.log1p(size) - x) <= tolerance || Math.abs(size - Math.expm1(x)) <= 1;

/** Five standard deviations, estimated from the median so that outliers do not widen it; more while few are known. */
function toleranceOf(differences: readonly number[]): number {
  const middle = median(differences);
  const deviation = 1.4826 * median(differences.map((one) => Math.abs(one - middle)));
  return Math.max(leastTolerance, (5 / Math.SQRT2) * deviation * (1 + 3 / Math.max(1, differences.length)));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const half = sorted.length >> 1;
  const upper = itemAt(sorted, half);
  return sorted.length % 2 === 1 ? upper : (itemAt(sorted, half - 1) + upper) / 2;
}
