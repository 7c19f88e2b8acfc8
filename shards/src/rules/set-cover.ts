import { itemAt, valueFor } from "../../../src/values.ts";

/** A set-cover problem in numbers. */
export interface CoverInstance {
  /** For each rule in canonical order the queries that it covers, ascending. */
  readonly rules: readonly (readonly number[])[];
  readonly queries: number;
}

/** For each query the rules that cover it, ascending. */
export function coverersOf({ rules, queries }: CoverInstance): readonly (readonly number[])[] {
  const coverers: number[][] = Array.from({ length: queries }, () => []);
  for (const [rule, covers] of rules.entries()) for (const query of covers) itemAt(coverers, query).push(rule);
  return coverers;
}

/**
 * Drops parts that cannot matter for the size of a minimum cover, until nothing changes:
 * - a rule whose queries another rule covers as well (of equal ones the first in canonical order stays);
 * - a query whose rules include all the rules of another query (whoever covers that one covers it);
 * - a rule that is the only one left for a query is in, and its queries are done.
 * Queries without any rule must be taken out before.
 */
export function reduceCover(instance: CoverInstance) {
  const covers = instance.rules.map((queries) => new Set(queries));
  const coverers = coverersOf(instance).map((rules) => new Set(rules));
  const forced = new Set<number>();
  const state: Reduction = { covers, coverers, forced };
  while (forceRules(state) || dropRules(state) || dropQueries(state));
  const kept = covers.flatMap(({ size }, rule) => (size > 0 ? [rule] : []));
  const queries = coverers.flatMap(({ size }, query) => (size > 0 ? [query] : []));
  const renumbered = new Map(queries.map((query, at) => [query, at]));
  return {
    /** The remainder when nothing is redundant. */
    core: {
      rules: kept.map((rule) =>
        [...itemAt(covers, rule)].map((query) => valueFor(renumbered, query)).toSorted(ascending),
      ),
      queries: queries.length,
    },
    /** For each rule of the core its number in the original problem, ascending. */
    kept,
    /** Rules of the original problem that are the only one left for some query, ascending. */
    forced: [...forced].toSorted(ascending),
  };
}

const ascending = (left: number, right: number): number => left - right;

/** Both directions of "covers"; a dropped rule or query has an empty set. */
interface Reduction {
  readonly covers: readonly Set<number>[];
  readonly coverers: readonly Set<number>[];
  readonly forced: Set<number>;
}

function forceRules({ covers, coverers, forced }: Reduction): boolean {
  const before = forced.size;
  for (const rules of coverers) {
    const [rule] = rules;
    if (rules.size !== 1 || rule === undefined) continue;
    forced.add(rule);
    for (const query of Array.from(itemAt(covers, rule))) remove(coverers, query, covers);
  }
  return forced.size > before;
}

const dropRules = ({ covers, coverers }: Reduction): boolean =>
  dropDominated(covers, coverers, (rule, other) => {
    const [own, others] = [itemAt(covers, rule).size, itemAt(covers, other).size];
    return others > own || (others === own && other < rule);
  });

const dropQueries = ({ covers, coverers }: Reduction): boolean => {
  // The query with more rules is the redundant one: the roles of subset and superset are exchanged.
  let changed = false;
  for (const [query, rules] of coverers.entries()) {
    if (rules.size === 0) continue;
    for (const other of neighbours(rules, covers)) {
      const others = itemAt(coverers, other);
      if (other === query || others.size === 0 || !others.isSubsetOf(rules)) continue;
      if (others.size === rules.size && other > query) continue;
      remove(coverers, query, covers);
      changed = true;
      break;
    }
  }
  return changed;
};

/** Takes out each entry of `sets` that is a subset of another one which `wins` over it. */
function dropDominated(
  sets: readonly Set<number>[],
  inverse: readonly Set<number>[],
  wins: (entry: number, other: number) => boolean,
): boolean {
  let changed = false;
  for (const [entry, members] of sets.entries()) {
    const rarest = smallest(members, inverse);
    for (const other of rarest === undefined ? [] : itemAt(inverse, rarest)) {
      if (other === entry || !wins(entry, other) || !members.isSubsetOf(itemAt(sets, other))) continue;
      remove(sets, entry, inverse);
      changed = true;
      break;
    }
  }
  return changed;
}

