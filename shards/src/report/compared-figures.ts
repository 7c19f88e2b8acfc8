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
  /** The exact count. */
  readonly definition: string;
  /** Shares are fractions of 1. */
  readonly unit: "number" | "share";
  /** Undefined where there is nothing to count. A single value has `count` 1. */
  readonly value: Summary | undefined;
  /** Undefined where nothing comparable was published. */
  readonly published: PublishedFigure | undefined;
}

/** A figure as it was published; undefined: it was not. */
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

type Datasets = readonly ShardStatistics[];

/** A figure and how it is read from the statistics of one dataset or of several. */
interface FigureKind extends Omit<ComparedFigure, "value" | "published"> {
  readonly read: (datasets: Datasets) => Summary | undefined;
  readonly published?: PublishedFigure;
}

const defined = (values: readonly (number | undefined)[]): Summary | undefined =>
  summaryOf(values.filter((value) => value !== undefined));

const ratio = (part: number, whole: number): number | undefined => (whole === 0 ? undefined : part / whole);

const sum = (datasets: Datasets, read: (of: ShardStatistics) => number): number =>
  datasets.reduce((total, each) => total + read(each), 0);

/** Each dataset counts once. */
const perDataset =
  (read: (of: ShardStatistics) => number | undefined): FigureKind["read"] =>
  (datasets) =>
    defined(datasets.map(read));

/** Each question of all datasets counts once. */
const perQuestion =
  (read: (of: ShardStatistics) => FanOut | undefined): FigureKind["read"] =>
  (datasets) =>
    weightedSummary(
      datasets
        .flatMap((each) => read(each)?.distribution ?? [])
        .filter(({ questions }) => questions > 0)
        .map(({ shards, questions }) => ({ value: shards, weight: questions })),
    );

/** A share of the questions of all datasets together, by their realised fan-out. */
const shareOfQuestions =
  (counted: (fanOut: FanOut) => number): FigureKind["read"] =>
  (datasets) =>
    defined([
      ratio(
        sum(datasets, ({ realisedFanOut }) => counted(realisedFanOut)),
        sum(datasets, ({ realisedFanOut }) => realisedFanOut.questions),
      ),
    ]);

/** A share of the questions whose answers are known; undefined where none is. */
const shareOfAnswers =
  (part: AnswerSource, among: readonly AnswerSource[]): FigureKind["read"] =>
  (datasets) => {
    const count = (source: AnswerSource): number => sum(datasets, ({ answers }) => answers?.[source] ?? 0);
    return defined([
      ratio(
        count(part),
        among.reduce((total, source) => total + count(source), 0),
      ),
    ]);
  };

const kindShare = (kind: RuleKind): FigureKind => ({
  id: `${kind}-share`,
  title: `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)} rules`,
  definition: "Share of a dataset's rules.",
  unit: "share",
  read: perDataset(({ composition, rules }) => ratio(composition[kind], rules)),
  published: published[kind],
});

/** Left out where nothing was counted; the other figures say then that they are unknown. */
const relevantId = "relevant-fan-out";

const figureKinds: readonly FigureKind[] = [
  {
    id: "rules",
    title: "Rules per dataset",
    definition: "Chosen rules of all kinds.",
    unit: "number",
    read: perDataset(({ rules }) => rules),
    published: published.rules,
  },
  kindShare("vertical"),
  kindShare("class"),
  kindShare("horizontal"),
  {
    id: "shards",
    title: "Shards per dataset",
    definition: "Shards with at least one triple, the base shard included.",
    unit: "number",
    read: perDataset(({ shards }) => shards),
    published: published.shards,
  },
  {
    id: "size-variation",
    title: "Variation of shard sizes",
    definition: "Population standard deviation of the triples of the shards that are not empty, over their mean.",
    unit: "number",
    read: perDataset(({ sizeVariation }) => sizeVariation),
    published: published.sizeVariation,
  },
  {
    id: "largest-shard",
    title: "Largest shard",
    definition: "Share of a dataset's triples in its largest shard.",
    unit: "share",
    read: perDataset(({ largestShare }) => largestShare),
  },
  {
    id: "implied-fan-out",
    title: "Implied fan-out per question",
    definition:
      "Different shards made by the chosen rules that cover the question's query; a rule of a single class or predicate makes its shard and “elsewhere”.",
    unit: "number",
    read: perQuestion(({ impliedFanOut }) => impliedFanOut),
    published: published.impliedFanOut,
  },
  {
    id: relevantId,
    title: "Fan-out by vocabulary per question",
    definition: "Shards that hold a predicate of the query, or instances of a class that it asks for.",
    unit: "number",
    read: perQuestion(({ relevantFanOut }) => relevantFanOut),
  },
  {
    id: "realised-fan-out",
    title: "Realised fan-out per question",
    definition: "Shards with a match for at least one triple pattern of the query.",
    unit: "number",
    read: perQuestion(({ realisedFanOut }) => realisedFanOut),
  },
  {
    id: "no-match-by-solutions",
    title: "Questions without a match, by solutions",
    definition: "The query has no solution over the whole dataset: its answer has no row, or an ASK says no.",
    unit: "share",
    read: shareOfAnswers("none", ["none", "one-shard", "several-shards"]),
    published: published.noMatch,
  },
  {
    id: "no-match",
    title: "Questions without a match, by triple patterns",
    definition: "Realised fan-out 0: no triple matches any pattern of the query.",
    unit: "share",
    read: shareOfQuestions((of) => questionsWith(of, 0)),
  },
  {
    id: "one-shard",
    title: "Questions that touch exactly one shard",
    definition: "Realised fan-out 1.",
    unit: "share",
    read: shareOfQuestions((of) => questionsWith(of, 1)),
    published: published.oneShard,
  },
  {
    id: "two-shards",
    title: "Questions that touch exactly two shards",
    definition: "Realised fan-out 2.",
    unit: "share",
    read: shareOfQuestions((of) => questionsWith(of, 2)),
  },
  {
    id: "federated",
    title: "Federated questions",
    definition: "Realised fan-out 2 or more.",
    unit: "share",
    read: shareOfQuestions((of) => of.questions - questionsWith(of, 0) - questionsWith(of, 1)),
  },
  {
    id: "answered-alone",
    title: "Questions that one shard answers alone",
    definition: "Of the questions with solutions: some shard alone gives the whole answer of the query.",
    unit: "share",
    read: shareOfAnswers("one-shard", ["one-shard", "several-shards"]),
  },
];

/** The sum of the shards, which says something of several datasets only. */
export const totalShards = (datasets: Datasets): ComparedFigure => ({
  id: "total-shards",
  title: "Shards of all datasets",
  definition: "Shards with at least one triple, of all datasets together; it grows with the number of datasets.",
  unit: "number",
  value: defined([sum(datasets, ({ shards }) => shards)]),
  published: { mean: published.totalShards },
});

/** The figures of one dataset or of several beside the published ones. */
export const comparedFigures = (datasets: Datasets): readonly ComparedFigure[] =>
  figureKinds
    .map(({ id, title, definition, unit, read, published: paper }) => {
      const value = read(datasets);
      return { id, title, definition, unit, value, published: paper };
    })
    .filter(({ id, value }) => id !== relevantId || value !== undefined);
