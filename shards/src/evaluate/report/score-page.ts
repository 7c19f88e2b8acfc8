import { itemAt } from "../../../../src/values.ts";
import { type Html, html, type Piece } from "../../../../src/html.ts";
import { bar } from "../../report/charts.ts";
import { section, standalonePage } from "../../report/report-page.ts";
import { wideTable } from "../../report/report-tables.ts";
import { amountText, brief, numberText } from "../../report/words.ts";
import { type Comparison, everyQuestion } from "../score/summary.ts";
import { queryFaults } from "../score/final-query.ts";
import { metrics } from "../score/metrics.ts";
import type { QuestionScore } from "../score/question-score.ts";
import type { Scores, SystemScores } from "../score/score-runs.ts";
import {
  ablationHeads,
  ablationRows,
  failedOf,
  groupOf,
  luckyOf,
  metricRows,
  namesText,
  probabilityText,
  shownDifferences,
  valueText,
  verdictText,
} from "./figures.ts";

/** Content of a page: systems over one package, and each pair of them. */
export interface ScoreReport extends Pick<Scores, "package" | "ablation" | "systems"> {
  readonly comparisons: readonly Comparison[];
}

/** More rows would make the page slow; the JSON has all. */
const mostRows = 2_000;

/** The scores as one HTML file: nothing runs, nothing is loaded. */
export function scorePage({ package: of, systems, comparisons, ablation }: ScoreReport): string {
  const title = `Scores over ${brief(of.title, 200)}`;
  const body = html`<header><h1>${title}</h1>
<p class="lead">${amountText(systems.length, "system")} over the questions of ${brief(of.dataset, 80)}. Final queries were answered over the data of the package, without a service and without a model.</p>
<p class="small muted">Package made by ${brief(of.engine, 80)}; SHA-256 of its manifest <code>${of.sha256}</code></p></header><main>
${tiles(systems)}
${section("Figures beside the published ones", [
  html`<p class="small muted">In brackets the interval that 95 % of resampled sets of questions lie in. Runs without a submitted query count as errors.</p>`,
  table(["Figure", ...systems.map(({ name }) => name), "Published"], metricRows(systems)),
])}
${section("Groups of questions", groupTable(systems))}
${section("Calls by kind, a question", toolTable(systems))}
${comparisons.map((each) => section(`${brief(each.left, 80)} beside ${brief(each.right, 80)}`, comparison(each)))}
${section("Failed runs", namedList(systems, failedOf, "No run failed."))}
${section("Right by luck", namedList(systems, luckyOf, "None is known: no final query was right on the data and wrong on an altered copy."))}
${section("Questions", questionTable(systems), "card tall")}
${section("Gold terms in descriptions, for their tokens", [
  html`<p class="small muted">Mean share of the classes and properties of a question's query that stand in the descriptions of all endpoints, as IRIs or by the words of their names; ${amountText(ablation.questions, "question")}.</p>`,
  table(ablationHeads, ablationRows(ablation)),
])}</main>
<footer>Published figures: Dobriy et al., Agentic SPARQL. All figures are in scores.json (fedway-evaluation-scores, version 1); the README of the scores defines each.</footer>
`;
  return standalonePage(title, body);
}

function table(heads: readonly string[], rows: readonly (readonly Piece[])[]): Html {
  const body = rows.map(
    ([first, ...cells]) =>
      html`<tr><th scope="row" class="long">${first}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
`,
  );
  return wideTable(
    itemAt(heads, 0),
    html`<table><thead><tr>${heads.map((head) => html`<th scope="col">${brief(head, 160)}</th>`)}</tr></thead><tbody>
