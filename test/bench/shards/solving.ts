import { existsSync } from "node:fs";
import type { AnswerSetSolver } from "../../../shards/src/rules/answer-set-solver.ts";
import { createClingoSolver } from "../../../shards/src/solver/clingo-solver.ts";
import { median, rounded } from "../proxy/report.ts";
import { printRows } from "../void/print-rows.ts";
import { type BenchmarkProgram, benchmarkPrograms, datasets } from "./benchmark-programs.ts";
import { solveNatively } from "./native-clingo.ts";

/** Seconds of both solvers for the same programs: sums of the medians of each program. */
export interface SolvingMeasure {
  readonly dataset: string;
  readonly programs: number;
  /** clingo's own clock, reading and grounding included. */
  readonly total: Pair;
  /** Of these, the search; its unit is a millisecond, and most searches take less. */
  readonly search: Pair;
  /** As seen from outside: a warm worker, a new process. */
  readonly wall: Pair;
}

interface Pair {
  readonly wasm: number;
  readonly native: number;
  readonly ratio: number;
}

/** The clocks of one run. */
interface Clocks {
  readonly total: number;
  readonly search: number;
  readonly wall: number;
}

/** Both runs of a program in one round. */
type Round = Readonly<Record<"wasm" | "native", Clocks>>;

/** Not part of the project: its licence is share-alike. */
const folder = new URL("../../../../shared/fkgqa/", import.meta.url);
const seed = "--seed=1";
const optimumTimeoutMs = 300_000;

/**
 * clingo-wasm in its worker beside native clingo, on the programs of the nine datasets. The solvers take turns, and each
 * has solved everything once before it counts. Undefined without the datasets.
 * @throws Error when native clingo is missing, or the optima differ
 */
export async function measureSolving({
  quick,
}: {
  readonly quick: boolean;
}): Promise<readonly SolvingMeasure[] | undefined> {
  if (!existsSync(folder)) {
    process.stdout.write(
      "\nNOT MEASURED: the nine datasets are not at ../shared/fkgqa, so both clingos had nothing to solve.\n",
    );
    return undefined;
  }
  const solver = createClingoSolver();
  try {
    const measures: SolvingMeasure[] = [];
    for (const dataset of datasets) {
      process.stderr.write(`bench shards: clingo-wasm and native clingo, ${dataset}\n`);
      const programs = await benchmarkPrograms(folder, dataset, solver);
      measures.push(await measureDataset({ dataset, programs, rounds: quick ? 3 : 11 }, solver));
    }
    const all = [...measures, sumOf("in all", measures)];
    print(all);
    return all;
  } finally {
    await solver.close();
  }
}

async function measureDataset(
  work: { readonly dataset: string; readonly programs: readonly BenchmarkProgram[]; readonly rounds: number },
  solver: AnswerSetSolver,
): Promise<SolvingMeasure> {
  const { dataset, programs, rounds } = work;
  const runs = programs.map((): Round[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, program] of programs.entries()) {
      const both = await solveBoth(program, solver);
      if (round > 0) runs[at]?.push(both);
    }
  }
  const pairOf = (clock: keyof Clocks): Pair => {
    const seconds = (which: keyof Round): number =>
      runs.reduce((sum, all) => sum + median(all.map((run) => run[which][clock])), 0);
    return withRatio(seconds("wasm"), seconds("native"));
  };
  const [total, search, wall] = [pairOf("total"), pairOf("search"), pairOf("wall")];
  return { dataset, programs: programs.length, total, search, wall };
}

const withRatio = (wasm: number, native: number): Pair => ({ wasm, native, ratio: wasm / native });

/** One program by both. @throws Error when one proves what the other does not, or another optimum */
async function solveBoth({ way, program, options }: BenchmarkProgram, solver: AnswerSetSolver): Promise<Round> {
  const all = [...options, seed];
  const wasm = await solver.solve(program, { options: all, timeoutMs: optimumTimeoutMs });
  const native = await solveNatively(program, all);
  const [ours, theirs] = [wasm.costs.join(" "), (native.costs ?? []).join(" ")];
  if (wasm.ended !== "complete" || !native.complete || wasm.clock === undefined) {
    throw new Error(`${way}: no proof (clingo-wasm ${wasm.ended}, native ${native.complete ? "complete" : "cut off"})`);
  }
  if (ours !== theirs)
    throw new Error(`${way}: the optimum of clingo-wasm is ${ours}, that of native clingo ${theirs}`);
  return {
    wasm: { total: wasm.clock.totalSeconds, search: wasm.clock.searchSeconds, wall: wasm.seconds },
    native: { total: native.totalSeconds, search: native.searchSeconds, wall: native.seconds },
  };
}

function sumOf(dataset: string, measures: readonly SolvingMeasure[]): SolvingMeasure {
  const pairOf = (clock: keyof Clocks): Pair =>
    withRatio(
      measures.reduce((sum, measure) => sum + measure[clock].wasm, 0),
      measures.reduce((sum, measure) => sum + measure[clock].native, 0),
    );
  const programs = measures.reduce((sum, measure) => sum + measure.programs, 0);
  return { dataset, programs, total: pairOf("total"), search: pairOf("search"), wall: pairOf("wall") };
}

const milliseconds = (seconds: number): string => rounded(seconds * 1_000);

const pairCells = ({ wasm, native, ratio }: Pair): readonly string[] => [
  `${milliseconds(wasm)} / ${milliseconds(native)}`,
  // Below a few units of the clock a ratio says nothing.
  native < 0.005 ? "-" : `${rounded(ratio)} x`,
];

function print(measures: readonly SolvingMeasure[]): void {
  const heads = ["dataset", "programs", "solving, ms", "ratio", "of it search, ms", "ratio", "wall, ms", "ratio"];
  const rows = measures.map(({ dataset, programs, total, search, wall }) => [
    dataset,
    String(programs),
    ...pairCells(total),
    ...pairCells(search),
    ...pairCells(wall),
  ]);
  printRows("clingo-wasm in a warm worker / native clingo in a new process (target: solving in at most 3 x the time)", [
    heads,
    ...rows,
  ]);
}
