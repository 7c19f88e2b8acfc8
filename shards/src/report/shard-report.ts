import { itemAt, valueFor } from "../../../src/values.ts";
import { type Applicability, irisOfRule, ruleKey } from "../rules/candidates.ts";
import { type ShardNaming, shardIdsOf } from "../rules/shard-names.ts";
import type { TermGroups } from "../rules/term-groups.ts";
import type { Problem, Solution, Precedence, Rule, Interpretation } from "../rules/problem.ts";
import type { BadLines } from "../load/read-bytes.ts";
import type { RejectedQuery } from "../load/load-queries.ts";
import type { AnswerSource } from "../rules/query-answers.ts";
import type { ShardMode } from "../spec.ts";
import { type ComparedFigure, comparedFigures } from "./compared-figures.ts";
import { impliedShards } from "./query-shards.ts";
import { questionsOf, type ShardStatistics, statisticsOf } from "./shard-statistics.ts";

/** Inputs of the shards. */
interface ReportedDataset {
  readonly id: string;
  readonly title: string;
  /** IRI or words. */
  readonly licence?: string;
  readonly citation?: string | undefined;
  readonly source?: string | undefined;
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
  readonly bytes?: number | undefined;
}

/** Inputs of a report; the lists are in the order of `problem.queries`. */
export interface ReportInput
  extends Pick<ShardReport, "dataset" | "mode" | "precedence" | "groups" | "leftOut" | "badLines"> {
  readonly problem: Problem;
  /** The one that the shards follow. */
  readonly solution: Solution;
  readonly shards: readonly ReportedShard[];
  /** How shards are named; default `readable`. */
  readonly naming?: ShardNaming | undefined;
  /** For each query: keys of the shards with a match for one of its patterns. */
  readonly touched: readonly (readonly string[])[];
  /** For each query: keys of the shards with its vocabulary. */
  readonly relevant?: readonly (readonly string[])[];
  /** For each query: where its answer comes from. */
  readonly sources?: readonly (AnswerSource | undefined)[] | undefined;
  readonly readings: readonly SolvedInterpretation[];
  /** Nothing was written: the sizes are predicted. */
  readonly predicted?: boolean | undefined;
}

/** Fate of one query. Shards are named by key; `elsewhere` stands for the remainder of a single-member rule. */
export interface QueryReport {
  readonly number: number;
  readonly id: string;
  /** Ids of all questions that ask it. */
  readonly same: readonly string[];
  readonly question?: string | undefined;
  /** Questions of the others, by id, where they differ. */
  readonly questions?: Readonly<Record<string, string>> | undefined;
  readonly text: string;
  /** Names of the chosen rules that cover it. */
  readonly rules: readonly string[];
  /** Names of the rules that made a shard it touches: these count, whether they cover it or not. */
  readonly apartBy: readonly string[];
  /** Made by the rules that cover it. */
  readonly implied: readonly string[];
  readonly relevant?: readonly string[] | undefined;
  readonly touched: readonly string[];
  /** Touches two shards or more. */
  readonly federated: boolean;
  /** Where its answer comes from; absent where that is unknown. */
  readonly source?: AnswerSource | undefined;
  /** Why it is not federated, or why no candidate rule covers it. */
  readonly reason?: string | undefined;
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
  /** Classes and predicates that the rules name by the first of their group; absent where each stands for itself. */
  readonly groups?: TermGroups | undefined;
  readonly reading: Interpretation;
  readonly predicted: boolean;
  /** `criteria`: minimised ones, in order; not in paper mode. */
  readonly optimum: Pick<Solution, "cost" | "lowerBound" | "proven" | "criteria" | "trouble">;
  readonly rules: readonly RuleReport[];
  /** Numbered from 1 by key. `share`: of all triples, 0 to 1; absent where there are none. */
  readonly shards: readonly (ReportedShard & {
    readonly number: number;
    readonly id: string;
    readonly share?: number | undefined;
  })[];
  readonly statistics: ShardStatistics;
  readonly figures: readonly ComparedFigure[];
  readonly queries: readonly QueryReport[];
  readonly readings: readonly InterpretationReport[];
  readonly leftOut: readonly RejectedQuery[];
  /** Inputs of which lines that cannot be read were left out; absent when there is none. */
  readonly badLines?: readonly (BadLines & { readonly name: string })[] | undefined;
}

const ruleName = (at: number): string => `R${at + 1}`;

