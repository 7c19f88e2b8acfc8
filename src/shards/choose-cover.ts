import { performance } from "node:perf_hooks";
import { ruleKey } from "./candidates.ts";
import type { ChooseOptions } from "./choose-rules.ts";
import { type BoundedCover, startBoundedCover } from "./cover/bounded-cover.ts";
import { type CoverInstance, coverersOf } from "./cover/cover-instance.ts";
import { reduceCover } from "./cover/reduce-cover.ts";
import { searchCover } from "./cover/search-cover.ts";
import { coverProgram, numbersOf } from "./encode/cover-program.ts";
import type { Problem, Solution } from "./problem.ts";
import { solverTrouble } from "./solver-trouble.ts";

/** A cover of an instance, by the numbers of its rules, and what is known about its size. */
interface Cover {
  readonly chosen: readonly number[];
  readonly lowerBound: number;
  /** The solver's words when it failed. */
  readonly trouble?: string;
}

/** Paper mode: minimum set cover. */
export async function chooseCover(problem: Problem, options: ChooseOptions): Promise<Solution> {
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

/** So long the solver is alone: more than enough for most datasets. */
const aloneMs = 2_000;
/** Steps of local search that take no time worth a thread. */
const fewSteps = 1_000;

/**
 * The solver proves and makes the canonical choice in one go. What it has not proven after a while goes to a thread of
 * our own as well, which finds covers by a search of counted steps and raises the bound; the solver goes on beside it.
 */
async function solveCore(core: CoverInstance, names: readonly string[], options: ChooseOptions): Promise<Cover> {
  const helper = startLater(core, Math.min(aloneMs, options.timeoutMs / 4));
  try {
    const { chosen, complete, lowerBound, trouble } = await askSolver(coverProgram(core, names), options);
    if (complete && chosen !== undefined) return { chosen, lowerBound: chosen.length };
    const own = helper.cover();
    return {
      chosen: smaller(own?.chosen ?? searchCover(core, fewSteps), chosen),
      lowerBound: Math.max(own?.lowerBound ?? 0, lowerBound),
      ...(trouble !== undefined && { trouble }),
    };
  } finally {
    await helper.stop();
  }
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

/** A bounded cover that is started only if it is still wanted after this time. */
function startLater(core: CoverInstance, afterMs: number) {
  let cover: BoundedCover | undefined;
  const timer = setTimeout(() => {
    cover = startBoundedCover(core);
  }, afterMs);
  return {
    cover: () => cover,
    async stop(): Promise<void> {
      clearTimeout(timer);
      await cover?.stop();
    },
  };
}
