import { type Html, html } from "../../html.ts";
import { comparability, groupTitle, type OverviewEntry, type ShardOverview } from "./overview.ts";
import { standalonePage } from "./report-page.ts";
import { figureTable } from "./report-tables.ts";
import { wideTable } from "./rule-tables.ts";
import { amountText, brief, figureText, numberText, shareText } from "./words.ts";

function row({ dataset, mode, reading, optimum, statistics, notFederated, predicted }: OverviewEntry): Html {
  const { rules, composition, shards, sizeVariation, largestShare, realisedFanOut, answers } = statistics;
  const { summary } = realisedFanOut;
  const { vertical, class: byClass, horizontal } = composition;
  return html`<tr><th scope="row" class="long">${brief(dataset.title, 120)}<br><span class="small muted">${brief(dataset.id, 80)}; ${mode} mode, reading ${brief(reading.name, 80)}${predicted ? "; predicted" : ""}</span></th><td class="n">${numberText(statistics.questions)}</td><td class="n">${numberText(rules)}</td><td class="n w">${vertical}, ${byClass}, ${horizontal}</td><td>${optimum.proven ? "proven" : `at least ${optimum.lowerBound}`}</td><td class="n">${numberText(shards)}</td><td class="n">${sizeVariation === undefined ? "unknown" : sizeVariation.toFixed(2)}</td><td class="n">${largestShare === undefined ? "unknown" : shareText(largestShare)}</td><td class="figure">${summary === undefined ? "unknown" : figureText(summary, "number")}</td><td class="n">${numberText(notFederated)}</td><td class="n">${answers === undefined ? "unknown" : numberText(answers["one-shard"])}</td></tr>
`;
}

const guaranteedNote = html`<p class="small muted">The published figures are of the paper's method, which is paper mode. In guaranteed mode rules are chosen by where the triples lie, not by cover, so that the implied fan-out says little.</p>`;

/** Reports side by side as one HTML file, as `reportPage` is. */
export function overviewPage({ datasets, groups, format, version }: ShardOverview): string {
  const count = amountText(datasets.length, "report");
  const table =
    datasets.length === 0
      ? html`<p>There are no reports.</p>`
      : wideTable(
          "Datasets",
          html`<table><thead><tr><th scope="col">Dataset</th><th scope="col" class="n">Questions</th><th scope="col" class="n">Rules</th><th scope="col" class="n">V, C, H</th><th scope="col">Optimum</th><th scope="col" class="n">Shards</th><th scope="col" class="n">Variation</th><th scope="col" class="n">Largest</th><th scope="col">Realised fan-out</th><th scope="col" class="n">Not federated</th><th scope="col" class="n">One shard alone</th></tr></thead><tbody>
${datasets.map(row)}</tbody></table>`,
        );
  const columns = groups.map((group) => ({ title: groupTitle(group), figures: group.figures }));
  const figures = groups.length === 0 ? html`<p>There are no figures.</p>` : figureTable(columns);
  const isGuaranteed = groups.some(({ mode }) => mode === "guaranteed");
  const body = html`<header><h1>Shards side by side: ${count}</h1>
<p class="lead">${comparability}</p></header><main>
<section class="card"><h2>Figures beside the published ones</h2>
<p class="small muted">Figures per dataset count each dataset once, figures per question each question of the column's datasets once.</p>${isGuaranteed ? guaranteedNote : undefined}
${figures}</section>
<section class="card tall"><h2>Datasets</h2>
${table}</section></main>
<footer>Method and published figures: Dobriy et al., Agentic SPARQL, section 4 (${format}, version ${version}).</footer>
`;
  return standalonePage(`Shards side by side: ${count}`, body);
}
