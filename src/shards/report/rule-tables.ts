import { type Html, html } from "../../html.ts";
import { bar } from "./charts.ts";
import type { RuleReport, ShardReport } from "./shard-report.ts";
import { amountText, brief, type NameOf, numberText, partsOfKey, shardWords, shareText } from "./words.ts";

/** A table that may be wider than a phone. */
export const wideTable = (label: string, content: Html): Html =>
  html`<div class="scroll" tabindex="0" role="group" aria-label="${label}">${content}</div>`;

const join = (words: readonly string[]): string => words.join(" and ");

function ruleWords({ kind, iris, buckets }: RuleReport, nameOf: NameOf): string {
  const names = join(iris.map(nameOf));
  const alone = iris.length === 1 ? " apart from the rest" : " apart";
  switch (kind) {
    case "vertical":
      return `triples with ${names}${alone}`;
    case "horizontal":
      return `instances of ${names} in ${amountText(buckets ?? 0, "bucket")}`;
    default:
      return `instances of ${names}${alone}`;
  }
}

/** The chosen rules and what each covers. */
export function ruleTable({ rules }: ShardReport, nameOf: NameOf): Html {
  if (rules.length === 0) return html`<p>No rule was chosen: all triples are in one shard.</p>`;
  const rows = rules.map(
    (rule) =>
      html`<tr><th scope="row">${rule.name}</th><td class="w">${rule.kind}</td><td class="long">${ruleWords(rule, nameOf)}<br><span class="small muted">${rule.iris.map((iri, at) => [at > 0 ? html`<br>` : undefined, html`<code>${brief(iri)}</code>`])}</span></td><td class="n">${numberText(rule.covers.length)}</td><td class="n">${numberText(rule.questions)}</td></tr>
`,
  );
  return wideTable(
    "Rules",
    html`<table><thead><tr><th scope="col">Rule</th><th scope="col">Kind</th><th scope="col">Keeps</th><th scope="col" class="n">Queries</th><th scope="col" class="n">Questions</th></tr></thead><tbody>
${rows}</tbody></table>`,
  );
}

/** The shards with their sizes. */
export function shardTable({ shards }: ShardReport, nameOf: NameOf): Html {
  if (shards.length === 0) return html`<p>There are no shards.</p>`;
  const most = shards.reduce((high, { triples }) => Math.max(high, triples), 0);
  const rows = shards.map(
    ({ number, key, id, triples, share }) =>
      html`<tr><th scope="row" class="n">${number}</th><td class="long">${shardWords(key, nameOf)}<br><code class="muted">${brief(id)}</code></td><td class="n">${numberText(triples)}</td><td class="n">${share === undefined ? "" : shareText(share)}</td><td class="bar">${bar(triples, most, partsOfKey(key).kind)}</td></tr>
`,
  );
  return wideTable(
    "Shards",
    html`<table><thead><tr><th scope="col" class="n">No.</th><th scope="col">Holds</th><th scope="col" class="n">Triples</th><th scope="col" class="n">Share</th><td></td></tr></thead><tbody>
${rows}</tbody></table>`,
  );
}
