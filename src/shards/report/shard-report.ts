import { type Applicability, irisOfRule, ruleKey } from "../rules/candidates.ts";
import { type ShardNaming, shardIdOf } from "../rules/placement.ts";
import type { Interpretation } from "../rules/interpretations.ts";
import type { Problem, Solution, Precedence, Rule, RuleKind } from "../rules/problem.ts";
import type { RejectedQuery } from "../load/queries/load-queries.ts";
import type { AnswerSource } from "../rules/query-answers.ts";
import type { ShardMode } from "../spec.ts";
import { type ComparedFigure, comparedFigures } from "./compared-figures.ts";
import { type QueryShards, queryShardsOf } from "./query-shards.ts";
import { questionsOf, type ShardStatistics, statisticsOf } from "./shard-statistics.ts";

/** What the shards were made from. */
export interface ReportedDataset {
  readonly id: string;
  readonly title: string;
  /** IRI or words. */
  readonly licence?: string;
  readonly citation?: string;
  readonly source?: string;
}

/** One reading of the paper, solved; the materialised one is among them. */
export interface SolvedInterpretation {
  readonly solution: Solution;
  /** Number of candidate rules. */
  readonly candidates: number;
  /** In numbers of questions. */
  readonly applicability: Applicability;
}

/** A shard that was written, or is predicted. */
export interface ReportedShard {
  readonly key: string;
  readonly triples: number;
  /** Size of its file; absent where none was written. */
  readonly bytes?: number;
}

/** What a report is made from. */
export interface ReportInput {
  readonly dataset: ReportedDataset;
  readonly mode: ShardMode;
  readonly precedence: Precedence;
  readonly problem: Problem;
  /** The one that the shards follow. */
  readonly solution: Solution;
  readonly shards: readonly ReportedShard[];
  /** Of their ids; default `opaque`. */
  readonly naming?: ShardNaming | undefined;
  /** Of each query of the problem: keys of the shards with a match for one of its patterns. */
  readonly touched: readonly (readonly string[])[];
  /** Of each query: keys of the shards with its vocabulary. */
  readonly relevant?: readonly (readonly string[])[];
  /** Of each query: where its answer comes from. */
  readonly sources?: readonly (AnswerSource | undefined)[];
  readonly readings: readonly SolvedInterpretation[];
  /** Queries that cannot be used, as they do not parse. */
  readonly leftOut: readonly RejectedQuery[];
  /** Nothing was written: the sizes are predicted. */
  readonly predicted?: boolean;
}

/** A rule under a short name for the rest of the report. */
export interface RuleReport {
  /** `R1`, `R2`, ... in canonical order. */
  readonly name: string;
  readonly kind: RuleKind;
  readonly iris: readonly string[];
  readonly buckets?: number;
  /** Ids of the queries that it covers. */
  readonly covers: readonly string[];
  /** How many questions ask these queries. */
  readonly questions: number;
}

/** A shard under a number for the rest of the report. */
interface ShardReportEntry extends ReportedShard {
  /** From 1, by key. */
  readonly number: number;
  readonly id: string;
  /** Of all triples, 0 to 1; absent where there are none. */
  readonly share?: number;
}

/** What happens to one query. Shards are named by key; `elsewhere` stands for whatever a single-member rule leaves. */
export interface QueryReport {
  readonly number: number;
  readonly id: string;
  /** Ids of all questions that ask it. */
  readonly same: readonly string[];
  readonly question?: string;
  readonly text: string;
  /** Names of the chosen rules that cover it. */
  readonly rules: readonly string[];
  /** Names of the rules that made a shard it touches: these count, whether they cover it or not. */
  readonly apartBy: readonly string[];
  /** Made by the rules that cover it. */
  readonly implied: readonly string[];
  readonly relevant?: readonly string[];
  readonly touched: readonly string[];
  /** Touches two shards or more. */
  readonly federated: boolean;
  /** Where its answer comes from; absent where that is not known. */
  readonly source?: AnswerSource;
  /** Why it is not federated, or why no candidate rule covers it. */
  readonly reason?: string;
}

/** A reading beside the others. */
export interface InterpretationReport {
  readonly reading: Interpretation;
  /** The shards follow this one. */
  readonly used: boolean;
  readonly applicability: Applicability;
  readonly candidates: number;
  readonly composition: Readonly<Record<RuleKind, number>>;
  readonly rules: readonly Rule[];
  readonly cost: number;
  readonly lowerBound: number;
  readonly proven: boolean;
  /** Queries without any candidate, or that no choice of rules makes federated. */
  readonly impossible: number;
}

/**
 * The report on the shards of one dataset; its JSON is the file `report.json`. The same input gives the same bytes: times
 * are not in it. Unknown figures are absent, never 0. `version` grows when a field changes its meaning or goes.
 */
