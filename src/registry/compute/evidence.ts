import type { Groups, Observation } from "./observation.ts";

/**
 * Whether an answer may have been cut at a row cap: it has as many rows as the endpoint is known to give, or, where
 * that is not known, a number that people choose as a cap.
 */
export function isCut(rows: number, cap: number | undefined): boolean {
  if (cap !== undefined) return rows >= cap;
  return rows >= 100 && (rows % 100 === 0 || Number.isInteger(Math.log2(rows)) || rows % 1024 === 0);
}

/** How two answers about the same keys relate, key by key. */
export interface Comparison {
  /** Keys of which both answers say the same. */
  readonly agreed: readonly string[];
  /** Keys of which they say different things: at least one of them is wrong, or the data changed. */
  readonly differing: readonly string[];
}

const none: Groups = new Map();

/** Compares the groups of `keys` in two answers; a key without groups agrees with itself. */
export function compare(keys: readonly string[], one: Observation, other: Observation): Comparison {
  const agreed: string[] = [];
  const differing: string[] = [];
  for (const key of keys) {
    const same = sameGroups(one.groups.get(key) ?? none, other.groups.get(key) ?? none);
    (same ? agreed : differing).push(key);
  }
  return { agreed, differing };
}

/** Whether two sets of groups are the same, counts included where both have them. */
export function sameGroups(one: Groups, other: Groups): boolean {
  if (one.size !== other.size) return false;
  for (const [name, group] of one) {
    const twin = other.get(name);
    if (twin === undefined) return false;
    if (!sameCount(group.n, twin.n) || !sameCount(group.ds, twin.ds) || !sameCount(group.do, twin.do)) return false;
  }
  return true;
}

const sameCount = (one: number | undefined, other: number | undefined): boolean =>
  one === undefined || other === undefined || one === other;

/** Sums of counts by the first detail IRI (a property), or one sum where a family has a single detail variable. */
export function sumsByFirst(groups: Groups, details: number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { detail, n } of groups.values()) {
    const name = details > 1 ? (detail[0] ?? "") : "";
    sums.set(name, (sums.get(name) ?? 0) + (n ?? 0));
  }
  return sums;
}
