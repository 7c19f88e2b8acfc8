import type { AnswerSetSolver } from "./answer-set-solver.ts";
import { chooseCover } from "./choose-cover.ts";
import { chooseFederation } from "./choose-federation.ts";
import type { Problem, Solution } from "./problem.ts";
import type { Reading } from "./rule.ts";

/** How `chooseRules` works. */
export interface ChooseOptions {
  /** The reading that the candidates come from; it is only handed on. */
  readonly reading: Reading;
  readonly solver: AnswerSetSolver;
  /** Ends the search; what was found until then is the solution. */
  readonly signal?: AbortSignal;
  /** The same after this time. */
  readonly timeoutMs: number;
}

/**
 * The fewest rules that cover every query (without `placement`: the paper's method), or that make every query federated
 * (with it: guaranteed mode, and the further objectives of `shards/objectives.lp`). Of equally good choices the
 * canonical one; of an unproven solution the bound says how far it may be off. Queries that nothing helps are named.
 * @throws FedwayError `SOLVER_FAILED`, or `CANCELLED` when the solver is closed
 */
export function chooseRules(problem: Problem, options: ChooseOptions): Promise<Solution> {
  const { placement } = problem;
  return placement === undefined ? chooseCover(problem, options) : chooseFederation(problem, placement, options);
}
