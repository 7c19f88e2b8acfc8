import type { Criterion } from "../problem.ts";
import type { RuleKind } from "../rule.ts";
import type { FederationInstance } from "./federation-instance.ts";
import { measures } from "./places.ts";

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
export function evaluateChoice(instance: FederationInstance, chosen: readonly number[]): Evaluation {
  const { rules, numbered, covers } = instance;
  const made = new Set(chosen.flatMap((rule) => numbered.makes[rule] ?? []));
  const shardOf = numbered.places.map(({ offers }) => offers.find(({ claim }) => made.has(claim))?.shard ?? 0);
  const inOneShard = (queries: readonly (readonly number[])[]): readonly number[] =>
    queries.flatMap((places, query) => {
      const first = places[0] === undefined ? undefined : shardOf[places[0]];
      return places.some((place) => shardOf[place] !== first) ? [] : [query];
    });
  const unfederated = inOneShard(numbered.touches);
  const { scaled, steps } = measures(numbered.places);
  const sizes = new Map<number, number>();
  for (const [place, shard] of shardOf.entries()) sizes.set(shard, (sizes.get(shard) ?? 0) + (scaled[place] ?? 0));
  const largest = Math.max(0, ...sizes.values());
  const isOneSided = (rule: number): boolean => numbered.splits[rule]?.some((shard) => !sizes.has(shard)) ?? false;
  const costs = {
    fewest_unfederated: unfederated.length,
    fewest_answered_alone: inOneShard(numbered.needs).length,
    fewest_one_sided: chosen.filter(isOneSided).length,
    fewest_uncovered: distinct(covers.flat()) - distinct(chosen.flatMap((rule) => covers[rule] ?? [])),
    most_kinds: kindsOf(rules).size - kindsOf(chosen.flatMap((rule) => rules[rule] ?? [])).size,
    fewest_rules: chosen.length,
    fewest_shards: sizes.size,
    smallest_largest_shard: steps.filter((step) => largest > step).length,
  };
  return { costs, unfederated };
}

const distinct = (numbers: readonly number[]): number => new Set(numbers).size;

const kindsOf = (rules: FederationInstance["rules"]): ReadonlySet<RuleKind> => new Set(rules.map(({ kind }) => kind));
