import type { AnswerSetSolver } from "./answer-set-solver.ts";
import {
  paperProblem,
  placedProblem,
  type Questions,
  readingOf,
  readQuestions,
  solved,
  solveReadings,
} from "./build-problem.ts";
import { type BuildProgress, passProgress } from "./build-progress.ts";
import { refuseForeign, writeFolder } from "./finished-folder.ts";
import { type LearnedCells, learnCells } from "./load/cells.ts";
import { type Learned, learn } from "./load/learn.ts";
import type { PassOptions } from "./load/read-statements.ts";
import { materialise } from "./materialise/materialise.ts";
import { predictShards } from "./materialise/predict.ts";
import { defaultPrecedence, placementOf } from "./placement.ts";
import type { Problem } from "./problem.ts";
import { reportPage } from "./report/report-page.ts";
import { reportOf, type ReportedShard, type ShardReport, type SolvedReading } from "./report/shard-report.ts";
import type { Precedence, Reading } from "./rule.ts";
import type { LocatedSpec } from "./spec-paths.ts";
import { relevantShards, touchedShards } from "./statistics/query-shards.ts";
import { lockTarget } from "./target-lock.ts";

/** How shards are built. */
export interface BuildOptions {
  readonly solver: AnswerSetSolver;
  /** Ends the build; what was written stays for the next one to go on with. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BuildProgress) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Choose rules and predict sizes, write nothing. */
  readonly dryRun: boolean;
  /** Of the search for the rules; default 60,000. */
  readonly solveMs?: number;
}

/** What came of a build. */
export interface BuildResult {
  readonly report: ShardReport;
  /** Absent when nothing was written. */
  readonly folder?: string;
}

/**
 * Builds the shards of a dataset: reads it and its queries, chooses rules, writes the shards as one folder that is there
 * when it is complete, with `manifest.json`, `report.json` and `report.html` in it.
 * @throws FedwayError `REQUEST_INVALID` (reading, queries, a target that holds something else), `DATASET_INVALID`,
 *   `SHARDS_BUSY`, `DISK_FULL`, `SOLVER_FAILED`; the signal's reason when that is aborted
 */
export async function buildShards(spec: LocatedSpec, options: BuildOptions): Promise<BuildResult> {
  const reading = readingOf(spec);
  if (options.dryRun) return { report: await build(spec, reading, { ...options, target: undefined }) };
  const lock = await lockTarget(spec.output, options);
  try {
    await refuseForeign(spec.output);
    const signal = AbortSignal.any([options.signal, lock.lost]);
    const report = await build(spec, reading, { ...options, signal, target: spec.output });
    return { report, folder: spec.output };
  } finally {
    await lock.release();
  }
}

/** A build whose target, if any, is held. */
interface Held extends BuildOptions {
  readonly target: string | undefined;
}

/** Everything that is known before the rules are chosen. */
interface Known {
  readonly spec: LocatedSpec;
  readonly reading: Reading;
  readonly precedence: Precedence;
  readonly questions: Questions;
  readonly learned: Learned;
  readonly cells: LearnedCells;
  /** With placement. */
  readonly problem: Problem;
}

async function build(spec: LocatedSpec, reading: Reading, held: Held): Promise<ShardReport> {
  const passes = passOptions(held);
  held.onProgress({ stage: "reading the queries", done: 0 });
  const questions = await readQuestions(spec);
  const learned = await learn(
    spec.inputs.map((path) => ({ path })),
    passes,
  );
  const problem = paperProblem(questions, reading);
  const patterns = problem.queries.map((query) => query.patterns);
  const cells = await learnCells({ learned, buckets: reading.buckets, patterns }, passes);
  const precedence = spec.precedence ?? defaultPrecedence;
  const placed = placedProblem(problem, cells, precedence);
  const known: Known = { spec, reading, precedence, questions, learned, cells, problem: placed };
  const { used, readings } = await choose(known, held);
  const shards = await write(known, used, held);
  const report = reportFor(known, { used, readings, shards, predicted: held.target === undefined });
  if (held.target !== undefined)
    await writeFolder(held.target, { report, page: reportPage(report), inputs: spec.inputs });
  return report;
}

function passOptions({ signal, onProgress, now }: BuildOptions): PassOptions {
  return { signal, onProgress: passProgress(now, onProgress) };
}

interface Chosen {
  readonly used: SolvedReading;
  /** The one that is used, and the published method in every reading. */
  readonly readings: readonly SolvedReading[];
}

/** Beside the reading that is used the others are only shown: they get a part of its time each. */
const shareOfOthers = 1 / 6;

async function choose({ spec, reading, questions, problem }: Known, held: Held): Promise<Chosen> {
  const { solver, signal, onProgress, solveMs = 60_000 } = held;
  onProgress({ stage: "choosing the rules", done: 0, figures: { candidates: problem.candidates.length } });
  const isGuaranteed = spec.mode === "guaranteed";
  const { placement, ...paper } = problem;
  const named = isGuaranteed ? { ...reading, name: `${reading.name}, guaranteed` } : reading;
  const chosen = isGuaranteed && placement !== undefined ? { ...paper, placement } : paper;
  const used = await solved(chosen, named, { solver, signal, timeoutMs: solveMs });
  onProgress({ stage: "comparing the readings", done: 0 });
  const parts = { solver, signal, timeoutMs: solveMs * shareOfOthers };
  const others = await solveReadings(questions, reading, parts);
  return { used, readings: [used, ...others.filter(({ solution }) => solution.reading.name !== named.name)] };
}

async function write(known: Known, { solution }: SolvedReading, held: Held): Promise<readonly ReportedShard[]> {
  const { spec, learned, cells, precedence } = known;
  if (held.target === undefined) {
    return predictShards(cells, solution.rules, precedence).map(({ key, triples }) => ({ key, triples }));
  }
  const { dataset, title, licence, citation, source, gzip } = spec;
  const about = { ...(citation !== undefined && { citation }), ...(source !== undefined && { source }) };
  const { rules, reading } = solution;
  const { shards } = await materialise(
    {
      learned,
      rules,
      reading,
      precedence,
      source: { dataset, title, licence, ...about },
      target: held.target,
      gzip,
      replace: true,
    },
    passOptions(held),
  );
  return shards.map(({ key, triples, bytes }) => ({ key, triples, bytes }));
}

interface Outcome extends Chosen {
  readonly shards: readonly ReportedShard[];
  readonly predicted: boolean;
}

function reportFor(known: Known, { used, readings, shards, predicted }: Outcome): ShardReport {
  const { spec, precedence, questions, cells, problem } = known;
  const { solution } = used;
  const placement = placementOf(solution.rules, precedence);
  const { dataset: id, title, licence, citation, source } = spec;
  return reportOf({
    dataset: {
      id,
      title,
      licence,
      ...(citation !== undefined && { citation }),
      ...(source !== undefined && { source }),
    },
    mode: spec.mode,
    precedence,
    problem,
    solution,
    shards,
    touched: touchedShards({ precedence, ...cells }, placement),
    relevant: relevantShards(problem.queries, cells.cells, placement),
    readings,
    leftOut: questions.rejected,
    predicted,
  });
}
