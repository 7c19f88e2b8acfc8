import { afterAll, describe, expect, it } from "vitest";
import { chooseRules } from "../../../../shards/src/rules/choose-rules.ts";
import type { Problem, Solution } from "../../../../shards/src/rules/problem.ts";
import { ruleFileOf } from "../../../../shards/src/report/rule-file.ts";
import { createClingoSolver } from "../../../../shards/src/solver/clingo-solver.ts";
import { literal } from "../../../support/shard-benchmark.ts";
import { coverProblem, randomCover, randomPlacement } from "../../../support/shard-problems.ts";

type RuleFileInput = Parameters<typeof ruleFileOf>[0];

const solver = createClingoSolver();
afterAll(() => solver.close());

const chosen = async (problem: Problem): Promise<Solution> =>
  chooseRules(problem, { reading: literal, solver, timeoutMs: 60_000 });

/** A file for what the solver chooses. */
async function fileFor(mode: RuleFileInput["mode"], problem: Problem) {
  const solution = await chosen(problem);
  return { solution, file: ruleFileOf({ mode, problem, solution }) };
}

/** Every answer set of a file, whatever it costs. */
const all = async (file: string): Promise<readonly (readonly string[])[]> =>
  (await solver.solve(file, { options: ["--opt-mode=ignore"], keepModels: 10 })).models.map(({ atoms }) => atoms);

const best = async (file: string): Promise<readonly number[]> => {
  const { optimal, costs } = await solver.solve(file, { options: ["--const=check=0", "--opt-strategy=usc"] });
  expect(optimal).toBe(true);
  return costs;
};

const answers = (file: string): readonly string[] => file.split("\n").filter((line) => line.startsWith("answer("));
const choices = (atoms: readonly string[] = []): number => atoms.filter((atom) => atom.startsWith("choose(")).length;

/** The answer is the only answer set, and without one of its rules there is none. */
async function shouldBeChecked({ file, solution }: { file: string; solution: Solution }): Promise<void> {
  const found = await all(file);
  expect(found.map(choices)).toEqual([solution.cost]);
  expect(answers(file)).toHaveLength(solution.cost);
  for (const line of answers(file)) expect(await all(file.replace(`${line}\n`, ""))).toEqual([]);
}

// Four queries; the first two rules cover all of them but the last, which nothing covers.
const small = coverProblem([[0, 1], [1, 2], [2], [0]], 4);

describe("the rule file of paper mode", () => {
  it("is satisfiable with its answer alone, and unsatisfiable without one of its rules", async () => {
    const made = await fileFor("paper", small);
    expect(made.solution.cost).toBe(2);
    await shouldBeChecked(made);
  });

  it.each([1, 2, 3])("costs what was reported, and nothing else costs less (%i)", async (seed) => {
    const made = await fileFor("paper", randomCover({ queries: 40, rules: 15, each: 3 }, seed));
    await shouldBeChecked(made);
    const { costs } = await solver.solve(made.file);
    expect(costs).toEqual([made.solution.cost]);
    expect(await best(made.file)).toEqual(costs);
  });

  it("does not hold for a choice that covers all and costs more than it is said to", async () => {
    const solution = await chosen(small);
    const rules = small.candidates.map(({ rule }) => rule);
    expect(await all(ruleFileOf({ mode: "paper", problem: small, solution: { ...solution, rules } }))).toEqual([]);
  });

  it("names rules and queries, what it is about and how it is checked", async () => {
    const { file } = await fileFor("paper", small);
    expect(file.split("\n", 1)).toEqual([
      "% with shards/domain.lp shards/choice.lp shards/coverage.lp shards/objectives.lp shards/answer.lp shards/show.lp",
    ]);
    expect(file).toContain("\n%   clingo rules.lp\n");
    expect(file).toContain('\n% Mode paper, reading "literal": 2 rules, proven to be the fewest.\n');
    expect(file).toContain('\n% left out: query "q3": "No candidate rule covers it."\n');
    expect(file).toContain('\nname(query,0,"q0").\n');
    expect(file).toMatch(/\nanswer\(\d\)\. % "horizontal c000\d"\n/);
  });

  it("says what is not proven", async () => {
    const solution = { ...(await chosen(small)), proven: false, lowerBound: 1 };
    const file = ruleFileOf({ mode: "paper", problem: small, solution });
    expect(file).toContain("2 rules, at least 1.\n");
    expect(file).toContain("fewest_rules 2 (not proven).");
  });
});

describe("the rule file of guaranteed mode", () => {
  it("holds for the choice alone, with the reported costs, of which none can be less", async () => {
    let rules = 0;
    let unfederated = 0;
    for (let seed = 1; seed <= 12; seed += 1) {
      const made = await fileFor("guaranteed", randomPlacement(seed));
      const { criteria = [], cost } = made.solution;
      rules += cost;
      unfederated += criteria[0]?.cost ?? 0;
      await shouldBeChecked(made);
      const positive = (costs: readonly number[]): readonly number[] => costs.filter((each) => each > 0);
      expect(criteria.every(({ proven }) => proven)).toBe(true);
      // clingo leaves out the levels that can only be 0.
      const reported = positive(criteria.map((each) => each.cost));
      expect(positive((await solver.solve(made.file)).costs)).toEqual(reported);
      expect(positive(await best(made.file))).toEqual(reported);
    }
    expect(rules).toBeGreaterThan(8);
    expect(unfederated).toBeGreaterThan(0);
  });

  it("needs the placement", async () => {
    const solution = await chosen(small);
    expect(() => ruleFileOf({ mode: "guaranteed", problem: small, solution })).toThrow(TypeError);
  });
});

it("keeps hostile names in their strings", async () => {
  const evil = 'x"\n:- not fail.\n%* choose(1).';
  const [query = expect.unreachable()] = small.queries;
  const problem: Problem = {
    candidates: [{ rule: { kind: "vertical", predicates: [evil] }, covers: [0] }],
    queries: [
      { ...query, query: { ...query.query, id: evil } },
      { ...query, query: { ...query.query, id: `${evil}2` } },
    ],
  };
  const solution = { ...(await chosen(problem)), reading: { ...literal, name: evil } };
  const file = ruleFileOf({ mode: "paper", problem, solution });
  expect(await all(file)).toEqual([["choose(0)"]]);
  expect(file.split("\n").filter((line) => line.startsWith(":- not fail"))).toEqual([]);
});
