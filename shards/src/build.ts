import { itemAt } from "../../src/values.ts";
import {
  type BuildProgress,
  interpretationOf,
  paperProblem,
  passProgress,
  type Questions,
  readQuestions,
  type SolveParts,
  solved,
  solveInterpretations,
  targetsOf,
} from "./build-problem.ts";
import { notesOf } from "./finished-folder.ts";
import { type LearnedCells, learnCells } from "./load/cells.ts";
import { type Learned, learn } from "./load/learn.ts";
import type { PassOptions } from "./load/read-statements.ts";
import { type Gathered, type GatherRequest, gather } from "./materialise/gather.ts";
import { manifestIn } from "./materialise/manifest.ts";
import { discardBuild, materialise } from "./materialise/materialise.ts";
import { processorMs } from "./processor-time.ts";
import { relevantShards, touchedShards } from "./report/query-shards.ts";
import { reportPage } from "./report/report-page.ts";
import { ruleFileName, ruleFileOf } from "./report/rule-file.ts";
import { type ReportInput, reportOf, type ShardReport, type SolvedInterpretation } from "./report/shard-report.ts";
import type { AnswerSetSolver } from "./rules/answer-set-solver.ts";
import { balancedPrecedence, defaultPrecedence, keysOfCells, placementOf, predictShards } from "./rules/placement.ts";
import type { Interpretation, Precedence, Problem, Rule } from "./rules/problem.ts";
import { type AnswerSource, openQueryAnswers, type QueryAnswers } from "./rules/query-answers.ts";
import { claimedGroups, groupedProblem, type GroupedProblem, type TermGroups } from "./rules/term-groups.ts";
import { propertiesOfShards, topicsOf } from "./shard-contents.ts";
import type { LocatedSpec } from "./spec-paths.ts";
import { lockTarget } from "./target-lock.ts";
import type { OpenStore } from "./verify/answer-store.ts";

/** How shards are built. */
export interface BuildRequest {
  /** Ends the build; written files stay, and the next build resumes from them. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BuildProgress) => void;
  /** Choose rules and predict sizes, write nothing. */
  readonly dryRun: boolean;
  /** Milliseconds of processor time for the search for rules, all its rounds together; default 60,000. */
  readonly solveMs?: number | undefined;
  /** Milliseconds of processor time for asking the queries, before the rules are chosen and after each choice together; default 180,000. */
  readonly answersMs?: number | undefined;
}

/** The same with what a build works with. */
interface BuildOptions extends BuildRequest {
  readonly solver: AnswerSetSolver;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Answers queries over parts of the data; without it nothing is known of their solutions. */
  readonly openStore?: OpenStore | undefined;
}

/** The result of a build. */
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
  const reading = interpretationOf(spec);
  if (options.dryRun)
    return {
      report: await build(spec, reading, { ...options, target: undefined }),
    };
  const lock = await lockTarget(spec.output, options);
  try {
    // A folder of something else is refused before any work is done for it.
    await manifestIn(spec.output);
    const report = await buildHeld(spec, reading, {
      ...options,
      signal: AbortSignal.any([options.signal, lock.lost]),
      target: spec.output,
    });
    return { report, folder: spec.output };
  } finally {
    await lock.release();
  }
}

/** A stopped build keeps its work for the next one. A failed build would only fail again: its work is removed. */
async function buildHeld(
  spec: LocatedSpec,
  reading: Interpretation,
  held: Held & { readonly target: string },
): Promise<ShardReport> {
  try {
    return await build(spec, reading, held);
  } catch (error) {
    if (!held.signal.aborted) await discardBuild(held.target);
    throw error;
  }
}

/** A build whose target, if any, is held. */
interface Held extends BuildOptions {
  readonly target: string | undefined;
}

/** Inputs of a build as read, and the store that answers queries over them. */
interface Read {
  readonly spec: LocatedSpec;
  readonly reading: Interpretation;
  readonly precedence: Precedence;
  readonly questions: Questions;
  readonly request: GatherRequest;
  readonly gathered: Gathered | undefined;
  readonly cells: LearnedCells;
  /** In balanced mode, where the questions name too many classes and predicates for rules about each. */
  readonly groups: TermGroups | undefined;
  readonly answers: QueryAnswers | undefined;
}

/** Everything that is known before the rules are chosen. */
interface Known extends Read {
  /** With placement. */
  readonly problem: Problem;
}

