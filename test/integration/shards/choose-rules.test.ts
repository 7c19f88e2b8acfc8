import { afterAll, expect, test } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { AnswerSetSolver } from "../../../shards/src/rules/answer-set-solver.ts";
import { createClingoSolver } from "../../../shards/src/solver/clingo-solver.ts";
import {
  chosenBy,
  numbersOf,
  blankQueries,
  coverProblem,
  randomCover,
  randomPlacement,
} from "../../support/shard-problems.ts";

// Random instances, compared with trying all: test/conformance/choose-rules.test.ts.

const solver = createClingoSolver();
afterAll(() => solver.close());
const solve = chosenBy(solver);

test("paper mode: of equally good rules the first in canonical order is chosen", async () => {
  // Any two opposite sides of a square of four rules cover its corners.
  const square = coverProblem(
    [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 0],
    ],
    4,
  );
  expect(numbersOf(square, (await solve(square)).rules)).toEqual([0, 2]);
});

test("paper mode: a query that nothing covers is named", async () => {
  const problem = coverProblem([[0], [0, 2]], 3);
  const solution = await solve(problem);
  expect(solution.impossible).toEqual([{ query: 1, reason: "No candidate rule covers it." }]);
  expect(numbersOf(problem, solution.rules)).toEqual([1]);
  expect(solution).toMatchObject({ cost: 1, lowerBound: 1, proven: true });
});

test("nothing to choose from", async () => {
  const nothing = { cost: 0, lowerBound: 0, proven: true, rules: [] };
  expect(await solve({ queries: [], candidates: [] })).toMatchObject({ ...nothing, impossible: [] });
  expect((await solve(coverProblem([], 2))).impossible).toHaveLength(2);
  const placement = { precedence: ["horizontal", "vertical", "class"], cells: [], touches: [[]] } as const;
  const guaranteed = await solve({ queries: blankQueries(1), candidates: [], placement });
  expect(guaranteed).toMatchObject(nothing);
  expect(guaranteed.impossible).toEqual([
    { query: 0, reason: "No triple of the dataset matches any of its patterns." },
  ]);
});

test("a deadline leaves a cover, a bound and the truth about both", async () => {
  const problem = randomCover({ queries: 600, rules: 200, each: 3 }, 7);
  const solution = await solve(problem, 1_500);
  expect(solution.proven).toBe(false);
  expect(solution.lowerBound).toBeGreaterThan(20);
  expect(solution.lowerBound).toBeLessThan(solution.cost);
  expect(new Set(numbersOf(problem, solution.rules).flatMap((at) => problem.candidates[at]?.covers ?? [])).size).toBe(
    600,
  );
});

/** A solver that never gives anything. */
const failing: AnswerSetSolver = {
  solve: () => Promise.reject(new FedwayError("SOLVER_FAILED", "The answer-set solver failed: it needs more memory.")),
  close: async () => {},
};

test("paper mode: a solver that fails leaves a cover, and is named", async () => {
  const problem = randomCover({ queries: 60, rules: 30, each: 3 }, 7);
  const solution = await chosenBy(failing)(problem);
  expect(solution).toMatchObject({ proven: false, trouble: expect.stringContaining("more memory") });
  const covered = numbersOf(problem, solution.rules).flatMap((at) => problem.candidates[at]?.covers ?? []);
  expect(new Set(covered).size).toBe(60);
});

test("guaranteed mode: without the solver or the time for it, few queries are left with one shard", async () => {
  for (let seed = 1; seed <= 3; seed += 1) {
    const problem = randomPlacement(seed);
    const best = await solve(problem);
    const failed = await chosenBy(failing)(problem);
    expect(failed.impossible.length).toBeLessThanOrEqual(best.impossible.length + 1);
    const late = await solve(problem, 0);
    expect(late.impossible.length).toBeLessThanOrEqual(best.impossible.length + 1);
    if (best.rules.length > 0) expect(failed).toHaveProperty("trouble");
  }
});

test("guaranteed mode: the reasons tell the hopeless from the sacrificed", async () => {
  const cell = (type: string, predicate: string, bucket: number) => ({ types: [type], predicate, bucket, triples: 1 });
  const placement = {
    precedence: ["horizontal", "vertical", "class"],
    cells: [
      cell("urn:A", "urn:p", 0),
      cell("urn:A", "urn:p", 1),
      cell("urn:A", "urn:q", 0),
      cell("urn:B", "urn:z", 0),
      cell("urn:B", "urn:z", 1),
    ],
    // Buckets of one predicate, two predicates in one bucket, one cell, and cells of a class without any rule.
    touches: [[0, 1], [0, 2], [0, 2], [2], [3, 4]],
  } as const;
  const candidates = [
    { rule: { kind: "vertical", predicates: ["urn:p", "urn:q"] }, covers: [] },
    { rule: { kind: "horizontal", class: "urn:A", buckets: 2 }, covers: [] },
  ] as const;
  const { impossible, rules } = await solve({ queries: blankQueries(5), candidates, placement });
  expect(rules).toEqual([candidates[0].rule]);
  expect(impossible).toEqual([
    {
      query: 0,
      reason: "Rules that would separate the triples that it matches put those of other queries into one shard.",
    },
    {
      query: 3,
      reason:
        "All the triples that it matches have the predicate urn:q and instances of urn:A in one bucket: no rule separates them.",
    },
    { query: 4, reason: "At every choice of candidate rules all the triples that it matches lie in one shard." },
  ]);
});
