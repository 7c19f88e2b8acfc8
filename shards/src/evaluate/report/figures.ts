import { numberText, shareText } from "../../report/words.ts";
import type { Ablation } from "../ablation/ablation.ts";
import { type Comparison, everyQuestion, type GroupSummary, type MetricSummary } from "../score/summary.ts";
import { metrics, type Metric, ratiosOf } from "../score/metrics.ts";
import type { QuestionScore } from "../score/question-score.ts";
import type { SystemScores } from "../score/score-runs.ts";

const decimal = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

/** A value in its unit; an unknown value is never 0. */
export function valueText(value: number | null | undefined, unit: Metric["unit"]): string {
  if (value === null || value === undefined) return "unknown";
  if (unit === "share") return shareText(value);
  return unit === "ms" ? `${numberText(Math.round(value))} ms` : decimal.format(value);
}

/** `42.10 % (31.00 % to 53.20 %)`, of numbers with the median. */
function summaryText(summary: MetricSummary | undefined, unit: Metric["unit"]): string {
  const { value = null, low = null, high = null, median = null } = summary ?? {};
  if (value === null) return "unknown";
  const range = low === high ? "" : ` (${valueText(low, unit)} to ${valueText(high, unit)})`;
  return `${valueText(value, unit)}${range}${unit === "share" ? "" : `, median ${valueText(median, unit)}`}`;
}

/** The published values by setup; empty where there are none. */
const publishedText = ({ published = {}, unit }: Metric): string =>
  Object.entries(published)
    .map(([setup, value]) => `${setup} ${valueText(value, unit)}`)
    .join(", ");

/** Rows of texts: title of a metric that some system has a value of, value of each system over all questions, published values. */
export const metricRows = (systems: readonly SystemScores[]): readonly (readonly string[])[] =>
  metrics.flatMap((metric) => {
    const values = systems.map((system) => groupOf(system, everyQuestion)?.metrics[metric.id]);
    if (values.every((each) => (each?.value ?? null) === null)) return [];
    return [
      [metric.title].concat(
        values.map((each) => summaryText(each, metric.unit)),
        publishedText(metric),
      ),
    ];
  });

/** Names in a row. */
export const namesText = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join(", "));

export const groupOf = ({ groups }: SystemScores, name: string): GroupSummary | undefined =>
  groups.find(({ group }) => group === name);

/** Runs that count as errors whatever their last query was. */
export const failedOf = ({ questions }: SystemScores): readonly QuestionScore[] =>
  questions.filter(({ outcome }) => outcome !== "submitted");

export const luckyOf = ({ questions }: SystemScores): readonly QuestionScore[] =>
  questions.filter(({ right, final }) => right === true && final.lucky === true);

/** Verdict on a question, in a few words. */
export function verdictText({ right, outcome, final }: QuestionScore): string {
  if (right === null || final.accuracy === undefined) return "no gold answer";
  if (right) return final.lucky === true ? "right by luck" : "right";
  if (outcome !== "submitted") return outcome;
  return final.fault ?? `wrong, F1 ${decimal.format(final.accuracy.f1)}`;
}

/** `p = 0.012`; a value below a thousandth is not written as 0. */
export const probabilityText = (p: number | null): string =>
  p === null ? "unknown" : p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;

/** Metrics of which zero lies outside of the interval of their difference, and accuracy. */
export const shownDifferences = ({ metrics: compared }: Comparison) =>
  metrics.flatMap((metric) => {
    const found = compared.find(({ id }) => id === metric.id);
    const isApart = found?.low != null && found.high != null && (found.low > 0 || found.high < 0);
    return found !== undefined && (isApart || metric.id === "right") ? [{ metric, ...found }] : [];
  });

export const ablationHeads = ["form", "tokens", "IRIs found", "words found", "IRIs per 1,000 tokens"] as const;

/** Rows of the metadata ablation as texts, below `ablationHeads`. */
export const ablationRows = ({ forms }: Ablation): readonly (readonly string[])[] =>
  forms.map(({ form, tokens, iris, words, irisPerThousand }) => [
    form,
    numberText(tokens),
    valueText(iris, "share"),
    valueText(words, "share"),
    irisPerThousand?.toPrecision(2) ?? "unknown",
  ]);

const cell = (value: string | number): string => {
  const text = String(value);
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A line a question and repeat; an empty field is unknown. */
export function scoresCsv(systems: readonly SystemScores[]): string {
  const heads = ["question", "setup", "model", "repeat", "outcome", "fault", "groups", ...metrics.map(({ id }) => id)];
  const lines = systems.flatMap(({ questions }) =>
    questions.map((score) => {
      const { question, setup, model, repeat, outcome, final, groups } = score;
      const ratios = ratiosOf(score);
      const values = metrics.map(({ id }) => {
        const { part = 0, of = 0 } = ratios[id] ?? {};
        return of === 0 ? "" : part / of;
      });
      return [question, setup, model, repeat, outcome, final.fault ?? "", groups.join("; "), ...values];
    }),
  );
  return [heads, ...lines].map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}