async function build(spec: LocatedSpec, reading: Interpretation, held: Held): Promise<ShardReport> {
  const passes = passOptions(held);
  held.onProgress({ stage: "reading the queries", done: 0 });
  const questions = await readQuestions(spec);
  const learned = await learn(
    spec.inputs.map((path) => ({ path, skipBadLines: spec.skipBadLines })),
    passes,
  );
  const problem = paperProblem(questions, reading);
  const patterns = problem.queries.map((query) => query.patterns);
  const precedence = spec.precedence ?? (spec.mode === "balanced" ? balancedPrecedence : defaultPrecedence);
  const request: GatherRequest = { learned, buckets: reading.buckets, patterns };
  // Existing shards of the same inputs are most often the result of this build: then nothing has to be written.
  const gathered =
    held.target === undefined || (await isMadeOf(held.target, learned))
      ? undefined
      : await gather(held.target, request, passes);
  const cells = gathered?.cells ?? (await learnCells(request, passes));
  const { queries } = problem;
  const { openStore, signal, answersMs: totalMs = 180_000 } = held;
  const grouped: GroupedProblem =
    spec.mode === "balanced" ? groupedProblem(problem, cells, reading) : { ...problem, placed: cells };
  const { groups, parts } = grouped;
  const data = { learned, buckets: reading.buckets, queries, cells, parts };
  const answers = openStore && (await openQueryAnswers(data, { openStore, signal, totalMs }));
  const asked = { spec, reading, precedence, questions, request, gathered, cells, groups, answers };
  try {
    return await buildAsked(asked, grouped, held);
  } finally {
    await answers?.close();
  }
}

/** The share of the queries that each kind of rules over groups of terms is to cover. */
const leastOfKind = 0.1;
/** Large data have groups, with more shards than the few that an agent can know by heart; those of the base are one here. */
const mostShardsOfGroups = 15;

async function buildAsked(asked: Read, grouped: GroupedProblem, held: Held): Promise<ShardReport> {
  const { spec, precedence, groups, answers } = asked;
  const { queries, candidates, placed } = grouped;
  const { cells, touches } = placed;
  held.onProgress({ stage: "asking the queries", done: 0 });
  const needed = spec.mode === "balanced" ? await answers?.neededCells() : undefined;
  const needs = spec.mode === "balanced" ? touches.map((all, query) => [needSetOf(all, needed?.[query])]) : undefined;
  const leastCovered = groups && Math.ceil(leastOfKind * queries.length);
  const targets = targetsOf(spec, groups && mostShardsOfGroups);
  const problem: Problem = {
    queries,
    candidates,
    placement: { cells, touches, precedence, needs, targets, leastCovered },
  };
  const chosen = await choose({ ...asked, problem }, held);
  const known: Known = { ...asked, problem: chosen.problem };
  if (held.target !== undefined) return write(known, chosen, { ...held, target: held.target });
  const shards = predictShards(asked.cells.cells, chosen.keys);
  return reportFor(known, chosen, { shards, predicted: true });
}

/** Cells that must not all lie in one shard: where fewer than two are needed, or that is unknown, all that a query touches. */
const needSetOf = (touched: readonly number[], needed: readonly number[] = []): readonly number[] =>
  needed.length < 2 ? touched : needed;

const checksums = (inputs: readonly { readonly sha256: string }[]): string =>
  inputs.map(({ sha256 }) => sha256).join(" ");

/** True if finished shards of these inputs exist. */
async function isMadeOf(target: string, { inputs }: Learned): Promise<boolean> {
  const found = await manifestIn(target).catch(() => undefined);
  return found !== undefined && checksums(found.inputs) === checksums(inputs);
}

function passOptions({ signal, onProgress, now }: BuildOptions): PassOptions {
  return { signal, onProgress: passProgress(now, onProgress) };
}

type Chosen = Awaited<ReturnType<typeof choose>>;

/** The other readings are only shown beside the one that is used: each gets a part of its time. */
const shareOfOthers = 1 / 6;
const defaultSolveMs = 60_000;
/** Choices of rules after the first one. */
const mostRefinements = 4;

/**
 * The reading that is used and, beside it, the published method in every reading; of each cell the key of its shard, and of
 * each query its sources, where asked.
 */
async function choose(known: Known, held: Held) {
  const { spec, reading, questions } = known;
  const { solver, signal, onProgress, solveMs = defaultSolveMs } = held;
  const name = spec.mode === "paper" ? reading.name : `${reading.name}, ${spec.mode}`;
  const chosen = await chooseRefined(known, { ...reading, name }, held);
  onProgress({ stage: "comparing the readings", done: 0 });
  const parts = { solver, signal, timeoutMs: solveMs * shareOfOthers };
  const others = await solveInterpretations(questions, reading, parts);
  return { ...chosen, readings: [chosen.used, ...others.filter(({ solution }) => solution.reading.name !== name)] };
}

/**
 * Solves the problem, and in balanced mode again as long as shards turn out to answer queries alone, with the cells that are
 * enough for that as a new condition.
 */
