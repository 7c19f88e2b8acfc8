import type { AnswerSetSolver } from "../../src/shards/answer-set-solver.ts";
import { chooseRules } from "../../src/shards/choose-rules.ts";
import type { Problem, Solution } from "../../src/shards/problem.ts";
import { literalReading } from "../../src/shards/readings.ts";
import type { Rule } from "../../src/shards/rule.ts";

/** Chooses with a solver, in the paper's literal reading. */
export const chosenBy =
  (solver: AnswerSetSolver) =>
  (problem: Problem, timeoutMs = 20_000): Promise<Solution> =>
    chooseRules(problem, { reading: literalReading, solver, timeoutMs });

/** Where rules stand among a problem's candidates. */
export const numbersOf = (problem: Problem, rules: readonly Rule[]): readonly number[] =>
  rules.map((rule) => problem.candidates.findIndex((candidate) => candidate.rule === rule));
