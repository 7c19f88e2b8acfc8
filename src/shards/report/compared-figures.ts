import type { RuleKind } from "../rules/problem.ts";
import type { AnswerSource } from "../rules/query-answers.ts";
import {
  type FanOut,
  questionsWith,
  type ShardStatistics,
  type Summary,
  summaryOf,
  weightedSummary,
} from "./shard-statistics.ts";

/** A figure beside the published one. */
export interface ComparedFigure {
  readonly id: string;
  readonly title: string;
  /** Exactly what was counted. */
  readonly definition: string;
  /** Shares are fractions of 1. */
  readonly unit: "number" | "share";
  /** Undefined where there is nothing to count. A single value has `count` 1. */
  readonly value: Summary | undefined;
  /** Undefined where nothing comparable was published. */
  readonly published: PublishedFigure | undefined;
}

type Words = Pick<ComparedFigure, "id" | "title" | "definition" | "unit">;

const kinds: readonly RuleKind[] = ["vertical", "class", "horizontal"];

const words = {
  rules: { id: "rules", title: "Rules per dataset", definition: "Chosen rules of all kinds.", unit: "number" },
  totalShards: {
    id: "total-shards",
    title: "Shards of all datasets",
    definition: "Shards with at least one triple, of all datasets together; it grows with the number of datasets.",
    unit: "number",
  },
  shards: {
    id: "shards",
    title: "Shards per dataset",
    definition: "Shards with at least one triple, the base shard included.",
    unit: "number",
  },
  sizeVariation: {
    id: "size-variation",
    title: "Variation of shard sizes",
    definition: "Population standard deviation of the triples of the shards that are not empty, over their mean.",
    unit: "number",
  },
  largestShare: {
    id: "largest-shard",
    title: "Largest shard",
    definition: "Share of a dataset's triples in its largest shard.",
    unit: "share",
  },
  impliedFanOut: {
    id: "implied-fan-out",
    title: "Implied fan-out per question",
    definition:
      "Different shards made by the chosen rules that cover the question's query; a rule of a single class or predicate makes its shard and “elsewhere”.",
    unit: "number",
  },
  relevantFanOut: {
    id: "relevant-fan-out",
    title: "Fan-out by vocabulary per question",
    definition: "Shards that hold a predicate of the query, or instances of a class that it asks for.",
    unit: "number",
  },
  realisedFanOut: {
    id: "realised-fan-out",
    title: "Realised fan-out per question",
    definition: "Shards with a match for at least one triple pattern of the query.",
    unit: "number",
  },
  noSolution: {
    id: "no-match-by-solutions",
    title: "Questions without a match, by solutions",
    definition: "The query has no solution over the whole dataset: its answer has no row, or an ASK says no.",
    unit: "share",
  },
  noMatch: {
    id: "no-match",
    title: "Questions without a match, by triple patterns",
    definition: "Realised fan-out 0: no triple matches any pattern of the query.",
    unit: "share",
  },
  oneShard: {
    id: "one-shard",
    title: "Questions that touch exactly one shard",
    definition: "Realised fan-out 1.",
    unit: "share",
  },
  twoShards: {
    id: "two-shards",
    title: "Questions that touch exactly two shards",
    definition: "Realised fan-out 2.",
    unit: "share",
  },
  federated: {
    id: "federated",
    title: "Federated questions",
    definition: "Realised fan-out 2 or more.",
    unit: "share",
  },
  answeredAlone: {
    id: "answered-alone",
    title: "Questions that one shard answers alone",
    definition: "Of the questions with solutions: some shard alone gives the whole answer of the query.",
    unit: "share",
  },
} as const satisfies Readonly<Record<string, Words>>;

const kindShare = (kind: RuleKind, value: Summary | undefined): ComparedFigure => ({
  id: `${kind}-share`,
  title: `${kind[0]?.toUpperCase() ?? ""}${kind.slice(1)} rules`,
  definition: "Share of a dataset's rules.",
  unit: "share",
  value,
  published: published[kind],
});

const defined = (values: readonly (number | undefined)[]): Summary | undefined =>
  summaryOf(values.filter((value) => value !== undefined));

const ratio = (part: number, whole: number): number | undefined => (whole === 0 ? undefined : part / whole);

/** The observations of several fan-outs as one. */
const pooled = (fanOuts: readonly (FanOut | undefined)[]): Summary | undefined =>
  weightedSummary(
    fanOuts
      .flatMap((fanOut) => fanOut?.distribution ?? [])
      .filter(({ questions }) => questions > 0)
      .map(({ shards, questions }) => ({ value: shards, weight: questions })),
  );

