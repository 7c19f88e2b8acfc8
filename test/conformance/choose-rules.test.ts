import { afterAll, expect, test } from "vitest";
import { placementOf } from "../../shards/src/rules/placement.ts";
import { type Cell, type Problem, type Rule, ruleKinds, type ShardTargets } from "../../shards/src/rules/problem.ts";
import { createClingoSolver } from "../../shards/src/solver/clingo-solver.ts";
import {
  chosenBy,
  numbersOf,
  compareLists,
  coverProblem,
  kindsIn,
  randomBalanced,
  randomCover,
  randomOf,
  randomPlacement,
  randomTargets,
  subsets,
} from "../support/shard-problems.ts";

const solver = createClingoSolver();
afterAll(() => solver.close());
const solve = chosenBy(solver);

/** Size of the smallest cover of what can be covered, by trying all. */
function smallestCover({ candidates, queries }: Problem): number {
  const coverable = new Set(candidates.flatMap(({ covers }) => covers)).size;
  expect(queries.length).toBeGreaterThanOrEqual(coverable);
  let best = candidates.length;
  for (const chosen of subsets(candidates.length)) {
    if (chosen.length >= best) continue;
    if (new Set(chosen.flatMap((at) => candidates[at]?.covers ?? [])).size === coverable) best = chosen.length;
  }
  return best;
}

function shuffled<T>(values: readonly T[], seed: number): readonly T[] {
  const random = randomOf(seed);
  return values
    .map((value) => ({ value, key: random() }))
    .toSorted((left, right) => left.key - right.key)
    .map(({ value }) => value);
}

test("paper mode: the optimum of 120 random instances is that of trying all", async () => {
  let sizes = 0;
  for (let seed = 1; seed <= 120; seed += 1) {
    const size = { queries: 3 + (seed % 18), rules: 4 + (seed % 11), each: 1 + (seed % 3) };
    const problem = randomCover(size, seed, seed % 2 === 0);
    const solution = await solve(problem);
    expect(solution).toMatchObject({ cost: smallestCover(problem), proven: true, impossible: [] });
    expect(new Set(numbersOf(problem, solution.rules).flatMap((at) => problem.candidates[at]?.covers ?? [])).size).toBe(
      problem.queries.length,
    );
    sizes += solution.cost;
  }
  expect(sizes).toBeGreaterThan(200);
});

test("paper mode: solved twice, and with the queries in another order, the rules are the same", async () => {
  for (let seed = 1; seed <= 25; seed += 1) {
    const problem = randomCover({ queries: 30, rules: 25, each: 3 }, seed);
    const order = shuffled(problem.queries, seed).map(({ query }) => Number(query.id.slice(1)));
    const other = coverProblem(
      problem.candidates.map(({ covers }) => covers.map((query) => order.indexOf(query))),
      problem.queries.length,
    );
    const [first, second, third] = [await solve(problem), await solve(problem), await solve(other)];
    expect(second.rules).toEqual(first.rules);
    expect(third.rules).toEqual(first.rules);
  }
});

/** Costs in the order of the criteria, by the placement of each cell; the largest shard in steps of 1/32 of all triples. */
function costsOf(
  { candidates, placement }: ReturnType<typeof randomPlacement>,
  rules: readonly Rule[],
): readonly number[] {
  const keyOf = placementOf(rules, placement.precedence);
  const keys = placement.cells.map(({ types, predicate, bucket }) => keyOf(types, predicate, bucket));
  const apart = placement.touches.filter((found) => new Set(found.map((cell) => keys[cell])).size >= 2);
  const helpless = placement.touches.filter((found) => found.length < 2).length;
  const sizes = new Map<string, number>();
  for (const [at, key] of keys.entries()) sizes.set(key, (sizes.get(key) ?? 0) + (placement.cells[at]?.triples ?? 0));
  const total = [...sizes.values()].reduce((left, right) => left + right, 0);
  const steps = new Set(Array.from({ length: 31 }, (_, at) => Math.floor((total * (at + 1)) / 32)));
  const unfederated = placement.touches.length - helpless - apart.length;
  const largest = [...steps].filter((step) => Math.max(...sizes.values()) > step).length;
  const { needs, targets = {} } = placement;
  const wanted = targetCosts(targets, rules, [...sizes.values()]);
  if (needs === undefined) {
    const claiming = candidates
      .map(({ rule }) => rule)
      .filter((rule) => placement.cells.some(({ types, predicate }) => claims(rule, types, predicate)));
    const kinds = kindsIn(claiming).size - kindsIn(rules).size;
    return [unfederated, ...wanted, rules.length, sizes.size, kinds, largest];
  }
  const splitting = candidates.filter(({ rule }) => canSplit(rule, placement.cells));
  const isAsked = (query: number): boolean => (placement.touches[query]?.length ?? 0) >= 2;
  const coveredBy = (of: typeof candidates): number => new Set(of.flatMap(({ covers }) => covers.filter(isAsked))).size;
  const isInOne = (set: readonly number[]): boolean => new Set(set.map((cell) => keys[cell])).size < 2;
  const alone = needs.filter((sets, query) => isAsked(query) && sets.some(isInOne));
  return [
    unfederated,
    alone.length,
    ...wanted,
    coveredBy(splitting) - coveredBy(splitting.filter(({ rule }) => rules.includes(rule))),
    rules.filter((rule) => shardsOf(rule).some((key) => !sizes.has(key))).length,
    ...(targets.shares === undefined ? [kindsIn(splitting.map(({ rule }) => rule)).size - kindsIn(rules).size] : []),
    rules.length,
    largest,
  ];
}

