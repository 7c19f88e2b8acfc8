import { type CoverInstance, coverersOf } from "./cover-instance.ts";

const rounds = 600;

/**
 * A lower bound of the size of a cover by Lagrangian relaxation (Fisher 1981; for set covering Caprara, Fischetti, Toth
 * 1999): with a price y >= 0 on each query, no cover has fewer rules than sum(y) + sum over rules of min(0, 1 - sum of the
 * prices of its queries). The prices follow the subgradient; the best bound approaches that of the linear relaxation.
 * @param target the size of a known cover; ends as soon as the bound proves it
 */
export function linearBound(instance: CoverInstance, target: number): number {
  const { rules, queries } = instance;
  const coverers = coverersOf(instance);
  const prices = Float64Array.from(coverers, (covering) =>
    Math.min(...covering.map((rule) => 1 / sizeOf(rules, rule))),
  );
  let best = 0;
  let agility = 1;
  let sinceBetter = 0;
  for (let round = 0; round < rounds && Math.ceil(best - safety) < target; round += 1) {
    const reduced = rules.map((covers) => covers.reduce((cost, query) => cost - (prices[query] ?? 0), 1));
    const bound = sum(prices) + reduced.reduce((total, cost) => total + Math.min(0, cost), 0);
    sinceBetter = bound > best + 1e-4 ? 0 : sinceBetter + 1;
    best = Math.max(best, bound);
    if (sinceBetter >= 20) {
      agility /= 2;
      sinceBetter = 0;
    }
    const slack = coverers.map((covering) => 1 - covering.filter((rule) => (reduced[rule] ?? 0) < 0).length);
    const norm = slack.reduce((total, value) => total + value * value, 0);
    if (norm === 0) break;
    const step = (agility * (target - bound)) / norm;
    for (let query = 0; query < queries; query += 1) {
      prices[query] = Math.max(0, (prices[query] ?? 0) + step * (slack[query] ?? 0));
    }
  }
  return Math.ceil(best - safety);
}

/** More than what rounding can add up to. */
const safety = 1e-6;

const sizeOf = (rules: CoverInstance["rules"], rule: number): number => rules[rule]?.length ?? 1;
const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);
