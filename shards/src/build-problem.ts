import { FedwayError } from "../../src/errors/fedway-error.ts";
import { loadQueries } from "./load/load-queries.ts";
import type { Progress } from "./load/read-statements.ts";
import { published } from "./report/compared-figures.ts";
import type { SolvedInterpretation } from "./report/shard-report.ts";
import type { AnswerSetSolver } from "./rules/answer-set-solver.ts";
import { applicability, candidatesOf } from "./rules/candidates.ts";
import { type ChooseOptions, chooseRules } from "./rules/choose-rules.ts";
import type { Interpretation, Problem, ShardTargets } from "./rules/problem.ts";
import { featuresOf, readOntologyFile, readQueries } from "./rules/query-features.ts";
import type { ShardSpec } from "./spec.ts";
import type { LocatedSpec } from "./spec-paths.ts";

/** Questions about the data. */
export type Questions = Awaited<ReturnType<typeof readQuestions>>;

/** Reads queries and ontology. @throws FedwayError `REQUEST_INVALID`, `REQUEST_TOO_LARGE` */
export async function readQuestions(spec: LocatedSpec) {
  const { rejected, queries } = await loadQueries(spec.queries, spec);
  const read = await readQueries(queries);
  return { rejected, read, ontology: spec.ontology === undefined ? undefined : await readOntologyFile(spec.ontology) };
}

/** The definitions of the paper word by word. */
export const literalInterpretation: Interpretation = {
  name: "literal",
  classRule: "pair",
  verticalRule: "pair",
  typeIsPredicate: true,
  horizontalCoversJoins: false,
  infer: false,
  exists: false,
  buckets: 2,
};

const variant = (name: string, options: Partial<Interpretation>): Interpretation => ({
  ...literalInterpretation,
  ...options,
  name,
});

/** Every interpretation that the report shows, each with one option other than the literal one; the literal one first. */
export const interpretations: readonly Interpretation[] = [
  literalInterpretation,
  variant("single-class", { classRule: "single" }),
  variant("horizontal-covers-joins", { horizontalCoversJoins: true }),
  variant("single-predicate", { verticalRule: "single" }),
  variant("type-is-no-predicate", { typeIsPredicate: false }),
  variant("infer", { infer: true }),
  variant("exists", { exists: true }),
  variant("infer-and-exists", { infer: true, exists: true }),
];

/**
 * The reading that a specification asks for. In balanced mode `rdf:type` is no predicate: instances would be parted from
 * their own classes. @throws FedwayError `REQUEST_INVALID` for a name that is not known
 */
export function interpretationOf({ mode, reading, buckets }: ShardSpec): Interpretation {
  const more: Partial<Interpretation> = {
    ...(buckets !== undefined && { buckets }),
    ...(mode === "balanced" && { typeIsPredicate: false }),
  };
  if (reading === undefined) return { ...literalInterpretation, ...more };
  if (typeof reading !== "string") return { ...literalInterpretation, ...reading, ...more, name: "own" };
  const found = interpretations.find(({ name }) => name === reading);
  if (found !== undefined) return { ...found, ...more };
  throw new FedwayError("REQUEST_INVALID", `There is no reading ${JSON.stringify(reading.slice(0, 60))}.`, {
    next: `Choose one of ${interpretations.map(({ name }) => name).join(", ")}, or give its options.`,
  });
}

/** Targets for the shards; balanced mode uses the published figures, and a number of shards, where a specification says nothing. */
export function targetsOf({ mode, shares, maxShards, minShardTriples }: ShardSpec, mostShards = 8): ShardTargets {
  const { vertical, class: byClass, horizontal } = published;
  const paper = { vertical: vertical.mean, class: byClass.mean, horizontal: horizontal.mean };
  const defaults = mode === "balanced" ? { shares: paper, maxShards: mostShards } : {};
  return { shares: shares ?? defaults.shares, maxShards: maxShards ?? defaults.maxShards, minShardTriples };
}

/** The published method's problem in a reading: which queries there are, and which rules cover them. */
export function paperProblem({ read, ontology }: Questions, reading: Interpretation): Problem {
  const queries = read.map((query) => featuresOf(query, reading, ontology));
  return { queries, candidates: candidatesOf(queries, reading) };
}

/** How problems are solved. */
export interface SolveParts {
  readonly solver: AnswerSetSolver;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly from?: ChooseOptions["from"];
}

/** Solves a problem and says how it looks in its reading. */
export async function solved(
  problem: Problem,
  reading: Interpretation,
  parts: SolveParts,
): Promise<SolvedInterpretation> {
  const solution = await chooseRules(problem, { ...parts, reading });
  // A search that was cut off returns its findings so far. A cancelled build has no result.
  parts.signal.throwIfAborted();
  const { queries, candidates } = problem;
  return { solution, candidates: candidates.length, applicability: applicability(queries, reading) };
}

/** The published method in every reading, side by side; `used` first where it is none of them. */
export async function solveInterpretations(
  questions: Questions,
  used: Interpretation,
  parts: SolveParts,
): Promise<readonly SolvedInterpretation[]> {
  const isKnown = interpretations.some(({ name }) => name === used.name);
  const found: SolvedInterpretation[] = [];
  for (const each of isKnown ? interpretations : [used, ...interpretations]) {
    const reading = { ...each, buckets: used.buckets };
    found.push(await solved(paperProblem(questions, reading), reading, parts));
  }
  return found;
}

/** How far a build or a check has come. */
export interface BuildProgress {
  /** Present stage, in a few words. */
  readonly stage: string;
  /** Units done, of `total` where that is known. */
  readonly done: number;
  readonly total?: number | undefined;
  /** Such as `triples/s` and `s left`. */
  readonly figures?: Readonly<Record<string, number>> | undefined;
}

const stages: Readonly<Record<string, string>> = {
  learn: "learning the classes",
  cells: "counting what the rules can tell apart",
  split: "splitting, and counting what the rules can tell apart",
  sort: "sorting",
  compress: "compressing",
};

const mebibyte = 1_048_576;

/** Before that much time has passed a rate says nothing. */
const leastMs = 500;

/**
 * Turns the progress of passes over the data, in triples and bytes, into that of a build, in MiB with triples per second
 * and the time that is left of the pass at its pace so far.
 */
export function passProgress(now: () => number, report: (progress: BuildProgress) => void): (pass: Progress) => void {
  let phase = "";
  let startedMs = 0;
  return (pass) => {
    if (pass.phase !== phase) {
      phase = pass.phase;
      startedMs = now();
    }
    const ms = now() - startedMs;
    const { triples, bytes, totalBytes } = pass;
    const total = Math.ceil(totalBytes / mebibyte);
    report({
      stage: stages[phase] ?? phase,
      done: Math.min(total, Math.floor(bytes / mebibyte)),
      total,
      figures: { triples, ...(ms >= leastMs && rates(pass, ms)) },
    });
  };
}

function rates({ triples, bytes, totalBytes }: Progress, ms: number): Readonly<Record<string, number>> {
  const perSecond = Math.round((triples * 1000) / ms);
  if (bytes === 0) return { "triples/s": perSecond };
  const left = (ms / bytes) * Math.max(0, totalBytes - bytes);
  return { "triples/s": perSecond, "s left": Math.ceil(left / 1000) };
}
