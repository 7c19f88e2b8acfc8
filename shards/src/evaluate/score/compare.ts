import { metrics } from "./metrics.ts";
import type { SystemScores } from "./score-runs.ts";
import { drawsOf, mcNemar, pairedDifference, type Ratio, valueOf } from "./statistics.ts";
import { unitsOf } from "./summary.ts";

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
  const none: Ratio = { part: 0, of: 0 };
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