/** Shards too many, shards too small, and by how many steps of 5 points, the first of 15, a share is off; where wanted. */
function targetCosts(
  { maxShards, minShardTriples = 0, shares }: ShardTargets,
  rules: readonly Rule[],
  sizes: readonly number[],
) {
  const off = ruleKinds.map((kind) => {
    const share = rules.filter((rule) => rule.kind === kind).length / rules.length;
    return Math.abs(share - (shares?.[kind] ?? share)) * 100;
  });
  const steps = Array.from({ length: 18 }, (_, at) => at * 5 + 15).filter((most) => Math.max(...off) > most + 1e-9);
  return [
    ...(maxShards === undefined ? [] : [Math.max(0, sizes.length - maxShards)]),
    ...(minShardTriples === 0 ? [] : [sizes.filter((size) => size < minShardTriples).length]),
    ...(shares === undefined ? [] : [steps.length]),
  ];
}

/** Keys of the shards that a rule makes. */
function shardsOf(rule: Rule): readonly string[] {
  if (rule.kind === "vertical") return rule.predicates.map((iri) => `v/${iri}`);
  if (rule.kind === "class") return rule.classes.map((iri) => `c/${iri}`);
  return Array.from({ length: rule.buckets }, (_, bucket) => `h/${rule.class}/${bucket}`);
}

/** Whether some triple may lie in each of the rule's shards. */
const canSplit = (rule: Rule, cells: readonly Cell[]): boolean =>
  shardsOf(rule).every((key) =>
    cells.some(({ types, predicate, bucket }) =>
      [`v/${predicate}`, ...types.flatMap((type) => [`c/${type}`, `h/${type}/${bucket}`])].includes(key),
    ),
  );

function claims(rule: Rule, types: readonly string[], predicate: string): boolean {
  if (rule.kind === "vertical") return rule.predicates.includes(predicate);
  return types.some((type) => (rule.kind === "class" ? rule.classes.includes(type) : rule.class === type));
}

/** Least costs, and the first choice in canonical order that has them, by trying all. */
function bestChoice(problem: ReturnType<typeof randomPlacement>): {
  readonly costs: readonly number[];
  readonly choice: readonly number[];
} {
  const isBalanced = problem.placement.needs !== undefined;
  const all = problem.candidates.map(({ rule }) => rule);
  let best: { costs: readonly number[]; choice: readonly number[] } | undefined;
  for (const choice of subsets(all.length)) {
    if (isBalanced && choice.some((at) => !canSplit(all[at]!, problem.placement.cells))) continue;
    const costs = costsOf(
      problem,
      choice.flatMap((at) => all[at] ?? []),
    );
    const order = best === undefined ? -1 : compareLists(costs, best.costs);
    const earlier = order === 0 && compareLists(choice, best?.choice ?? []) < 0;
    if (order < 0 || earlier) best = { costs, choice };
  }
  return best ?? { costs: [], choice: [] };
}

test("guaranteed mode: objectives and choice of 60 random instances are those of trying all", async () => {
  let federated = 0;
  let unfederated = 0;
  for (let seed = 1; seed <= 60; seed += 1) {
    const problem = randomPlacement(seed);
    const best = bestChoice(problem);
    const { criteria = [], rules, impossible } = await solve(problem);
    const found = { costs: criteria.map(({ cost }) => cost), choice: numbersOf(problem, rules) };
    expect({ seed, ...found }).toEqual({ seed, ...best });
    expect(criteria.filter(({ proven }) => !proven)).toEqual([]);
    const helpless = problem.placement.touches.filter((cells) => cells.length < 2).length;
    const [sacrificed = 0] = best.costs;
    expect(impossible).toHaveLength(sacrificed + helpless);
    federated += problem.queries.length - impossible.length;
    unfederated += sacrificed;
  }
  expect(federated).toBeGreaterThan(40);
  expect(unfederated).toBeGreaterThan(5);
});

test.each([
  ["balanced", randomBalanced],
  ["guaranteed", withTargets],
] as const)(
  "%s mode with targets: objectives and choice of 60 random instances are those of trying all",
  async (_, problemOf) => {
    const sums = new Map<string, number>();
    for (let seed = 1; seed <= 60; seed += 1) {
      const problem = problemOf(seed);
      const best = bestChoice(problem);
      const { criteria = [], rules } = await solve(problem);
      const found = { costs: criteria.map(({ cost }) => cost), choice: numbersOf(problem, rules) };
      expect({ seed, ...found }).toEqual({ seed, ...best });
      expect(criteria.filter(({ proven }) => !proven)).toEqual([]);
      for (const { name, cost } of criteria) sums.set(name, (sums.get(name) ?? 0) + cost);
    }
    expect(sums.size).toBe(problemOf === randomBalanced ? 10 : 8);
    // Each criterion decides something somewhere.
    for (const sum of sums.values()) expect(sum).toBeGreaterThan(0);
  },
);

/** In guaranteed mode. */
function withTargets(seed: number): ReturnType<typeof randomPlacement> {
  const { placement, ...problem } = randomPlacement(seed);
  return { ...problem, placement: { ...placement, targets: randomTargets(randomOf(seed + 20_000)) } };
}

test("guaranteed mode: cells and queries in another order give the same rules", async () => {
  for (let seed = 101; seed <= 115; seed += 1) {
    const problem = randomPlacement(seed);
    const { cells, touches, precedence } = problem.placement;
    const order = shuffled([...cells.keys()], seed);
    const other = {
      ...problem,
      placement: {
        precedence,
        cells: order.flatMap((at) => cells[at] ?? []),
        touches: shuffled(touches, seed).map((found) => found.map((cell) => order.indexOf(cell))),
      },
    };
    expect((await solve(other)).rules).toEqual((await solve(problem)).rules);
  }
});
