import type { Criterion } from "../problem.ts";
import type { Rule, RuleKind } from "../rule.ts";
import { measures, type Places } from "./places.ts";

/** What a choice of rules comes to. */
export interface Evaluation {
  readonly costs: Readonly<Record<Criterion["name"], number>>;
  /** Queries that reach one shard at the most, ascending. */
  readonly unfederated: readonly number[];
}

/**
 * The costs of a choice by simulation of the placement: what the solver's model is checked against, and what stands in for
 * its costs (clingo leaves out levels that cost nothing).
 */
export function evaluateChoice(numbered: Places, rules: readonly Rule[], chosen: readonly number[]): Evaluation {
  const made = new Set(chosen.flatMap((rule) => numbered.makes[rule] ?? []));
  const shardOf = numbered.places.map(({ offers }) => offers.find(({ claim }) => made.has(claim))?.shard ?? 0);
  const unfederated = numbered.touches.flatMap((places, query) => {
    const first = places[0] === undefined ? undefined : shardOf[places[0]];
    return places.some((place) => shardOf[place] !== first) ? [] : [query];
  });
  const { scaled, steps } = measures(numbered.places);
  const sizes = new Map<number, number>();
  for (const [place, shard] of shardOf.entries()) sizes.set(shard, (sizes.get(shard) ?? 0) + (scaled[place] ?? 0));
  const largest = Math.max(0, ...sizes.values());
  const costs = {
    fewest_unfederated: unfederated.length,
    fewest_rules: chosen.length,
    fewest_shards: sizes.size,
    most_kinds: kindsOf(rules).size - kindsOf(chosen.flatMap((rule) => rules[rule] ?? [])).size,
    least_skew: steps.filter((step) => largest > step).length,
  };
  return { costs, unfederated };
}

const kindsOf = (rules: readonly Rule[]): ReadonlySet<RuleKind> => new Set(rules.map(({ kind }) => kind));
