import { summaryOf } from "../../report/shard-statistics.ts";
import { metrics, type Ratios, ratiosOf } from "./metrics.ts";
import type { QuestionScore } from "./question-score.ts";
import { bootstrap, drawsOf, type Ratio, valueOf } from "./statistics.ts";

/** The metrics of some questions together. */
export interface GroupSummary {
  readonly group: string;
  /** Questions, each once however often it was asked. */
  readonly questions: number;
  readonly metrics: Readonly<Record<string, MetricSummary>>;
}

/** A metric with the interval that 95 % of resampled sets of questions lie in; null: nothing is known. */
export interface MetricSummary extends ReturnType<typeof bootstrap> {
  readonly value: number | null;
  /** Of the questions' own values. */
  readonly median: number | null;
}

export const everyQuestion = "all questions";

/** The metrics over all questions, and over each group that some of them are in. */
export function summariesOf(scores: readonly QuestionScore[]): readonly GroupSummary[] {
  const groups = [...new Set(scores.flatMap((score) => score.groups))].toSorted();
  return [
    summaryOfGroup(everyQuestion, scores),
    ...groups.map((group) =>
      summaryOfGroup(
        group,
        scores.filter((score) => score.groups.includes(group)),
      ),
    ),
  ];
}

function summaryOfGroup(group: string, scores: readonly QuestionScore[]): GroupSummary {
  const units = [...unitsOf(scores).values()];
  const draws = drawsOf(units.length);
  const summaries = metrics.map(({ id }) => {
    const ratios = units.map((each) => each[id] ?? none);
    const known = ratios.filter(({ of }) => of > 0);
    const median = summaryOf(known.map(({ part, of }) => part / of))?.median ?? null;
    return [id, { value: valueOf(ratios), ...bootstrap(ratios, draws), median }] as const;
  });
  return { group, questions: units.length, metrics: Object.fromEntries(summaries) };
}

const none: Ratio = { part: 0, of: 0 };

/** The ratios of each question over its repeats, which are no evidence of their own. */
export function unitsOf(scores: readonly QuestionScore[]): ReadonlyMap<string, Ratios> {
  const units = new Map<string, Record<string, Ratio>>();
  for (const score of scores) {
    const unit = units.get(score.question) ?? {};
    units.set(score.question, unit);
    for (const [id, ratio = none] of Object.entries(ratiosOf(score))) {
      const { part, of } = unit[id] ?? none;
      unit[id] = { part: part + ratio.part, of: of + ratio.of };
    }
  }
  return units;
}

/** Calls of each tool, a question of which anything is known. */
export function toolsOf(scores: readonly QuestionScore[]): Readonly<Record<string, number>> {
  const traced = scores.flatMap(({ figures }) => (figures === null ? [] : [figures.tools]));
  const names = [...new Set(traced.flatMap((tools) => Object.keys(tools)))].toSorted();
  const mean = (name: string): number => traced.reduce((sum, tools) => sum + (tools[name] ?? 0), 0) / traced.length;
  return Object.fromEntries(names.map((name) => [name, mean(name)]));
}