/** A share of the questions of all datasets together. */
function shareOfQuestions(
  datasets: readonly ShardStatistics[],
  counted: (fanOut: FanOut) => number,
): Summary | undefined {
  const part = datasets.reduce((sum, { realisedFanOut }) => sum + counted(realisedFanOut), 0);
  const whole = datasets.reduce((sum, { realisedFanOut }) => sum + realisedFanOut.questions, 0);
  return defined([ratio(part, whole)]);
}

/** Of the questions whose answers are known; undefined where none is. */
function shareOfAnswers(
  datasets: readonly ShardStatistics[],
  part: AnswerSource,
  among: readonly AnswerSource[],
): Summary | undefined {
  const sum = (of: readonly AnswerSource[]): number =>
    datasets.reduce((all, { answers }) => of.reduce((some, source) => some + (answers?.[source] ?? 0), all), 0);
  return defined([ratio(sum([part]), sum(among))]);
}

const federatedQuestions = (fanOut: FanOut): number =>
  fanOut.questions - questionsWith(fanOut, 0) - questionsWith(fanOut, 1);

/** The sum of the shards, which says something of several datasets only. */
export const totalShards = (datasets: readonly ShardStatistics[]): ComparedFigure => ({
  ...words.totalShards,
  value: defined([datasets.reduce((sum, { shards }) => sum + shards, 0)]),
  published: { mean: published.totalShards },
});

/**
 * The figures of one dataset or of several beside the published ones. Per dataset: rules, shares of the kinds, shards,
 * variation (each dataset counts once). Per question: fan-outs (each question of all datasets counts once).
 */
export function comparedFigures(datasets: readonly ShardStatistics[]): readonly ComparedFigure[] {
  const each = (read: (of: ShardStatistics) => number | undefined): Summary | undefined => defined(datasets.map(read));
  const relevant = pooled(datasets.map(({ relevantFanOut }) => relevantFanOut));
  return [
    { ...words.rules, value: each(({ rules }) => rules), published: published.rules },
    ...kinds.map((kind) =>
      kindShare(
        kind,
        each(({ composition, rules }) => ratio(composition[kind], rules)),
      ),
    ),
    { ...words.shards, value: each(({ shards }) => shards), published: published.shards },
    { ...words.sizeVariation, value: each(({ sizeVariation }) => sizeVariation), published: published.sizeVariation },
    { ...words.largestShare, value: each(({ largestShare }) => largestShare), published: undefined },
    {
      ...words.impliedFanOut,
      value: pooled(datasets.map(({ impliedFanOut }) => impliedFanOut)),
      published: published.impliedFanOut,
    },
    ...(relevant === undefined ? [] : [{ ...words.relevantFanOut, value: relevant, published: undefined }]),
    {
      ...words.realisedFanOut,
      value: pooled(datasets.map(({ realisedFanOut }) => realisedFanOut)),
      published: undefined,
    },
    {
      ...words.noSolution,
      value: shareOfAnswers(datasets, "none", ["none", "one-shard", "several-shards"]),
      published: published.noMatch,
    },
    { ...words.noMatch, value: shareOfQuestions(datasets, (of) => questionsWith(of, 0)), published: undefined },
    {
      ...words.oneShard,
      value: shareOfQuestions(datasets, (of) => questionsWith(of, 1)),
      published: published.oneShard,
    },
    {
      ...words.twoShards,
      value: shareOfQuestions(datasets, (of) => questionsWith(of, 2)),
      published: undefined,
    },
    { ...words.federated, value: shareOfQuestions(datasets, federatedQuestions), published: undefined },
    {
      ...words.answeredAlone,
      value: shareOfAnswers(datasets, "one-shard", ["one-shard", "several-shards"]),
      published: undefined,
    },
  ];
}

/** A figure as it was published: what is undefined was not. */
export interface PublishedFigure {
  readonly mean?: number;
  readonly median?: number;
  readonly min?: number;
  readonly max?: number;
}

/**
 * Figures of Dobriy et al., Agentic SPARQL, section 4: 19 datasets, without wta_1. Shares are fractions of 1.
 */
export const published = {
  datasets: 19,
  rules: { mean: 3.7, median: 4, min: 2, max: 8 },
  vertical: { mean: 0.183 },
  class: { mean: 0.3042 },
  horizontal: { mean: 0.5128 },
  totalShards: 118,
  shards: { mean: 6.21, median: 6, min: 3, max: 14 },
  sizeVariation: { mean: 0.88 },
  impliedFanOut: { mean: 6.48, median: 6, min: 2, max: 14 },
  /** Counted by solutions. */
  noMatch: { mean: 0.0484 },
  oneShard: { mean: 0.2449 },
} as const satisfies Readonly<Record<string, PublishedFigure | number>>;
