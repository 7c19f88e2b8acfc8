import { FedwayError } from "../../../src/errors/fedway-error.ts";

/** One answer set, as far as `#show` lets it be seen. */
export interface AnswerSet {
  /** Atoms as clingo writes them, `choose(3)`. */
  readonly atoms: readonly string[];
  /** Sum of each priority level, highest level first; empty without optimisation. */
  readonly costs: readonly number[];
}

/** How one program is solved. */
export interface SolveOptions {
  /** Stops the search; the findings until then are the result. */
  readonly signal?: AbortSignal | undefined;
  /** Stops the search after this much processor time, counted from its start; waiting for an earlier program does not count. */
  readonly timeoutMs?: number;
  /** Options of clingo such as `--opt-strategy=usc`; none may change the output format. */
  readonly options?: readonly string[];
  /** How many of the last answer sets are kept; 1 by default. */
  readonly keepModels?: number;
}

/** Why the search ended: nothing was left to search, its own limit (`--solve-limit`), or the caller's. */
export type SolveEnd = "complete" | "limit" | "deadline" | "aborted";

/** Facts about a program after the search. */
export interface SolveResult {
  /** The last ones found, best last. */
  readonly models: readonly AnswerSet[];
  readonly ended: SolveEnd;
  /** The search was complete and the program optimises: the last model is as good as any. */
  readonly optimal: boolean;
  /** The search was complete and found nothing. */
  readonly unsatisfiable: boolean;
  /** Costs of the best model; empty when there is none or nothing to optimise. */
  readonly costs: readonly number[];
  /** No answer set costs less, level by level; missing when nothing was proven. */
  readonly lowerBound?: readonly number[] | undefined;
  readonly seconds: number;
  /**
   * The solver's own times, in seconds: for the whole program, and for the search in it after grounding and
   * preprocessing. Missing when the search was cut off.
   */
  readonly clock?: { readonly totalSeconds: number; readonly searchSeconds: number };
}

/** Solves answer-set programs (ASP-Core-2 with clingo's extensions), one at a time, away from the event loop. */
export interface AnswerSetSolver {
  /**
   * The best answer set and bound that were found. Programs wait for each other.
   * @throws FedwayError `SOLVER_FAILED` with the solver's words for a program that is not well-formed, or when it runs
   * out of memory; `CANCELLED` after `close`
   */
  solve(program: string, options?: SolveOptions): Promise<SolveResult>;
  /** Ends the search that is under way, too. */
  close(): Promise<void>;
}

/**
 * The words of a solver that failed: facts known without it are used then. @throws any other error
 */
export function solverTrouble(error: unknown): string {
  if (error instanceof FedwayError && error.code === "SOLVER_FAILED") return error.message;
  throw error;
}
