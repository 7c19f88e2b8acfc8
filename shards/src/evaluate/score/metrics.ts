import { queryFaults } from "./final-query.ts";
import type { QuestionScore } from "./question-score.ts";
import type { Ratio } from "./statistics.ts";

/** A figure of questions; the README of this folder defines each. */
export interface Metric {
  readonly id: string;
  readonly unit: "share" | "number" | "ms" | "cost";
  readonly title: string;
  /** By setup, of Dobriy et al., Agentic SPARQL. */
  readonly published?: Readonly<Record<string, number>> | undefined;
}

const published: Readonly<Record<string, Metric["published"]>> = {
  right: { baseline: 0.421, void_tool: 0.435, high_level: 0.454 },
  "all-endpoints": { baseline: 0.902, high_level: 0.11 },
  queries: { baseline: 11.1, high_level: 6.2 },
};

const table: readonly (readonly [id: string, unit: Metric["unit"], title: string])[] = [
  ["right", "share", "Accuracy (set of rows)"],
  ["multiset", "share", "Accuracy (multiset of rows)"],
  ["exact", "share", "Exact match (rows, duplicates, order)"],
  ["precision", "share", "Precision of rows"],
  ["recall", "share", "Recall of rows"],
  ["f1", "share", "F1 of rows"],
  ["hit1", "share", "Hit@1"],
  ["hit5", "share", "Hit@5"],
  ["hit10", "share", "Hit@10"],
  ["mrr", "share", "MRR"],
  ["lucky", "share", "Right by luck"],
  ["submitted", "share", "Runs with a submitted query"],
  ["faulty", "share", "Submitted queries with a fault"],
  ["valid", "share", "Queries with valid syntax"],
  ...queryFaults.map((fault) => [fault, "share", `Queries with the fault ${fault}`] as const),
  ["consultation", "share", "Needed endpoints that were consulted"],
  ["all-endpoints", "share", "Queries that name all endpoints"],
  ["trivial", "share", "Queries that name all where fewer suffice"],
  ["queries", "number", "SPARQL queries"],
  ["tool-calls", "number", "Calls of other tools"],
  ["model-calls", "number", "Calls of the model"],
  ["turns", "number", "Turns"],
  ["redundant", "share", "Queries that repeat an earlier one"],
  ["empty", "share", "Queries without rows"],
  ["switches", "number", "Changes of endpoints"],
  ["corrections", "number", "Corrections"],
  ["corrected", "share", "Corrections that give rows"],
  ["repairs", "number", "Changes that Fedway made to queries"],
  ["tool-errors", "number", "Other calls that failed"],
  ["first-rows", "ms", "Time to the first rows"],
  ["time", "ms", "Time"],
  ["input-tokens", "number", "Tokens read"],
  ["output-tokens", "number", "Tokens written"],
  ["cost", "cost", "Cost"],
  ["requests", "number", "Requests to endpoints"],
  ["bytes", "number", "Bytes from endpoints"],
];

/** Every metric, in the order in which reports show them. */
export const metrics: readonly Metric[] = table.map(([id, unit, title]) => ({
  id,
  unit,
  title,
  published: published[id],
}));

/** Ratios of questions by metric; what nothing is known of is absent. */
export type Ratios = Readonly<Record<string, Ratio | undefined>>;

const one = (part: number | boolean | null | undefined): Ratio | undefined =>
  part === null || part === undefined ? undefined : { part: Number(part), of: 1 };

/** Contribution of a question to each metric. Failed runs count as errors, even after a good last query. */
export function ratiosOf(score: QuestionScore): Ratios {
  const { right, final, tokens } = score;
  const submitted = score.outcome === "submitted";
  const { set: _, ...accuracies } = final.accuracy ?? {};
  const accuracy = Object.entries(accuracies).map(([id, value]) => [
    id,
    one(value === null ? null : submitted && value),
  ]);
  return {
    right: one(right),
    ...Object.fromEntries(accuracy),
    lucky: final.lucky === undefined ? undefined : one(right && final.lucky),
    submitted: one(submitted),
    faulty: submitted ? one(final.fault !== undefined) : undefined,
    turns: one(score.turns),
    time: one(score.ms),
    cost: one(score.cost),
    "input-tokens": one(tokens?.input),
    "output-tokens": one(tokens?.output),
    ...behaviourOf(score),
  };
}

function behaviourOf({ figures: of, faults, toolErrors }: QuestionScore): Ratios {
  if (of === null) return {};
  const { model = 0, ...tools } = of.tools;
  const ofQueries = (part: number | undefined, all = of.queries): Ratio => ({ part: part ?? 0, of: all });
  const invalid = ["parse-error", "prefix-error", "malformed-service"] as const;
  return {
    valid: ofQueries(invalid.reduce((left, fault) => left - (faults[fault] ?? 0), of.queries)),
    ...Object.fromEntries(queryFaults.map((fault) => [fault, ofQueries(faults[fault])])),
    consultation: one(of.consultation),
    "all-endpoints": ofQueries(Math.round((of.allEndpoints ?? 0) * of.naming), of.naming),
    trivial: one(of.trivial),
    queries: one(of.queries),
    "tool-calls": one(Object.values(tools).reduce((sum, count) => sum + count, 0)),
    "model-calls": one(model),
    redundant: ofQueries(of.repeated),
    empty: ofQueries(of.outcomes.empty),
    switches: one(of.switches),
    corrections: one(of.corrections),
    corrected: ofQueries(of.corrected, of.corrections),
    repairs: one(of.repairs),
    "tool-errors": one(toolErrors),
    "first-rows": one(of.firstRowsMs),
    requests: one(of.requests),
    bytes: one(of.bytes),
  };
}
