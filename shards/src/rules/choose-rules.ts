import { performance } from "node:perf_hooks";
import { itemAt, valueFor } from "../../../src/values.ts";
import { type AnswerSetSolver, solverTrouble } from "./answer-set-solver.ts";
import { ruleKey } from "./candidates.ts";
import { chooseFederation } from "./choose-federation.ts";
import { coverProgram, numbersOf } from "./encodings.ts";
import type { Interpretation, Problem, Rule, Solution } from "./problem.ts";
import { type CoverInstance, coverersOf, greedyCover, linearBound, reduceCover } from "./set-cover.ts";

/** How `chooseRules` works. */
export interface ChooseOptions {
  /** The reading that the candidates come from; it is only handed on. */
  readonly reading: Interpretation;
  readonly solver: AnswerSetSolver;
  /** Ends the search; the findings until then are the solution. */
  readonly signal?: AbortSignal | undefined;
  /** The same after this time. */
  readonly timeoutMs: number;
  /** With placement: rules of an earlier choice, from which the search begins. */
  readonly from?: readonly Rule[] | undefined;
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

/** A cover of an instance, by the numbers of its rules, and facts about its size. */
interface Cover {
  readonly chosen: readonly number[];
  readonly lowerBound: number;
  /** The solver's words when it failed. */
  readonly trouble?: string | undefined;
}

/** Paper mode: minimum set cover. */
async function chooseCover(problem: Problem, options: ChooseOptions): Promise<Solution> {
  const startMs = performance.now();
  const { instance, uncovered } = coverInstanceOf(problem);
  const { core, kept, forced } = reduceCover(instance);
  const names = kept.map((rule) => ruleKey(itemAt(problem.candidates, rule).rule));
  const found: Cover = core.queries === 0 ? { chosen: [], lowerBound: 0 } : await solveCore(core, names, options);
  const chosen = [...forced, ...found.chosen.map((rule) => itemAt(kept, rule))].toSorted((left, right) => left - right);
  const lowerBound = forced.length + found.lowerBound;
  return {
    reading: options.reading,
    rules: chosen.map((rule) => itemAt(problem.candidates, rule).rule),
    cost: chosen.length,
    lowerBound,
    proven: lowerBound === chosen.length,
    impossible: uncovered.map((query) => ({ query, reason: "No candidate rule covers it." })),
    seconds: (performance.now() - startMs) / 1000,
    trouble: found.trouble,
  };
}

/** The problem in numbers, without the queries that nothing covers; those are named apart. */
export function coverInstanceOf({ candidates, queries }: Problem): {
  readonly instance: CoverInstance;
  readonly uncovered: readonly number[];
} {
  const coverers = coverersOf({ rules: candidates.map(({ covers }) => covers), queries: queries.length });
  const uncovered = coverers.flatMap((rules, query) => (rules.length === 0 ? [query] : []));
  const covered = coverers.flatMap((rules, query) => (rules.length === 0 ? [] : [query]));
  const numbers = new Map(covered.map((query, number) => [query, number]));
  const rules = candidates.map(({ covers }) => covers.map((query) => valueFor(numbers, query)));
  return { instance: { rules, queries: numbers.size }, uncovered };
}

/** The solver's share of the time; the rest is for our own cover and bound. */
const shareOfSolver = 3 / 4;

/**
 * The solver proves and makes the canonical choice in one go. Where it does not finish, a greedy cover is taken, and the
 * linear relaxation bounds it.
 */
async function solveCore(core: CoverInstance, names: readonly string[], options: ChooseOptions): Promise<Cover> {
  const endMs = performance.now() + options.timeoutMs;
  const timeoutMs = options.timeoutMs * shareOfSolver;
  const found = await askSolver(coverProgram(core, names), { ...options, timeoutMs });
  const { trouble } = found;
  if (found.complete && found.chosen !== undefined) return { chosen: found.chosen, lowerBound: found.chosen.length };
  const chosen = smaller(greedyCover(core), found.chosen);
  const bound = linearBound(core, chosen.length, options.signal?.aborted === true ? 0 : endMs);
  return { chosen, lowerBound: Math.max(found.lowerBound, bound), trouble };
}

/** Findings of the solver; none when it failed. */
async function askSolver(program: string, { solver, signal, timeoutMs }: ChooseOptions) {
  try {
    const { models, ended, lowerBound } = await solver.solve(program, {
      timeoutMs,
      options: ["--opt-strategy=usc"],
      signal,
    });
    const model = models.at(-1);
    const chosen = model && numbersOf(model.atoms, "choose");
    return { chosen, complete: ended === "complete", lowerBound: lowerBound?.[0] ?? 0 };
  } catch (error) {
    return { complete: false, lowerBound: 0, trouble: solverTrouble(error) };
  }
}

const smaller = (first: readonly number[], second: readonly number[] | undefined): readonly number[] =>
  second !== undefined && second.length < first.length ? second : first;
