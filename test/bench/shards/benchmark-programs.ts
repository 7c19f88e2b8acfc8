import { fileURLToPath } from "node:url";
import type { AnswerSetSolver } from "../../../shards/src/rules/answer-set-solver.ts";
import { candidatesOf, ruleKey } from "../../../shards/src/rules/candidates.ts";
import { coverInstanceOf, chooseRules } from "../../../shards/src/rules/choose-rules.ts";
import { coverProgram } from "../../../shards/src/rules/encodings.ts";
import { featuresOf, readQueries } from "../../../shards/src/rules/query-features.ts";
import { learnCells } from "../../../shards/src/load/cells.ts";
import { learn } from "../../../shards/src/load/learn.ts";
import { defaultPrecedence } from "../../../shards/src/rules/placement.ts";
import type { Problem } from "../../../shards/src/rules/problem.ts";
import { loadQueries } from "../../../shards/src/load/load-queries.ts";
import { literalInterpretation, interpretations } from "../../../shards/src/build-problem.ts";

/** One program that a build solves, or would solve if nothing were reduced before. */
export interface BenchmarkProgram {
  /** A reading of paper mode, or guaranteed mode. */
  readonly way: string;
  readonly program: string;
  readonly options: readonly string[];
}

export const datasets: readonly string[] = [
  "battle_death",
  "car_1",
  "concert_singer",
  "dog_kennels",
  "flight_2",
  "network_1",
  "pets_1",
  "tvshow",
  "world_1",
];

const paperReadings = ["literal", "single-class", "horizontal-covers-joins"];

/**
 * The programs of one dataset: paper mode's cover in three readings with all candidates (reduction leaves nothing to
 * solve of most), and each program that guaranteed mode asks the solver, one a criterion.
 */
export async function benchmarkPrograms(
  folder: URL,
  dataset: string,
  solver: AnswerSetSolver,
): Promise<readonly BenchmarkProgram[]> {
  const loaded = await loadQueries(fileURLToPath(new URL("queries.json", folder)), { only: { dataset } });
  const read = await readQueries(loaded.queries);
  const paper = paperReadings.map((name): BenchmarkProgram => {
    const reading = interpretations.find((each) => each.name === name) ?? literalInterpretation;
    const queries = read.map((query) => featuresOf(query, reading));
    return coverOf(name, { queries, candidates: candidatesOf(queries, reading) });
  });
  const queries = read.map((query) => featuresOf(query, literalInterpretation));
  const learned = await learn([{ path: fileURLToPath(new URL(`data/${dataset}.nt`, folder)) }]);
  const patterns = queries.map((query) => query.patterns);
  const { cells, touches } = await learnCells({ learned, buckets: literalInterpretation.buckets, patterns });
  const placement = { precedence: defaultPrecedence, cells, touches };
  return [
    ...paper,
    ...(await asked({ queries, candidates: candidatesOf(queries, literalInterpretation), placement }, solver)),
  ];
}

function coverOf(way: string, problem: Problem): BenchmarkProgram {
  const { instance } = coverInstanceOf(problem);
  const names = problem.candidates.map(({ rule }) => ruleKey(rule));
  return { way, program: coverProgram(instance, names), options: ["--opt-strategy=usc"] };
}

/** What is asked of the solver while a problem in guaranteed mode is solved. */
async function asked(problem: Problem, solver: AnswerSetSolver): Promise<readonly BenchmarkProgram[]> {
  const programs: BenchmarkProgram[] = [];
  const listening: AnswerSetSolver = {
    solve(program, options = {}) {
      programs.push({ way: "guaranteed", program, options: options.options ?? [] });
      return solver.solve(program, options);
    },
    close: () => solver.close(),
  };
  await chooseRules(problem, { reading: literalInterpretation, solver: listening, timeoutMs: 600_000 });
  return programs;
}