async function chooseRefined(
  { spec, problem: first, precedence, cells, groups, answers }: Known,
  reading: Interpretation,
  { solver, signal, onProgress, solveMs = defaultSolveMs }: Held,
) {
  const { placement: _, ...paper } = first;
  let problem = first;
  let from: readonly Rule[] = [];
  let leftMs = solveMs;
  const [isPaper, isRefined] = [spec.mode === "paper", spec.mode === "balanced" && answers !== undefined];
  for (let round = 0; ; round += 1) {
    onProgress({ stage: "choosing the rules", done: 0, figures: { candidates: problem.candidates.length } });
    const isLast = !isRefined || round === mostRefinements;
    const parts: SolveParts = {
      solver,
      signal,
      timeoutMs: isLast ? leftMs : leftMs / 2,
      from,
    };
    const startMs = processorMs();
    const used = await solved(isPaper ? paper : problem, reading, parts);
    const { rules } = used.solution;
    leftMs = Math.max(0, leftMs - (processorMs() - startMs));
    const placement = placementOf(rules, precedence, groups);
    onProgress({ stage: "asking the shards", done: 0 });
    const placed = problem.placement?.cells ?? cells.cells;
    const { sources, enough } = await shardsAsked(answers, keysOfCells(placed, placement), isLast);
    const refined = enough && refinedBy(problem, enough);
    if (refined === undefined) {
      return {
        problem,
        used: asFarAsAsked(groups ? asFarAsGrouped(used) : used, sources),
        keys: keysOfCells(cells.cells, placement),
        sources,
      };
    }
    problem = refined;
    from = rules;
  }
}

/** Of each query its source, and where rules are chosen again the cells that are enough for a shard. */
async function shardsAsked(answers: QueryAnswers | undefined, keys: readonly string[], isLast: boolean) {
  if (answers === undefined) return {};
  const sourced = await answers.sources(keys);
  const sources = sourced.map(({ source }) => source);
  return isLast ? { sources } : { sources, enough: await answers.enoughCells(sourced) };
}

/** Other groups, or rules about single terms, might do better: only what costs nothing is proven, and one rule is needed. */
function asFarAsGrouped(used: SolvedInterpretation): SolvedInterpretation {
  const { criteria, cost } = used.solution;
  const proven = criteria?.map(({ name, cost: own, proven: is }) => ({ name, cost: own, proven: is && own === 0 }));
  return { ...used, solution: { ...used.solution, criteria: proven, proven: false, lowerBound: Math.min(1, cost) } };
}

/** Not proven, as to shards that answer alone, where some query was not asked. */
function asFarAsAsked(used: SolvedInterpretation, sources: readonly (AnswerSource | undefined)[] = []) {
  if (sources.length > 0 && !sources.includes(undefined)) return used;
  const criteria = used.solution.criteria?.map((criterion) =>
    criterion.name === "fewest_answered_alone" ? { ...criterion, proven: false } : criterion,
  );
  return { ...used, solution: { ...used.solution, criteria } };
}

/** The problem with these sets of cells as further needs; undefined where all are known. */
function refinedBy({ placement, ...problem }: Problem, enough: readonly (readonly number[])[]): Problem | undefined {
  if (placement?.needs === undefined) return undefined;
  const known = placement.needs;
  const needs = known.map((sets, query) => {
    const cells = itemAt(enough, query);
    const isNew = cells.length > 1 && !sets.some((set) => set.join() === cells.join());
    return isNew ? [...sets, cells] : sets;
  });
  if (needs.every((sets, query) => sets === known[query])) return undefined;
  return { ...problem, placement: { ...placement, needs } };
}

async function write(known: Known, chosen: Chosen, held: Held & { readonly target: string }): Promise<ShardReport> {
  const { spec, request, gathered, cells, groups, problem, precedence } = known;
  const { dataset, title, licence, citation, source, creators, gzip } = spec;
  const { rules: chosenRules, reading } = chosen.used.solution;
  let report: ShardReport | undefined;
  await materialise(
    {
      gather: request,
      gathered,
      rules: chosenRules,
      reading,
      precedence,
      groups: groups && claimedGroups(groups, chosenRules),
      source: { dataset, title, licence, citation, source, creators },
      target: held.target,
      gzip,
      naming: spec.ids,
      topics: topicsOf(cells.cells, chosen.keys, spec.topics),
      properties: propertiesOfShards(cells.cells, chosen.keys),
      replace: true,
      beside(shards) {
        report = reportFor(known, chosen, { shards, predicted: false });
        const rules = ruleFileOf({ mode: spec.mode, problem, solution: chosen.used.solution });
        const page = reportPage(report, ruleFileName);
        return notesOf(held.target, { report, page, rules, inputs: spec.inputs });
      },
    },
    passOptions(held),
  );
  if (report === undefined) throw new Error("shards were written without a report");
  return report;
}

function reportFor(
  known: Known,
  { used, keys, sources, readings }: Chosen,
  { shards, predicted }: { readonly shards: ReportInput["shards"]; readonly predicted: boolean },
): ShardReport {
  const { spec, precedence, questions, request, cells, groups, problem } = known;
  const { solution } = used;
  const { dataset: id, title, licence, citation, source } = spec;
  return reportOf({
    dataset: { id, title, licence, citation, source },
    mode: spec.mode,
    precedence,
    groups: groups && claimedGroups(groups, solution.rules),
    problem,
    solution,
    shards,
    naming: spec.ids,
    touched: touchedShards(cells.touches, keys),
    relevant: relevantShards(problem.queries, cells.cells, keys),
    sources,
    readings,
    leftOut: questions.rejected,
    badLines: request.learned.inputs.flatMap(({ name, badLines: bad }) =>
      bad ? { name, count: bad.count, first: bad.first } : [],
    ),
    predicted,
  });
}