export interface ShardReport {
  readonly format: "fedway-shard-report";
  readonly version: 1;
  readonly dataset: ReportedDataset;
  readonly mode: ShardMode;
  readonly precedence: Precedence;
  readonly reading: Interpretation;
  readonly predicted: boolean;
  /** `criteria`: what was minimised, in order; not in paper mode. */
  readonly optimum: Pick<Solution, "cost" | "lowerBound" | "proven" | "criteria" | "trouble">;
  readonly rules: readonly RuleReport[];
  readonly shards: readonly ShardReportEntry[];
  readonly statistics: ShardStatistics;
  readonly figures: readonly ComparedFigure[];
  readonly queries: readonly QueryReport[];
  readonly readings: readonly InterpretationReport[];
  readonly leftOut: readonly RejectedQuery[];
}

const ruleName = (at: number): string => `R${at + 1}`;

function ruleReports(rules: readonly Rule[], queries: readonly QueryShards[]): readonly RuleReport[] {
  return rules.map((rule, at) => {
    const covered = queries.filter((query) => query.rules.includes(rule));
    return {
      name: ruleName(at),
      kind: rule.kind,
      iris: irisOfRule(rule),
      ...(rule.kind === "horizontal" ? { buckets: rule.buckets } : {}),
      covers: covered.map(({ query }) => query.id),
      questions: covered.reduce((sum, query) => sum + questionsOf(query), 0),
    };
  });
}

function shardEntries(
  { shards, naming }: Pick<ReportInput, "shards" | "naming">,
  triples: number,
): readonly ShardReportEntry[] {
  return shards.map((shard, at) => ({
    number: at + 1,
    id: shardIdOf(shard.key, naming),
    ...shard,
    ...(triples > 0 ? { share: shard.triples / triples } : {}),
  }));
}

/** Why all matches of a query lie in fewer than two shards, as far as the shards tell. */
function lackOfShards({ touched, rules }: QueryShards): string {
  const [only] = touched;
  if (only === undefined) return "No triple of the data matches any of its patterns.";
  const where = `All its matches lie in one shard, ${only}`;
  return rules.length === 0
    ? `${where}, and no chosen rule covers it.`
    : `${where}: the rules that cover it do not take apart what it matches, or other rules claim the triples first.`;
}

function queryReports(queries: readonly QueryShards[], solution: Solution): readonly QueryReport[] {
  const reasons = new Map(solution.impossible.map(({ query, reason }) => [query, reason]));
  const names = new Map(solution.rules.map((rule, at) => [ruleKey(rule), ruleName(at)]));
  const nameOf = (rule: Rule): string => names.get(ruleKey(rule)) ?? "?";
  return queries.map((of, at) => {
    const { id, question, text, same } = of.query;
    const federated = of.touched.length >= 2;
    const reason = reasons.get(at) ?? (federated ? undefined : lackOfShards(of));
    return {
      number: at + 1,
      id,
      same,
      ...(question === undefined ? {} : { question }),
      text,
      rules: of.rules.map(nameOf),
      apartBy: of.apartBy.map(nameOf),
      implied: of.implied,
      ...(of.relevant === undefined ? {} : { relevant: of.relevant }),
      touched: of.touched,
      federated,
      ...(of.source === undefined ? {} : { source: of.source }),
      ...(reason === undefined ? {} : { reason }),
    };
  });
}

function readingReport(
  { solution, candidates, applicability }: SolvedInterpretation,
  used: Interpretation,
): InterpretationReport {
  const { reading, rules, cost, lowerBound, proven, impossible } = solution;
  const { composition } = statisticsOf({ rules, shards: [], queries: [] });
  return {
    reading,
    used: reading.name === used.name,
    applicability,
    candidates,
    composition,
    rules,
    cost,
    lowerBound,
    proven,
    impossible: impossible.length,
  };
}

/** The report on one dataset. Shards are numbered in the order given. */
export function reportOf(input: ReportInput): ShardReport {
  const { problem, solution, touched, relevant, sources, shards } = input;
  const { reading, rules, cost, lowerBound, proven, criteria, trouble } = solution;
  const queries = queryShardsOf({
    problem,
    rules,
    touched,
    ...(relevant && { relevant }),
    ...(sources && { sources }),
  });
  const statistics = statisticsOf({ rules, shards, queries });
  return {
    format: "fedway-shard-report",
    version: 1,
    dataset: input.dataset,
    mode: input.mode,
    precedence: input.precedence,
    reading,
    predicted: input.predicted ?? false,
    optimum: {
      cost,
      lowerBound,
      proven,
      ...(criteria !== undefined && { criteria }),
      ...(trouble !== undefined && { trouble }),
    },
    rules: ruleReports(rules, queries),
    shards: shardEntries(input, statistics.triples),
    statistics,
    figures: comparedFigures([statistics]),
    queries: queryReports(queries, solution),
    readings: input.readings.map((each) => readingReport(each, reading)),
    leftOut: input.leftOut,
  };
}
