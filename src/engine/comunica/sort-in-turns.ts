import type { Turns } from "./turns.ts";

/** How items are sorted. */
export interface Sorting<T> {
  readonly compare: (a: T, b: T) => number;
  readonly turns: Turns;
}

const RUN = 64;

/** The items in order, equal ones in the order they came in: a merge sort that gives others their turn. */
export async function sortInTurns<T>(items: readonly T[], sorting: Sorting<T>): Promise<readonly T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += RUN) {
    runs.push(items.slice(from, from + RUN).toSorted(sorting.compare));
    const pause = sorting.turns();
    if (pause) await pause;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) longer.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], sorting));
    runs = longer;
  }
  return runs[0] ?? [];
}

async function merge<T>(left: readonly T[], right: readonly T[], { compare, turns }: Sorting<T>): Promise<T[]> {
  const merged: T[] = [];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    const pause = turns();
    if (pause) await pause;
    if (compare(left[i] as T, right[j] as T) <= 0) merged.push(left[i++] as T);
    else merged.push(right[j++] as T);
  }
  while (i < left.length) merged.push(left[i++] as T);
  while (j < right.length) merged.push(right[j++] as T);
  return merged;
}
