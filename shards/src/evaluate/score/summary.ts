import { summaryOf } from "../../report/shard-statistics.ts";
import { metrics, type Ratios, ratiosOf } from "./metrics.ts";
import type { QuestionScore } from "./question-score.ts";
import { bootstrap, drawsOf, type Ratio, valueOf, mcNemar, pairedDifference } from "./statistics.ts";
import type { SystemScores } from "./score-runs.ts";

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
function unitsOf(scores: readonly QuestionScore[]): ReadonlyMap<string, Ratios> {
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

/** Two systems over the questions that both were asked. */
export type Comparison = ReturnType<typeof compareSystems>;

/** Puts two systems side by side, question by question. */
export function compareSystems(left: SystemScores, right: SystemScores) {
  const rights = new Map(right.questions.map((score) => [keyOf(score), score.right]));
  const differing = left.questions.filter((score) => {
    const other = rights.get(keyOf(score)) ?? null;
    return score.right !== null && other !== null && score.right !== other;
  });
  const [onlyLeft, onlyRight] = [differing.filter((score) => score.right), differing.filter((score) => !score.right)];
  const others = unitsOf(right.questions);
  const units = [...unitsOf(left.questions)].flatMap(([question, own]) => {
    const other = others.get(question);
    return other === undefined ? [] : [{ own, other }];
  });
  const draws = drawsOf(units.length);
  return {
    left: left.name,
    right: right.name,
    questions: units.length,
    /** Questions that one of the two alone has right. */
    onlyLeft: [...new Set(onlyLeft.map(({ question }) => question))],
    onlyRight: [...new Set(onlyRight.map(({ question }) => question))],
    /** Of equal accuracy, over all repeats of all questions. */
    mcNemar: mcNemar(onlyLeft.length, onlyRight.length),
    metrics: metrics.map(({ id }) => {
      const pairs = units.map(({ own, other }) => [own[id] ?? none, other[id] ?? none] as const);
      const [own, other] = [pairs.map(([one]) => one), pairs.map(([, one]) => one)];
      return Object.assign(pairedDifference(own, other, draws), { id, left: valueOf(own), right: valueOf(other) });
    }),
  };
}

const keyOf = ({ question, repeat }: { readonly question: string; readonly repeat: number }): string =>
  JSON.stringify([question, repeat]);
