import { type Html, html } from "../../html.ts";
import type { RuleKind } from "../rule.ts";
import { published } from "../statistics/published.ts";
import type { FanOut } from "../statistics/shard-statistics.ts";
import { amountText, numberText, shareText } from "./words.ts";

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** A bar from 0 to `value` of `most`; the number beside it says the same. A value that is not 0 is never invisible. */
export function bar(value: number, most: number, look: string): Html {
  const length = most > 0 ? rounded(Math.max((value / most) * 100, value > 0 ? 0.5 : 0)) : 0;
  return html`<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><path class="track" d="M0 0h100v10H0z"/>${
    length > 0 ? html`<path class="${look}" d="M0 0h${length}v10H0z"/>` : ""
  }</svg>`;
}

const kinds: readonly RuleKind[] = ["vertical", "class", "horizontal"];
type Shares = Readonly<Record<RuleKind, number>>;

const sharesInWords = (shares: Shares): string => kinds.map((kind) => `${kind} ${shareText(shares[kind])}`).join(", ");

/** One bar of the three shares, 100 wide. */
function stack(title: string, shares: Shares): Html {
  let from = 0;
  const parts = kinds.map((kind) => {
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

/** How many questions have which fan-out, one row each. */
export function fanOutChart({ distribution, questions }: FanOut): Html {
  if (questions === 0) return html`<p>There are no questions.</p>`;
  const most = distribution.reduce((high, { questions: count }) => Math.max(high, count), 0);
  const rows = distribution.map(
    ({ shards, questions: count }) =>
      html`<tr><th scope="row" class="n">${numberText(shards)}</th><td class="n">${numberText(count)}</td><td class="n">${shareText(count / questions)}</td><td class="bar">${bar(count, most, shards < 2 ? "horizontal" : "fan")}</td></tr>
`,
  );
  return html`<table><thead><tr><th scope="col" class="n">Shards</th><th scope="col" class="n">Questions</th><th scope="col" class="n">Share</th><td></td></tr></thead><tbody>
${rows}</tbody></table>`;
}
