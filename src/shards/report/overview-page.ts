import { type Html, html } from "../../html/html.ts";
import { published } from "../statistics/published.ts";
import type { OverviewEntry, ShardOverview } from "./overview.ts";
import { standalonePage } from "./report-page.ts";
import { figureTable } from "./report-tables.ts";
import { wideTable } from "./rule-tables.ts";
import { amountText, brief, figureText, numberText } from "./words.ts";

function row({ dataset, mode, reading, optimum, statistics, notFederated, predicted }: OverviewEntry): Html {
  const { rules, composition, shards, sizeVariation, realisedFanOut } = statistics;
  const { summary } = realisedFanOut;
  const { vertical, class: byClass, horizontal } = composition;
  return html`<tr><th scope="row" class="long">${brief(dataset.title, 120)}<br><span class="small muted">${brief(dataset.id, 80)}; ${mode} mode, reading ${brief(reading.name, 80)}${predicted ? "; predicted" : ""}</span></th><td class="n">${numberText(statistics.questions)}</td><td class="n">${numberText(rules)}</td><td class="n w">${vertical}, ${byClass}, ${horizontal}</td><td>${optimum.proven ? "proven" : `at least ${optimum.lowerBound}`}</td><td class="n">${numberText(shards)}</td><td class="n">${sizeVariation === undefined ? "unknown" : sizeVariation.toFixed(2)}</td><td class="figure">${summary === undefined ? "unknown" : figureText(summary, "number")}</td><td class="n">${numberText(notFederated)}</td></tr>
`;
}

/** The figures of several datasets as one HTML file, as `reportPage` is. */
export function overviewPage(overview: ShardOverview): string {
  const { datasets, figures, shards, format, version } = overview;
  const count = amountText(datasets.length, "dataset");
  const table =
    datasets.length === 0
      ? html`<p>There are no datasets.</p>`
      : wideTable(
          "Datasets",
          html`<table><thead><tr><th scope="col">Dataset</th><th scope="col" class="n">Questions</th><th scope="col" class="n">Rules</th><th scope="col" class="n">V, C, H</th><th scope="col">Optimum</th><th scope="col" class="n">Shards</th><th scope="col" class="n">Variation</th><th scope="col">Realised fan-out</th><th scope="col" class="n">Not federated</th></tr></thead><tbody>
${datasets.map(row)}</tbody></table>`,
        );
  const body = html`<header><h1>Shards of ${count}</h1>
<p class="lead">${amountText(shards, "shard")} in all; published: ${published.totalShards} of 19 datasets. Figures per dataset count each dataset once, figures per question each question of all datasets once.</p></header><main>
<section class="card"><h2>Figures beside the published ones</h2>
${figureTable(figures)}</section>
<section class="card tall"><h2>Datasets</h2>
${table}</section></main>
<footer>Method and published figures: Dobriy et al., Agentic SPARQL, section 4 (${format}, version ${version}).</footer>
`;
  return standalonePage(`Shards of ${count}`, body);
}
