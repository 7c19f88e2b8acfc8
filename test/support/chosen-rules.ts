import type { AnswerSetSolver } from "../../src/shards/rules/answer-set-solver.ts";
import { chooseRules } from "../../src/shards/rules/choose-rules.ts";
import type { Problem, Solution, Rule } from "../../src/shards/rules/problem.ts";
import { literalInterpretation } from "../../src/shards/rules/interpretations.ts";

/** Chooses with a solver, in the paper's literal reading. */
export const chosenBy =
  (solver: AnswerSetSolver) =>
  (problem: Problem, timeoutMs = 20_000): Promise<Solution> =>
    chooseRules(problem, { reading: literalInterpretation, solver, timeoutMs });

/** Where rules stand among a problem's candidates. */
export const numbersOf = (problem: Problem, rules: readonly Rule[]): readonly number[] =>
  rules.map((rule) => problem.candidates.findIndex((candidate) => candidate.rule === rule));
