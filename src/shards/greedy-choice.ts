import type { Condition, Conditions } from "./encode/conditions.ts";

/** What is chosen from. */
export interface GreedyInput {
  /** Of each rule, the claims that it makes. */
  readonly makes: readonly (readonly number[])[];
  readonly conditions: Pick<Conditions, "parting" | "stays">;
}

/** Looks at a query when a rule is tried: a few seconds at the most. */
const mostLooks = 200_000_000;

/**
 * A choice that leaves few queries with one shard: the rule that federates most of them, again and again, then without
 * those that have become needless. What the search for the best choice begins with, and what is left when it fails. The same
 * input gives the same choice.
 */
export function greedyChoice(input: GreedyInput): readonly number[] {
  const state = openState(input);
  const chosen: number[] = [];
  let looks = mostLooks;
  for (let left = state.unfederated(); left > 0 && looks > 0; left = state.unfederated()) {
    let best: { readonly rule: number; readonly left: number } | undefined;
    for (const rule of input.makes.keys()) {
      state.change(rule, 1);
      const after = state.unfederated();
      state.change(rule, -1);
      if (after < (best?.left ?? left)) best = { rule, left: after };
      looks -= input.conditions.stays.length;
    }
    if (best === undefined) break;
    state.change(best.rule, 1);
    chosen.push(best.rule);
  }
  return withoutNeedless(chosen, state).toSorted((first, second) => first - second);
}

function withoutNeedless(chosen: readonly number[], state: GreedyState): readonly number[] {
  const left = state.unfederated();
  return chosen.filter((rule) => {
    state.change(rule, -1);
    const isNeedless = state.unfederated() <= left;
    if (!isNeedless) state.change(rule, 1);
    return !isNeedless;
  });
}

interface GreedyState {
  /** Queries that are left with one shard. */
  unfederated(): number;
  /** 1: the rule comes; -1: it goes. */
  change(rule: number, by: 1 | -1): void;
}

function openState({ makes, conditions: { parting, stays } }: GreedyInput): GreedyState {
  const setsOf = new Map<number, number[]>();
  for (const [set, claims] of parting.entries()) {
    for (const claim of claims) {
      const known = setsOf.get(claim);
      if (known === undefined) setsOf.set(claim, [set]);
      else known.push(set);
    }
  }
  const made = new Map<number, number>();
  const parted = new Int32Array(parting.length);
  const holds = ({ claim, set }: Condition): boolean =>
    parted[set] === 0 && (claim === undefined || (made.get(claim) ?? 0) > 0);
  return {
    unfederated: () => stays.reduce((sum, found) => sum + (found.some(holds) ? 1 : 0), 0),
    change(rule, by) {
      for (const claim of makes[rule] ?? []) {
        made.set(claim, (made.get(claim) ?? 0) + by);
        for (const set of setsOf.get(claim) ?? []) parted[set] = (parted[set] ?? 0) + by;
      }
    },
  };
}