${body}</tbody></table>`,
  );
}

const tiles = (systems: readonly SystemScores[]): Html =>
  html`<dl class="tiles">${systems.map(
    (system) =>
      html`<div><dt>${brief(system.name, 80)}</dt><dd>${valueText(groupOf(system, everyQuestion)?.metrics["right"]?.value, "share")}</dd></div>`,
  )}</dl>`;

function toolTable(systems: readonly SystemScores[]): Html {
  const rows = systems.flatMap(({ name, tools }) =>
    Object.entries(tools).map(([tool, calls]) => [tool, name, valueText(calls, "number")]),
  );
  return rows.length === 0 ? html`<p>No call is known.</p>` : table(["Tool", "System", "Calls"], rows);
}

const groupMetrics: ReadonlySet<string> = new Set([
  "right",
  "f1",
  "consultation",
  "queries",
  "requests",
  "bytes",
  "time",
]);

/** Accuracy and what it costs, by group. */
function groupTable(systems: readonly SystemScores[]): Html {
  const shown = metrics.filter(({ id }) => groupMetrics.has(id));
  const names = [...new Set(systems.flatMap(({ groups }) => groups.map(({ group }) => group)))];
  const rows = names.flatMap((group) =>
    systems.flatMap((system) => {
      const { questions, metrics: found } = groupOf(system, group) ?? {};
      if (questions === undefined || found === undefined) return [];
      const head: readonly Piece[] = [group, system.name, numberText(questions)];
      const accuracy = found["right"]?.value ?? undefined;
      const drawn = accuracy === undefined ? "" : html`<div class="bar">${bar(accuracy, 1, "fan")}</div>`;
      return [
        head.concat(
          [drawn],
          shown.map(({ id, unit }) => valueText(found[id]?.value, unit)),
        ),
      ];
    }),
  );
  return table(["Group", "System", "Questions", "", ...shown.map(({ title }) => title)], rows);
}

function comparison(of: Comparison): readonly Piece[] {
  return [
    html`<p>${amountText(of.questions, "question")}; equal accuracy by McNemar's exact test: ${probabilityText(of.mcNemar)}.</p>
<p class="small">Right in ${brief(of.left, 80)} alone: ${brief(namesText(of.onlyLeft), 2_000)}.<br>Right in ${brief(of.right, 80)} alone: ${brief(namesText(of.onlyRight), 2_000)}.</p>`,
    table(
      ["Figure", of.left, of.right, "Difference, 95 %", "Randomisation test"],
      shownDifferences(of).map(({ metric: { title, unit }, left, right, low, high, p }) => [
        title,
        valueText(left, unit),
        valueText(right, unit),
        low === null || high === null ? "unknown" : `${signed(low, unit)} to ${signed(high, unit)}`,
        probabilityText(p),
      ]),
    ),
  ];
}

const signed = (value: number, unit: Parameters<typeof valueText>[1]): string =>
  value < 0 ? `−${valueText(-value, unit)}` : valueText(value, unit);

function namedList(systems: readonly SystemScores[], of: typeof failedOf, none: string): Html {
  const rows = systems.flatMap((system) =>
    of(system).map(({ question, repeat, outcome, why = "" }) => [
      question,
      system.name,
      repeat + 1,
      outcome,
      brief(why),
    ]),
  );
  if (rows.length === 0) return html`<p>${none}</p>`;
  return html`${table(["Question", "System", "Time asked", "Outcome", "Why"], rows.slice(0, mostRows))}${
    rows.length > mostRows ? html`<p>${numberText(rows.length - mostRows)} more are in the JSON.</p>` : undefined
  }`;
}

function questionTable(systems: readonly SystemScores[]): Html {
  const ids = [...new Set(systems.flatMap(({ questions }) => questions.map(({ question }) => question)))];
  const byId = systems.map(({ questions }) => Map.groupBy(questions, ({ question }) => question));
  const rows = ids.slice(0, mostRows).map((id) => {
    const head: readonly Piece[] = [id];
    return head.concat(byId.map((known) => known.get(id)?.map(verdict)));
  });
  const faults = html`<p class="small muted">A query without an answer has one of these faults: ${queryFaults.join(", ")}.</p>`;
  return html`${faults}${table(["Question", ...systems.map(({ name }) => name)], rows)}`;
}

const verdict = (score: QuestionScore): Html =>
  html`${verdictText(score)}${score.final.why === undefined ? undefined : html`<br><span class="small muted">${brief(score.final.why)}</span>`}<br>`;
