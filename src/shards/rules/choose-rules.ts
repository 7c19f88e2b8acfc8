import { type AnswerSetSolver, solverTrouble } from "./answer-set-solver.ts";
import { chooseFederation } from "./choose-federation.ts";
import type { Interpretation } from "./interpretations.ts";
import type { Problem, Solution } from "./problem.ts";
import { performance } from "node:perf_hooks";
import { ruleKey } from "./candidates.ts";
import { type CoverInstance, coverersOf, reduceCover } from "./reduce-cover.ts";
import { linearBound, searchCover } from "./search-cover.ts";
import { coverProgram, numbersOf } from "./encodings.ts";

/** How `chooseRules` works. */
export interface ChooseOptions {
  /** The reading that the candidates come from; it is only handed on. */
  readonly reading: Interpretation;
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

/** A cover of an instance, by the numbers of its rules, and what is known about its size. */
interface Cover {
  readonly chosen: readonly number[];
  readonly lowerBound: number;
  /** The solver's words when it failed. */
  readonly trouble?: string;
}

/** Paper mode: minimum set cover. */
async function chooseCover(problem: Problem, options: ChooseOptions): Promise<Solution> {
  const startMs = performance.now();
  const { instance, uncovered } = coverInstanceOf(problem);
  const { core, kept, forced } = reduceCover(instance);
  const names = kept.map((rule) => {
    const candidate = problem.candidates[rule];
    return candidate === undefined ? "" : ruleKey(candidate.rule);
  });
  const found: Cover = core.queries === 0 ? { chosen: [], lowerBound: 0 } : await solveCore(core, names, options);
  const chosen = [...forced, ...found.chosen.map((rule) => kept[rule] ?? -1)].toSorted((left, right) => left - right);
  const lowerBound = forced.length + found.lowerBound;
  return {
    reading: options.reading,
    rules: chosen.flatMap((rule) => problem.candidates[rule]?.rule ?? []),
    cost: chosen.length,
    lowerBound,
    proven: lowerBound === chosen.length,
    impossible: uncovered.map((query) => ({ query, reason: "No candidate rule covers it." })),
    seconds: (performance.now() - startMs) / 1000,
    ...(found.trouble !== undefined && { trouble: found.trouble }),
  };
}

/** The problem in numbers, without the queries that nothing covers; those are named apart. */
export function coverInstanceOf({ candidates, queries }: Problem): {
  readonly instance: CoverInstance;
  readonly uncovered: readonly number[];
} {
  const coverers = coverersOf({ rules: candidates.map(({ covers }) => covers), queries: queries.length });
  const uncovered = coverers.flatMap((rules, query) => (rules.length === 0 ? [query] : []));
  const numbers = new Map(
    coverers.flatMap((rules, query) => (rules.length === 0 ? [] : [query])).map((q, at) => [q, at]),
  );
  const rules = candidates.map(({ covers }) => covers.flatMap((query) => numbers.get(query) ?? []));
  return { instance: { rules, queries: numbers.size }, uncovered };
}

/** Steps of local search: ten times as many found no smaller cover of 1,000 queries by 300 rules, in 16 s instead of 1. */
const searchSteps = 20_000;
/** Of the time, for the solver; our own search and bound have the rest. */
const shareOfSolver = 3 / 4;

/**
 * The solver proves and makes the canonical choice in one go. Where it does not finish, a local search finds a small cover
 * and the linear relaxation bounds it.
 */
async function solveCore(core: CoverInstance, names: readonly string[], options: ChooseOptions): Promise<Cover> {
  const endMs = performance.now() + options.timeoutMs;
  const found = await askSolver(coverProgram(core, names), {
    ...options,
    timeoutMs: options.timeoutMs * shareOfSolver,
  });
  if (found.complete && found.chosen !== undefined) return { chosen: found.chosen, lowerBound: found.chosen.length };
  const untilMs = options.signal?.aborted === true ? 0 : endMs;
  // The bound first: it takes a fraction of the time that the search does.
  const known = smaller(searchCover(core, 0), found.chosen).length;
  const bound = linearBound(core, known, (performance.now() + untilMs) / 2);
  const chosen = smaller(searchCover(core, searchSteps, untilMs), found.chosen);
  const lowerBound = Math.max(found.lowerBound, bound);
  return { chosen, lowerBound, ...(found.trouble !== undefined && { trouble: found.trouble }) };
}

/** What the solver has found; nothing when it failed. */
interface Asked extends Omit<Cover, "chosen"> {
  readonly chosen?: readonly number[] | undefined;
  readonly complete: boolean;
}

async function askSolver(program: string, { solver, signal, timeoutMs }: ChooseOptions): Promise<Asked> {
  const settings = { timeoutMs, options: ["--opt-strategy=usc"], ...(signal && { signal }) };
  try {
    const { models, ended, lowerBound } = await solver.solve(program, settings);
    const model = models.at(-1);
    const chosen = model && numbersOf(model.atoms, "choose");
    return { chosen, complete: ended === "complete", lowerBound: lowerBound?.[0] ?? 0 };
  } catch (error) {
    return { complete: false, lowerBound: 0, trouble: solverTrouble(error) };
  }
}

const smaller = (first: readonly number[], second: readonly number[] | undefined): readonly number[] =>
  second !== undefined && second.length < first.length ? second : first;
