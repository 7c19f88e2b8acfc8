import { allGroups } from "../rules/term-groups.ts";
import { type Html, html, link, type Piece } from "../../../src/html.ts";
import type { Criterion } from "../rules/problem.ts";
import type { FanOut, ShardStatistics } from "./shard-statistics.ts";
import { compositionChart, fanOutChart, touchMatrix } from "./charts.ts";
import {
  figureTable,
  lackingQueries,
  badLinesTable,
  leftOutQueries,
  queryTable,
  readingTable,
  ruleTable,
  shardTable,
  wideTable,
} from "./report-tables.ts";
import { reportPolicy, reportStyle } from "./report-style.ts";
import type { ShardReport } from "./shard-report.ts";
import { amountText, brief, createNames, numberText, partsOfKey, shareText, figureText } from "./words.ts";
import { comparability, groupTitle, type ShardOverview } from "./overview.ts";

/** A page of its own: nothing runs, nothing is loaded. */
export function standalonePage(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${reportPolicy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer"><title>${title}</title>
<style>${{ html: reportStyle }}</style></head><body>
${body}</body></html>
`.html;
}

export const section = (title: string, content: Piece, look = "card"): Html =>
  html`<section class="${look}"><h2>${title}</h2>
${content}</section>
`;

/** Cost of the rules, and if fewer would do. */
function optimumText({ optimum: { cost, lowerBound, proven, trouble } }: ShardReport): string {
  const bound = proven
    ? "no choice of rules is smaller: proven"
    : `a choice of ${amountText(lowerBound, "rule")} is not ruled out: gap ${cost - lowerBound}`;
  return trouble === undefined ? bound : `${bound} (${trouble})`;
}

const criterionWords = {
  fewest_unfederated: "queries that touch fewer than two shards",
  fewest_uncovered: "queries that no rule covers",
  fewest_answered_alone: "queries whose answer may come from one shard alone",
  fewest_surplus_shards: "shards beyond the most that were wanted",
  fewest_small_shards: "shards that are smaller than wanted",
  nearest_shares: "steps of 5 points that the share of a kind of rules is off its target",
  fewest_one_sided: "rules with an empty shard",
  most_kinds: "kinds of rules that are missing",
  fewest_rules: "rules",
  fewest_shards: "shards",
  smallest_largest_shard: "32nds of the triples that the largest shard exceeds",
} as const satisfies Readonly<Record<Criterion["name"], string>>;

/** Minimised criteria, in order, each as far as it could be proven. */
function criteriaList({ optimum: { criteria } }: ShardReport): Html | undefined {
  if (criteria === undefined || criteria.length === 0) return undefined;
  const items = criteria.map(
    ({ name, cost, proven }) =>
      html`<li>${criterionWords[name] ?? brief(name)}: ${numberText(cost)}, ${proven ? "proven to be the least" : "not proven to be the least"}</li>`,
  );
  return html`<p class="small">Minimised in this order:</p><ol class="small">${items}</ol>`;
}

const tile = (title: string, value: string): Html => html`<div><dt>${title}</dt><dd>${value}</dd></div>`;

function tiles(report: ShardReport): Html {
  const { statistics } = report;
  const share = (figure: string): string => {
    const value = report.figures.find(({ id }) => id === figure)?.value;
    return value === undefined ? "unknown" : shareText(value.mean);
  };
  return html`<dl class="tiles">${tile("Rules", numberText(statistics.rules))}${tile(
    report.predicted ? "Shards, predicted" : "Shards",
    numberText(statistics.shards),
  )}${tile("Triples", numberText(statistics.triples))}${tile("Questions", numberText(statistics.questions))}${tile(
    "Distinct queries",
    numberText(statistics.distinctQueries),
  )}${tile("Federated", share("federated"))}${tile("One shard alone", share("answered-alone"))}</dl>
`;
}

/** The published figures are of the published method. */
const modeNote = ({ mode }: ShardReport): Html | undefined =>
  mode !== "guaranteed"
    ? undefined
    : html`<p class="small muted">The published figures are of the paper's method. In guaranteed mode rules are chosen by where the triples lie, not by cover, so that the implied fan-out says little.</p>`;

const foreign = (name: string, text: string | undefined): Html | undefined =>
  text === undefined ? undefined : html`<br>${name}: ${link(text, brief(text))}`;

const modeWords: Readonly<Record<ShardReport["mode"], string>> = {
  balanced:
    "Balanced mode: each query is covered by a rule and touches two shards where that can be, and no shard alone gives its answer where data allow",
  guaranteed: "Guaranteed mode: the fewest rules such that each query that can be federated is",
  paper: "Paper mode: rules chosen as published, without a guarantee",
};

function head(report: ShardReport): Html {
  const { dataset, mode, precedence, reading } = report;
  return html`<header><h1>Shards of ${brief(dataset.title, 200)}</h1>
<p class="lead">${modeWords[mode]}; reading “${brief(reading.name, 80)}”. Triples are claimed in the order ${precedence.join(", ")}. ${
    report.predicted ? "Nothing was written: sizes are predicted. " : ""
  }The choice has ${amountText(report.optimum.cost, "rule")}; ${optimumText(report)}.</p>
<p class="small muted">Dataset ${brief(dataset.id, 80)}${foreign("Licence", dataset.licence)}${foreign("Source", dataset.source)}${foreign("Cite as", dataset.citation)}</p></header>
`;
}

function lackBanner({ queries }: ShardReport): Html | undefined {
  const lacking = queries.filter(({ federated }) => !federated).length;
  if (lacking === 0) return undefined;
  return html`<div class="banner" role="note"><p><strong>${amountText(lacking, "query", "queries")} of ${numberText(queries.length)} ${lacking === 1 ? "needs" : "need"} no federation</strong> with these shards; <a href="#lacking">the reasons</a> are below.</p></div>
`;
}

const chart = (title: string, fanOut: FanOut | undefined): Html | undefined =>
  fanOut === undefined ? undefined : html`<div><h3>${title}</h3>${fanOutChart(fanOut)}</div>`;

function fanOuts({ realisedFanOut, relevantFanOut, impliedFanOut }: ShardStatistics): Html {
  return html`<div class="fans">${chart("Realised: shards with a match", realisedFanOut)}${chart("Implied by the covering rules", impliedFanOut)}${chart("By vocabulary", relevantFanOut)}</div>`;
}

const ruleFileNote = (name: string): Html =>
  html`<p class="small">The choice can be checked with clingo: <a href="${encodeURIComponent(name)}">${name}</a> has the candidate rules, the queries and the chosen rules, and says how.</p>`;

/**
 * The report as one HTML file. Everything in it that came from outside is escaped; IRIs are shortened where that is unique.
 * @param ruleFile name of the rule file beside it, if there is one
 */
export function reportPage(report: ShardReport, ruleFile?: string): string {
  const keys = [...report.shards.map(({ key }) => key), ...report.queries.flatMap(({ implied }) => implied)];
  const nameOf = createNames(
    [...report.rules.flatMap(({ iris }) => iris), ...keys.flatMap((key) => partsOfKey(key).iri ?? [])],
    allGroups(report.groups),
  );
  const { statistics } = report;
  const checking = ruleFile === undefined ? undefined : ruleFileNote(ruleFile);
  const body = html`${head(report)}<main>${tiles(report)}${lackBanner(report)}
${section("Figures beside the published ones", [modeNote(report), figureTable([{ title: "Here", figures: report.figures }])])}
${section("Kinds of rules", compositionChart(statistics.composition, statistics.rules))}
${section("Rules", [ruleTable(report, nameOf), criteriaList(report), checking], "card tall")}
${section("Shards", shardTable(report, nameOf), "card tall")}
${section("Fan-out", fanOuts(statistics))}
${section("Which query touches which shards", touchMatrix(report), "card tall")}
${lackingQueries(report, nameOf)}
${section("Queries", queryTable(report), "card tall")}
${section("Readings of the paper side by side", readingTable(report.readings))}
${leftOutQueries(report.leftOut)}${badLinesTable(report.badLines)}</main>
<footer>Method and published figures: Dobriy et al., Agentic SPARQL, section 4. All figures are in report.json (${report.format}, version ${report.version}).</footer>
`;
  return standalonePage(`Shards of ${brief(report.dataset.title, 200)}`, body);
}

function row({
  dataset,
  mode,
  reading,
  optimum,
  statistics,
  notFederated,
  predicted,
}: ShardOverview["datasets"][number]): Html {
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