/** A rule under a short name for the rest of the report. */
export type RuleReport = ReturnType<typeof ruleReports>[number];

function ruleReports(rules: readonly Rule[], queries: readonly QueryReport[]) {
  return rules.map((rule, at) => {
    const covered = queries.filter((query) => query.rules.includes(ruleName(at)));
    return {
      /** `R1`, `R2`, ... in canonical order. */
      name: ruleName(at),
      kind: rule.kind,
      iris: irisOfRule(rule),
      buckets: rule.kind === "horizontal" ? rule.buckets : undefined,
      /** Ids of the queries that it covers. */
      covers: covered.map(({ id }) => id),
      /** How many questions ask these queries. */
      questions: covered.reduce((sum, query) => sum + questionsOf(query), 0),
    };
  });
}

/** Why all matches of a query lie in fewer than two shards, as far as the shards tell. */
function lackOfShards(only: string | undefined, isCovered: boolean): string {
  if (only === undefined) return "No triple of the data matches any of its patterns.";
  const where = `All its matches lie in one shard, ${only}`;
  return isCovered
    ? `${where}: the rules that cover it do not separate its matches, or other rules claim the triples first.`
    : `${where}, and no chosen rule covers it.`;
}

function queryReports({ problem, solution, ...of }: ReportInput): readonly QueryReport[] {
  const reasons = new Map(solution.impossible.map(({ query, reason }) => [query, reason]));
  const covers = new Map(problem.candidates.map((candidate) => [ruleKey(candidate.rule), new Set(candidate.covers)]));
  const rules = solution.rules.map((rule, at) => ({
    rule,
    name: ruleName(at),
    covers: covers.get(ruleKey(rule)),
    shards: impliedShards([rule]),
  }));
  return problem.queries.map(({ query: { id, same, question, questions, text } }, at) => {
    const touched = itemAt(of.touched, at);
    const covering = rules.filter((rule) => rule.covers?.has(at));
    const federated = touched.length >= 2;
    return {
      number: at + 1,
      id,
      same,
      question,
      questions,
      text,
      rules: covering.map(({ name }) => name),
      apartBy: rules.filter(({ shards }) => shards.some((key) => touched.includes(key))).map(({ name }) => name),
      implied: impliedShards(covering.map(({ rule }) => rule)),
      relevant: of.relevant?.[at],
      touched,
      federated,
      source: of.sources?.[at],
      reason: reasons.get(at) ?? (federated ? undefined : lackOfShards(touched[0], covering.length > 0)),
    };
  });
}

/** A reading beside the others. */
export type InterpretationReport = ReturnType<typeof readingReport>;

function readingReport({ solution, candidates, applicability }: SolvedInterpretation, used: Interpretation) {
  const { reading, rules, cost, lowerBound, proven, impossible } = solution;
  const { composition } = statisticsOf({ rules, shards: [], queries: [] });
  return {
    reading,
    /** The shards follow this one. */
    used: reading.name === used.name,
    applicability,
    candidates,
    composition,
    rules,
    cost,
    lowerBound,
    proven,
    /** Queries without any candidate, or that no choice of rules makes federated. */
    impossible: impossible.length,
  };
}

/** The report on one dataset. Shards are numbered in the order given. */
export function reportOf(input: ReportInput): ShardReport {
  const { solution, shards, naming } = input;
  const { reading, rules, cost, lowerBound, proven, criteria, trouble } = solution;
  const queries = queryReports(input);
  const statistics = statisticsOf({ rules, shards, queries });
  const { triples } = statistics;
  const ids = shardIdsOf(
    shards.map(({ key }) => key),
    naming,
  );
  return {
    format: "fedway-shard-report",
    version: 1,
    dataset: input.dataset,
    mode: input.mode,
    precedence: input.precedence,
    groups: input.groups,
    reading,
    predicted: input.predicted ?? false,
    optimum: { cost, lowerBound, proven, criteria, trouble },
    rules: ruleReports(rules, queries),
    shards: shards.map(({ key, triples: own, bytes }, at) => ({
      number: at + 1,
      id: valueFor(ids, key),
      key,
      triples: own,
      bytes,
      share: triples > 0 ? own / triples : undefined,
    })),
    statistics,
    figures: comparedFigures([statistics]),
    queries,
    readings: input.readings.map((each) => readingReport(each, reading)),
    leftOut: input.leftOut,
    badLines: input.badLines,
  };
}
