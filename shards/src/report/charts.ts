import { type Html, html } from "../../../src/html.ts";
import { itemAt } from "../../../src/values.ts";
import { type RuleKind, ruleKinds } from "../rules/problem.ts";
import { published } from "./compared-figures.ts";
import type { FanOut } from "./shard-statistics.ts";
import { amountText, numberText, shareText } from "./words.ts";
import type { QueryReport, ShardReport } from "./shard-report.ts";

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** A bar from 0 to `value` of `most`; the number beside it says the same. A value that is not 0 is never invisible. */
export function bar(value: number, most: number, look: string): Html {
  const length = most > 0 ? rounded(Math.max((value / most) * 100, value > 0 ? 0.5 : 0)) : 0;
  return html`<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><path class="track" d="M0 0h100v10H0z"/>${
    length > 0 ? html`<path class="${look}" d="M0 0h${length}v10H0z"/>` : ""
  }</svg>`;
}

type Shares = Readonly<Record<RuleKind, number>>;

const sharesInWords = (shares: Shares): string =>
  ruleKinds.map((kind) => `${kind} ${shareText(shares[kind])}`).join(", ");

/** One bar of the three shares, 100 wide. */
function stack(title: string, shares: Shares): Html {
  let from = 0;
  const parts = ruleKinds.map((kind) => {
    const width = rounded(shares[kind] * 100);
    const part = html`<path class="${kind} gap" d="M${rounded(from)} 0h${width}v10H${rounded(from)}z"/>`;
    from += width;
    return width > 0 ? part : undefined;
  });
  const words = sharesInWords(shares);
  return html`<p>${title}: <span class="muted">${words}</span></p>
<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${`${title}: ${words}`}">${parts}</svg>
`;
}

const sample = (look: string, words: string): Html =>
  html`<li><svg viewBox="0 0 10 10" aria-hidden="true"><path class="${look}" d="M0 0h10v10H0z"/></svg>${words}</li>`;

/** The kinds of the rules beside the published shares. */
export function compositionChart(composition: Shares, rules: number): Html {
  const here =
    rules === 0
      ? html`<p>There are no rules, so there is no composition.</p>`
      : stack(`Here, ${amountText(rules, "rule")}`, {
          vertical: composition.vertical / rules,
          class: composition.class / rules,
          horizontal: composition.horizontal / rules,
        });
  const paper = {
    vertical: published.vertical.mean,
    class: published.class.mean,
    horizontal: published.horizontal.mean,
  };
  return html`<div class="stack">${here}${stack("Published, mean of 19 datasets", paper)}
<ul class="key">${sample("vertical", "vertical: by predicate")}${sample("class", "class: by the subject's class")}${sample("horizontal", "horizontal: by a hash of the subject")}</ul></div>`;
}

/** How many questions have which fan-out, one row each; a whole bar is all questions, so that charts can be compared. */
export function fanOutChart({ distribution, questions }: FanOut): Html {
  if (questions === 0) return html`<p>There are no questions.</p>`;
  const rows = distribution.map(
    ({ shards, questions: count }) =>
      html`<tr><th scope="row" class="n">${numberText(shards)}</th><td class="n">${numberText(count)}</td><td class="n">${shareText(count / questions)}</td><td class="bar">${bar(count, questions, shards < 2 ? "horizontal" : "fan")}</td></tr>
`,
  );
  return html`<table><thead><tr><th scope="col" class="n">Shards</th><th scope="col" class="n">Questions</th><th scope="col" class="n">Share</th><td></td></tr></thead><tbody>
${rows}</tbody></table>`;
}

const step = 14;
const left = 40;
const top = 16;
/** Queries of one drawing. */
const rowsOfPanel = 25;
/** More would make the page slow; the JSON has all. */
const mostQueries = 2_000;

