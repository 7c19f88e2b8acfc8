import type { Rule, RuleKind } from "../rules/problem.ts";
import type { QueryReport, ReportedShard } from "./shard-report.ts";

/** Questions that ask a query, itself included. */
export const questionsOf = ({ same }: QueryReport): number => Math.max(same.length, 1);

/** Fan-outs of questions: each question counts, also one whose query others have too. */
export type FanOut = ReturnType<typeof fanOutOf>;

function fanOutOf(queries: readonly QueryReport[], fanOut: (query: QueryReport) => number) {
  const observed = queries.map((query) => ({ value: fanOut(query), weight: questionsOf(query) }));
  const summary = weightedSummary(observed);
  const counts: number[] = Array.from({ length: (summary?.max ?? -1) + 1 }, () => 0);
  for (const { value, weight } of observed) counts[value]! += weight;
  return {
    questions: summary?.count ?? 0,
    /** Undefined without questions. */
    summary,
    /** From 0 to the largest fan-out, without gaps. */
    distribution: counts.map((questions, shards) => ({ shards, questions })),
  };
}

/** The figures of one dataset (Dobriy et al., Agentic SPARQL, section 4). */
export type ShardStatistics = ReturnType<typeof statisticsOf>;

export function statisticsOf({
  rules,
  shards,
  queries,
}: {
  readonly rules: readonly Rule[];
  readonly shards: readonly ReportedShard[];
  readonly queries: readonly QueryReport[];
}) {
  const sizes = shards.map((shard) => shard.triples).filter((size) => size > 0);
  const triples = sizes.reduce((sum, size) => sum + size, 0);
  const ofKind = (kind: RuleKind): number => rules.filter((rule) => rule.kind === kind).length;
  const lookedAt = queries.length > 0 && queries.every(({ relevant }) => relevant !== undefined);
  return {
    questions: queries.reduce((sum, query) => sum + questionsOf(query), 0),
    distinctQueries: queries.length,
    rules: rules.length,
    composition: { vertical: ofKind("vertical"), class: ofKind("class"), horizontal: ofKind("horizontal") },
    /** Shards with at least one triple. */
    shards: sizes.length,
    /** Shards that the rules make and nothing fell into. */
    emptyShards: shards.length - sizes.length,
    triples,
    /** Triples of the shards that are not empty. */
    sizes: summaryOf(sizes),
    /** Variation of the sizes: population standard deviation divided by the mean. */
    sizeVariation: coefficientOfVariation(sizes),
    /** Share of the triples in the largest shard; absent without triples, and in older reports. */
    largestShare: triples > 0 ? Math.max(...sizes) / triples : undefined,
    /** Shards made by the rules that cover the query. */
    impliedFanOut: fanOutOf(queries, ({ implied }) => implied.length),
    /** Shards with the query's predicates or classes; undefined where that was not looked at. */
    relevantFanOut: lookedAt ? fanOutOf(queries, ({ relevant }) => relevant?.length ?? 0) : undefined,
    /** Shards with a match for a pattern of the query. */
    realisedFanOut: fanOutOf(queries, ({ touched }) => touched.length),
    /** Questions by where their answers come from; absent where nothing was asked. */
    answers: queries.some(({ source }) => source !== undefined) ? answersOf(queries) : undefined,
  };
}

function answersOf(queries: readonly QueryReport[]) {
  const counts = { none: 0, "one-shard": 0, "several-shards": 0, unknown: 0 };
  for (const query of queries) counts[query.source ?? "unknown"] += questionsOf(query);
  return counts;
}

/** Questions with exactly this fan-out. */
export const questionsWith = ({ distribution }: FanOut, shards: number): number => distribution[shards]?.questions ?? 0;

/** A number that stands for several equal observations. */
interface Weighted {
  readonly value: number;
  /** How many observations have this value: a whole number, 1 or more. */
  readonly weight: number;
}

/** Mean, median and range of at least one observation. */
export interface Summary {
  readonly count: number;
  readonly mean: number;
  /** The middle observation, or the mean of the two in the middle. */
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The observation at a place of the sorted ones, counted from 0. */
function observationAt(sorted: readonly Weighted[], place: number): number {
  let seen = 0;
  for (const { value, weight } of sorted) {
    seen += weight;
    if (place < seen) return value;
  }
  return Number.NaN;
}

/** Undefined without observations: a mean of nothing is not 0. */
export function weightedSummary(observations: readonly Weighted[]): Summary | undefined {
  const sorted = observations.toSorted((a, b) => a.value - b.value);
  const [first, last] = [sorted.at(0), sorted.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  let count = 0;
  let sum = 0;
  for (const { value, weight } of sorted) {
    count += weight;
    sum += value * weight;
  }
  const low = observationAt(sorted, Math.floor((count - 1) / 2));
  const high = observationAt(sorted, Math.floor(count / 2));
  return { count, mean: sum / count, median: (low + high) / 2, min: first.value, max: last.value };
}

/** Summary of observations that count once each. */
export const summaryOf = (values: readonly number[]): Summary | undefined =>
  weightedSummary(values.map((value) => ({ value, weight: 1 })));

/**
 * Population standard deviation over the mean. Undefined without values and where the mean is 0.
 */
export function coefficientOfVariation(values: readonly number[]): number | undefined {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (!(mean > 0)) return undefined;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return Math.sqrt(variance) / mean;
}
