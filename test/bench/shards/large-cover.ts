import { chooseRules, coverInstanceOf } from "../../../shards/src/rules/choose-rules.ts";
import { linearBound, reduceCover } from "../../../shards/src/rules/set-cover.ts";
import { coverFacts, composeProgram } from "../../../shards/src/rules/encodings.ts";
import type { Problem, Rule } from "../../../shards/src/rules/problem.ts";
import { createClingoSolver } from "../../../shards/src/solver/clingo-solver.ts";
import { randomCover } from "../../support/shard-problems.ts";
import { rounded } from "../proxy/report.ts";
import { printRows } from "../void/print-rows.ts";
import { solveNatively } from "./native-clingo.ts";
import { literalInterpretation } from "../../../shards/src/build-problem.ts";

/** What one way knows about one instance when its time is over. */
export interface LargeCoverMeasure {
  readonly instance: string;
  readonly way: string;
  /** Size of the best cover; missing when there is none. */
  readonly cost?: number;
  /** No cover is smaller; missing when nothing was proven. */
  readonly lowerBound?: number;
  /** (cost - bound) / cost; 0 when the cover is proven to be a smallest one. */
  readonly gap?: number;
  readonly seconds: number;
  /** Of processors, all threads together: on a busy machine the time limit comes before much is done. */
  readonly cpuSeconds: number;
}

const size = { queries: 1_000, rules: 300, each: 3 };
const seed = 1;

/**
 * 1,000 distinct queries with 300 candidate rules, three for each query: what `chooseRules` knows when its time is over,
 * beside native clingo with the same time. @throws Error when native clingo is missing, or a cover leaves a query out
 */
export async function measureLargeCovers({
  quick,
}: {
  readonly quick: boolean;
}): Promise<readonly LargeCoverMeasure[]> {
  const limitSeconds = quick ? 2 : 60;
  const measures: LargeCoverMeasure[] = [];
  for (const instance of ["uniform", "skewed"]) {
    const problem = randomCover(size, seed, instance === "skewed");
    for (const way of ways) {
      process.stderr.write(`bench shards: ${instance} cover, ${way.name}\n`);
      measures.push(measureOf(instance, way.name, await way.solve(problem, limitSeconds)));
    }
  }
  print(measures, limitSeconds);
  return measures;
}

type Found = Omit<LargeCoverMeasure, "instance" | "way" | "gap">;

const ways: readonly {
  readonly name: string;
  readonly solve: (problem: Problem, limitSeconds: number) => Promise<Found>;
}[] = [
  { name: "fedway", solve: chosen },
  { name: "native clingo, core-guided", solve: (problem, limit) => natively(problem, limit, "usc") },
  { name: "native clingo, branch and bound", solve: (problem, limit) => natively(problem, limit, "bb") },
  { name: "linear relaxation", solve: relaxed },
];

async function chosen(problem: Problem, limitSeconds: number): Promise<Found> {
  const solver = createClingoSolver();
  const startCpu = process.cpuUsage();
  try {
    const solution = await chooseRules(problem, {
      reading: literalInterpretation,
      solver,
      timeoutMs: limitSeconds * 1_000,
    });
    const covered = coveredBy(problem, solution.rules);
    if (covered !== problem.queries.length) throw new Error(`the cover has ${covered} of the queries only`);
    const { cost, lowerBound, seconds } = solution;
    return { cost, lowerBound, seconds, cpuSeconds: cpuSecondsSince(startCpu) };
  } finally {
    await solver.close();
  }
}

function cpuSecondsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
}

function coveredBy({ candidates }: Problem, rules: readonly Rule[]): number {
  const isChosen = new Set(rules);
  return new Set(candidates.filter(({ rule }) => isChosen.has(rule)).flatMap(({ covers }) => covers)).size;
}

/** The smallest cover as its only criterion: clingo is not asked for the canonical one of several. */
async function natively(problem: Problem, limitSeconds: number, strategy: "usc" | "bb"): Promise<Found> {
  const { core, forced } = reduceCover(coverInstanceOf(problem).instance);
  const names = core.rules.map((_, rule) => `rule ${rule}`);
  const facts = [...coverFacts(core, names), "level(fewest_rules,1)."];
  const program = composeProgram(facts, ["domain", "choice", "coverage", "objectives", "show"]);
  const found = await solveNatively(program, [
    `--opt-strategy=${strategy}`,
    `--time-limit=${limitSeconds}`,
    "--seed=1",
  ]);
  const [cost] = found.costs ?? [];
  const [lower] = found.complete ? [cost] : (found.lower ?? []);
  return {
    ...(cost !== undefined && { cost: cost + forced.length }),
    ...(lower !== undefined && { lowerBound: lower + forced.length }),
    seconds: found.seconds,
    cpuSeconds: found.cpuSeconds,
  };
}

/** No cover, but the bound that methods over the linear program start from. */
function relaxed(problem: Problem): Promise<Found> {
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  const { core, forced } = reduceCover(coverInstanceOf(problem).instance);
  const lower = core.queries === 0 ? 0 : linearBound(core, core.rules.length);
  const seconds = (performance.now() - startMs) / 1_000;
  return Promise.resolve({ lowerBound: lower + forced.length, seconds, cpuSeconds: cpuSecondsSince(startCpu) });
}

function measureOf(instance: string, way: string, found: Found): LargeCoverMeasure {
  const { cost, lowerBound } = found;
  const gap = cost === undefined || lowerBound === undefined ? undefined : (cost - lowerBound) / cost;
  return { instance, way, ...found, ...(gap !== undefined && { gap }) };
}

const orDash = (value: number | undefined): string => (value === undefined ? "-" : String(value));
const percentOf = (gap: number): string => (gap === 0 ? "proven" : `${rounded(gap * 100)} %`);

function print(measures: readonly LargeCoverMeasure[], limitSeconds: number): void {
  const heads = ["instance", "way", "cover", "lower bound", "gap", "seconds", "of processors"];
  const rows = measures.map(({ instance, way, cost, lowerBound, gap, seconds, cpuSeconds }) => [
    instance,
    way,
    orDash(cost),
    orDash(lowerBound),
    gap === undefined ? "-" : percentOf(gap),
    rounded(seconds),
    rounded(cpuSeconds),
  ]);
  printRows(
    `Smallest covers of ${size.queries} queries by ${size.rules} rules, ${size.each} for each query, in ${limitSeconds} s`,
    [heads, ...rows],
  );
}