const shapes = {
  both: (x: number, y: number): string => `M${x + 1} ${y + 1}h11v11h-11z`,
  more: (x: number, y: number): string => `M${x + 6.5} ${y}l6.5 6.5l-6.5 6.5l-6.5 -6.5z`,
  missed: (x: number, y: number): string => `M${x + 2} ${y + 2}h9v9h-9z`,
  nothing: (x: number, y: number): string => `M${x + 5.5} ${y + 5.5}h2v2h-2z`,
} as const;

type Look = keyof typeof shapes;
const looks = ["both", "more", "missed", "nothing"] as const satisfies readonly Look[];

function lookOf({ touched, implied }: QueryReport, key: string): Look {
  if (touched.includes(key)) return implied.includes(key) ? "both" : "more";
  return implied.includes(key) ? "missed" : "nothing";
}

/** In the other modes rules need not cover the triples that they separate. */
const touchOnly = ({ touched }: QueryReport, key: string): Look => (touched.includes(key) ? "both" : "nothing");

function panel(queries: readonly QueryReport[], shards: ShardReport["shards"], look: typeof lookOf): Html {
  const paths: Record<Look, string> = { both: "", more: "", missed: "", nothing: "" };
  for (const [row, query] of queries.entries()) {
    for (const [column, { key }] of shards.entries()) {
      const found = look(query, key);
      paths[found] += shapes[found](left + column * step, top + row * step);
    }
  }
  const heads = shards.map(
    ({ number }, at) => html`<text x="${left + at * step + 6.5}" y="11" text-anchor="middle">${number}</text>`,
  );
  const names = queries.map(
    ({ number, federated }, at) =>
      html`<text x="${left - 6}" y="${top + at * step + 10}" text-anchor="end"${federated ? "" : html` class="few"`}>${number}${federated ? "" : " !"}</text>`,
  );
  const drawn = looks
    .filter((each) => paths[each] !== "")
    .map((each) => html`<path class="${each}" d="${paths[each]}"/>`);
  const width = left + shards.length * step + 2;
  const height = top + queries.length * step + 2;
  const [first, last] = [itemAt(queries, 0), itemAt(queries, queries.length - 1)];
  const label = `Queries ${first.number} to ${last.number} and the ${shards.length} shards; the table of queries says the same in words`;
  return html`<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${heads}${names}${drawn}</svg>
`;
}

const cellSample = (look: Look, words: string): Html =>
  html`<li><svg viewBox="0 0 13 13" aria-hidden="true"><path class="${look}" d="${shapes[look](0, 0)}"/></svg>${words}</li>`;

const paperKey = [
  cellSample("both", "its rules say so, and it does"),
  cellSample("more", "it touches it beyond its rules"),
  cellSample("missed", "its rules say so, but nothing matches"),
  cellSample("nothing", "neither"),
];
const touchKey = [cellSample("both", "it has a match there"), cellSample("nothing", "it has none")];

/** Which query touches which shards; rows and columns have the numbers of the tables. */
export function touchMatrix({ queries, shards, mode }: ShardReport): Html {
  if (queries.length === 0 || shards.length === 0) return html`<p>There are no queries, or no shards.</p>`;
  const look = mode === "paper" ? lookOf : touchOnly;
  const shown = queries.slice(0, mostQueries);
  const panels: Html[] = [];
  for (let at = 0; at < shown.length; at += rowsOfPanel)
    panels.push(panel(shown.slice(at, at + rowsOfPanel), shards, look));
  const rest = queries.length - shown.length;
  return html`<figure><figcaption>A row is a query, a column a shard, numbered as in the tables. “!” marks queries that touch fewer than two.</figcaption>
<ul class="key">${mode === "paper" ? paperKey : touchKey}</ul>
<div class="panels scroll" tabindex="0" role="group" aria-label="Matrix of queries and shards">${panels}</div>${rest > 0 ? html`<p>${rest} more queries are only in the JSON.</p>` : ""}</figure>`;
}
