import { FedwayError } from "../errors/fedway-error.ts";
import { applicability, candidatesOf } from "./candidates.ts";
import type { AnswerSetSolver } from "./answer-set-solver.ts";
import { chooseRules } from "./choose-rules.ts";
import { type Ontology, readOntologyFile } from "./features/ontology.ts";
import { featuresOf, type ReadQuery, readQueries } from "./features/query-features.ts";
import type { LearnedCells } from "./load/cell-facts.ts";
import type { Problem } from "./problem.ts";
import { type LoadedQueries, loadQueries } from "./queries/load-queries.ts";
import { literalReading, readingNamed, readings } from "./readings.ts";
import type { SolvedReading } from "./report/shard-report.ts";
import type { Reading } from "./rule.ts";
import type { ShardSpec } from "./spec.ts";
import type { LocatedSpec } from "./spec-paths.ts";

/** What is asked of the data. */
export interface Questions extends LoadedQueries {
  readonly read: readonly ReadQuery[];
  readonly ontology?: Ontology;
}

/** Reads queries and ontology. @throws FedwayError `REQUEST_INVALID`, `REQUEST_TOO_LARGE` */
export async function readQuestions(spec: LocatedSpec): Promise<Questions> {
  const { only, prefixes } = spec;
  const loaded = await loadQueries(spec.queries, { ...(only && { only }), ...(prefixes && { prefixes }) });
  const read = await readQueries(loaded.queries);
  if (spec.ontology === undefined) return { ...loaded, read };
  return { ...loaded, read, ontology: await readOntologyFile(spec.ontology) };
}

/**
 * The reading that a specification asks for. In balanced mode `rdf:type` is no predicate: instances would be parted from
 * their own classes. @throws FedwayError `REQUEST_INVALID` for a name that is not known
 */
export function readingOf({ mode, reading, buckets }: Pick<ShardSpec, "mode" | "reading" | "buckets">): Reading {
  const more = {
    ...(buckets !== undefined && { buckets }),
    ...(mode === "balanced" && { typeIsPredicate: false }),
  };
  if (reading === undefined) return { ...literalReading, ...more };
  if (typeof reading !== "string") return { ...literalReading, ...reading, ...more, name: "own" };
  const found = readingNamed(reading);
  if (found !== undefined) return { ...found, ...more };
  throw new FedwayError("REQUEST_INVALID", `There is no reading ${JSON.stringify(reading.slice(0, 60))}.`, {
    next: `Choose one of ${readings.map(({ name }) => name).join(", ")}, or give its options.`,
  });
}

/** The published method's problem in a reading: which queries there are, and which rules cover them. */
export function paperProblem({ read, ontology }: Questions, reading: Reading): Problem {
  const queries = read.map((query) => featuresOf(query, reading, ontology));
  return { queries, candidates: candidatesOf(queries, reading) };
}

/** The same with what is needed to know where the triples go. */
export const placedProblem = (
  problem: Problem,
  { cells, touches }: LearnedCells,
  placement: Pick<NonNullable<Problem["placement"]>, "precedence" | "needs">,
): Problem => ({ ...problem, placement: { ...placement, cells, touches } });

/** How problems are solved. */
export interface SolveParts {
  readonly solver: AnswerSetSolver;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Solves a problem and says how it looks in its reading. */
export async function solved(problem: Problem, reading: Reading, parts: SolveParts): Promise<SolvedReading> {
  const solution = await chooseRules(problem, { ...parts, reading });
  // A search that was ended gives what it has found; a build that was cancelled is none.
  parts.signal.throwIfAborted();
  const { queries, candidates } = problem;
  return { solution, candidates: candidates.length, applicability: applicability(queries, reading) };
}

/** The published method in every reading, side by side; `used` first where it is none of them. */
export async function solveReadings(
  questions: Questions,
  used: Reading,
  parts: SolveParts,
): Promise<readonly SolvedReading[]> {
  const others = readings.map((reading) => withBuckets(reading, used.buckets));
  const all = others.some((reading) => sameReading(reading, used)) ? others : [used, ...others];
  const found: SolvedReading[] = [];
  for (const reading of all) found.push(await solved(paperProblem(questions, reading), reading, parts));
  return found;
}

const sameReading = (left: Reading, right: Reading): boolean => left.name === right.name;

const withBuckets = (reading: Reading, buckets: number): Reading => ({ ...reading, buckets });