/** A superset of `members` is among those that have its rarest member. */
function smallest(members: ReadonlySet<number>, inverse: readonly ReadonlySet<number>[]): number | undefined {
  let best: number | undefined;
  for (const member of members) {
    if (best === undefined || itemAt(inverse, member).size < itemAt(inverse, best).size) best = member;
  }
  return best;
}

function neighbours(rules: ReadonlySet<number>, covers: readonly ReadonlySet<number>[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (const rule of rules) for (const query of itemAt(covers, rule)) found.add(query);
  return found;
}

function remove(sets: readonly Set<number>[], entry: number, inverse: readonly Set<number>[]): void {
  const members = itemAt(sets, entry);
  for (const member of members) itemAt(inverse, member).delete(entry);
  members.clear();
}

/**
 * A small cover: the rule that covers most of the queries that are left, again and again (of equal ones the first), then
 * without those that have become needless.
 */
export function greedyCover({ rules, queries }: CoverInstance): readonly number[] {
  const coverers = coverersOf({ rules, queries });
  const gains = rules.map(({ length }) => length);
  const times = new Uint32Array(queries);
  const chosen: number[] = [];
  for (let left = queries; left > 0; ) {
    const best = gains.reduce((first, gain, rule) => (gain > gains[first]! ? rule : first), 0);
    chosen.push(best);
    for (const query of itemAt(rules, best)) {
      times[query]! += 1;
      if (times[query] !== 1) continue;
      left -= 1;
      for (const rule of itemAt(coverers, query)) gains[rule]! -= 1;
    }
  }
  const needed = chosen.filter((rule) => {
    const covers = itemAt(rules, rule);
    const isNeedless = covers.every((query) => times[query]! > 1);
    if (isNeedless) for (const query of covers) times[query]! -= 1;
    return !isNeedless;
  });
  return needed.toSorted(ascending);
}

const rounds = 600;

/**
 * A lower bound of the size of a cover by Lagrangian relaxation (Fisher 1981; for set covering Caprara, Fischetti, Toth
 * 1999): with a price y >= 0 on each query, no cover has fewer rules than sum(y) + sum over rules of min(0, 1 - sum of the
 * prices of its queries). The prices follow the subgradient; the best bound approaches that of the linear relaxation.
 * @param target the size of a known cover; ends as soon as the bound proves it
 * @param untilMs by `performance.now()`; the bound that is known by then holds, too
 */
export function linearBound(instance: CoverInstance, target: number, untilMs = Number.POSITIVE_INFINITY): number {
  const { rules, queries } = instance;
  const coverers = coverersOf(instance);
  const prices = Float64Array.from(coverers, (covering) =>
    Math.min(...covering.map((rule) => 1 / itemAt(rules, rule).length)),
  );
  let highest = 0;
  let agility = 1;
  let sinceBetter = 0;
  const isOver = (): boolean => Math.ceil(highest - safety) >= target || performance.now() >= untilMs;
  for (let round = 0; round < rounds && !isOver(); round += 1) {
    const reduced = rules.map((covers) => covers.reduce((cost, query) => cost - prices[query]!, 1));
    const bound = sum(prices) + reduced.reduce((total, cost) => total + Math.min(0, cost), 0);
    sinceBetter = bound > highest + 1e-4 ? 0 : sinceBetter + 1;
    highest = Math.max(highest, bound);
    if (sinceBetter >= 20) {
      agility /= 2;
      sinceBetter = 0;
    }
    const slack = coverers.map((covering) => 1 - covering.filter((rule) => reduced[rule]! < 0).length);
    const norm = slack.reduce((total, value) => total + value * value, 0);
    if (norm === 0) break;
    const step = (agility * (target - bound)) / norm;
    for (let query = 0; query < queries; query += 1) {
      prices[query] = Math.max(0, prices[query]! + step * slack[query]!);
    }
  }
  return Math.max(0, Math.ceil(highest - safety));
}

/** More than what rounding can add up to. */
const safety = 1e-6;

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);
