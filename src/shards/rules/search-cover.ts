import { type CoverInstance, coverersOf } from "./reduce-cover.ts";

/**
 * A small cover by local search with row weights (RWLS: Gao, Weise, Li, "An efficient local search heuristic with row
 * weighting for the unicost set covering problem", 2015): drop a rule; while queries are uncovered, exchange rules, and
 * let every uncovered query gain weight with each step. Starts from the greedy cover. Deterministic, unless time ends it.
 * @param steps exchanges of rules
 * @param untilMs by `performance.now()`
 */
export function searchCover(
  instance: CoverInstance,
  steps: number,
  untilMs = Number.POSITIVE_INFINITY,
): readonly number[] {
  const state = openState(instance);
  while (state.uncovered.size > 0) add(state, best(state, notChosen(state), gainOf));
  let smallest = chosenOf(state);
  for (let step = 1; step <= steps && performance.now() < untilMs; step += 1) {
    while (state.uncovered.size === 0) {
      smallest = chosenOf(state);
      if (smallest.length <= 1) return smallest;
      drop(state, best(state, state.chosen, lossOf));
    }
    exchange(state, step);
  }
  return smallest;
}

interface SearchState {
  readonly rules: readonly (readonly number[])[];
  readonly coverers: readonly (readonly number[])[];
  readonly random: () => number;
  readonly chosen: Set<number>;
  readonly uncovered: Set<number>;
  /** Of each query the number of chosen rules that cover it. */
  readonly times: Uint32Array;
  readonly weights: Float64Array;
  /** Of each rule the weight that adding it would cover, or that dropping it would uncover. */
  readonly scores: Float64Array;
  /** Step at which the rule last came or went. */
  readonly moved: Int32Array;
  /** A rule that went may come back only after a neighbour has moved. */
  readonly mayReturn: Uint8Array;
  last: number;
}

function openState(instance: CoverInstance): SearchState {
  const { rules, queries } = instance;
  return {
    rules,
    coverers: coverersOf(instance),
    random: seededRandom(rules.length * 31 + queries),
    chosen: new Set(),
    uncovered: new Set(Array.from({ length: queries }, (_, query) => query)),
    times: new Uint32Array(queries),
    weights: new Float64Array(queries).fill(1),
    scores: Float64Array.from(rules, ({ length }) => length),
    moved: new Int32Array(rules.length),
    mayReturn: new Uint8Array(rules.length).fill(1),
    last: -1,
  };
}

const chosenOf = ({ chosen }: SearchState): readonly number[] => [...chosen].toSorted((left, right) => left - right);

const notChosen = ({ rules, chosen }: SearchState): readonly number[] =>
  rules.flatMap((_, rule) => (chosen.has(rule) ? [] : [rule]));

const gainOf = ({ scores }: SearchState, rule: number): number => scores[rule] ?? 0;
const lossOf = ({ scores }: SearchState, rule: number): number => -(scores[rule] ?? 0);

/** The rule of the highest value; of equal ones the one that has not moved for longest, then the first. */
function best(
  state: SearchState,
  among: Iterable<number>,
  valueOf: (state: SearchState, rule: number) => number,
): number {
  let found = -1;
  let value = 0;
  for (const rule of among) {
    const own = valueOf(state, rule);
    const older = (state.moved[rule] ?? 0) - (state.moved[found] ?? 0);
    if (found >= 0 && (own < value || (own === value && (older > 0 || (older === 0 && rule > found))))) continue;
    found = rule;
    value = own;
  }
  return found;
}

function exchange(state: SearchState, step: number): void {
  const { chosen, uncovered, coverers, random, moved, weights, scores } = state;
  const others = chosen.size > 1 ? [...chosen].filter((rule) => rule !== state.last) : [...chosen];
  const out = best(state, others, lossOf);
  drop(state, out);
  moved[out] = step;
  const query = [...uncovered][Math.floor(random() * uncovered.size)] ?? 0;
  const allowed = (coverers[query] ?? []).filter((rule) => state.mayReturn[rule] === 1);
  const into = best(state, allowed.length > 0 ? allowed : (coverers[query] ?? []), gainOf);
  add(state, into);
  moved[into] = step;
  state.last = into;
  for (const open of uncovered) {
    weights[open] = (weights[open] ?? 0) + 1;
    for (const rule of coverers[open] ?? []) scores[rule] = (scores[rule] ?? 0) + 1;
  }
}

function add(state: SearchState, rule: number): void {
  state.chosen.add(rule);
  rescore(state, rule, 1);
  freeNeighbours(state, rule);
}

function drop(state: SearchState, rule: number): void {
  state.chosen.delete(rule);
  rescore(state, rule, -1);
  freeNeighbours(state, rule);
  state.mayReturn[rule] = 0;
}

/** Scores after the rule came (1) or went (-1): its own, and those of whoever shares a query with it. */
function rescore(state: SearchState, rule: number, change: 1 | -1): void {
  const { rules, uncovered, times, weights, scores } = state;
  let own = 0;
  for (const query of rules[rule] ?? []) {
    const weight = weights[query] ?? 0;
    const before = times[query] ?? 0;
    times[query] = before + change;
    const byOthers = change === 1 ? before : before - 1;
    if (byOthers === 0) {
      own += weight;
      if (change === 1) uncovered.delete(query);
      else uncovered.add(query);
    }
    // Where nobody else covers the query, others gain or lose it; where one other does, that one is missed or not.
    if (byOthers <= 1) shiftOthers(state, { query, rule, by: -change * weight, chosenOnly: byOthers === 1 });
  }
  scores[rule] = own;
}

function shiftOthers(
  { coverers, chosen, scores }: SearchState,
  shift: { readonly query: number; readonly rule: number; readonly by: number; readonly chosenOnly: boolean },
): void {
  for (const other of coverers[shift.query] ?? []) {
    if (other === shift.rule || (shift.chosenOnly && !chosen.has(other))) continue;
    scores[other] = (scores[other] ?? 0) + shift.by;
  }
}

function freeNeighbours({ rules, coverers, mayReturn }: SearchState, rule: number): void {
  for (const query of rules[rule] ?? []) for (const other of coverers[query] ?? []) mayReturn[other] = 1;
}

/** Numbers in [0, 1), always the same for the same seed (xorshift with 32 bits, Marsaglia 2003). */
function seededRandom(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
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
    Math.min(...covering.map((rule) => 1 / sizeOf(rules, rule))),
  );
  let highest = 0;
  let agility = 1;
  let sinceBetter = 0;
  const isOver = (): boolean => Math.ceil(highest - safety) >= target || performance.now() >= untilMs;
  for (let round = 0; round < rounds && !isOver(); round += 1) {
    const reduced = rules.map((covers) => covers.reduce((cost, query) => cost - (prices[query] ?? 0), 1));
    const bound = sum(prices) + reduced.reduce((total, cost) => total + Math.min(0, cost), 0);
    sinceBetter = bound > highest + 1e-4 ? 0 : sinceBetter + 1;
    highest = Math.max(highest, bound);
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
  return Math.max(0, Math.ceil(highest - safety));
}

/** More than what rounding can add up to. */
const safety = 1e-6;

const sizeOf = (rules: CoverInstance["rules"], rule: number): number => rules[rule]?.length ?? 1;
const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);
