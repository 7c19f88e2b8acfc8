import { type Html, html } from "../../../src/html.ts";
import type { RejectedQuery } from "../load/load-queries.ts";
import { elsewhere } from "./query-shards.ts";
import type { QueryReport, InterpretationReport, ShardReport, RuleReport } from "./shard-report.ts";
import {
  brief,
  type NameOf,
  numberText,
  partsOfKey,
  shardWords,
  shareText,
  amountText,
  type FigureColumn,
  figureRows,
} from "./words.ts";
import { bar } from "./charts.ts";
import type { Interpretation } from "../rules/problem.ts";

/** More rows would make the page slow; the JSON has all. */
const mostRows = 2_000;
const longestQuery = 4_000;

const restText = (all: number): Html | undefined =>
  all > mostRows ? html`<p>${numberText(all - mostRows)} more are only in the JSON.</p>` : undefined;

/** Each figure with its definition, of each column and published. */
export function figureTable(columns: readonly FigureColumn[]): Html {
  const rows = figureRows(columns).map(
    ({ title, definition, values, published }) =>
      html`<tr><th scope="row" class="long">${title}<br><span class="small muted">${definition}</span></th>${values.map((value) => html`<td class="figure">${value ?? "unknown"}</td>`)}<td class="figure">${published ?? html`<span class="muted">not published</span>`}</td></tr>
`,
  );
  const heads = columns.map(({ title }) => html`<th scope="col">${brief(title, 160)}</th>`);
  return wideTable(
    "Figures beside the published ones",
    html`<table><thead><tr><th scope="col">Figure</th>${heads}<th scope="col">Published, 19 datasets</th></tr></thead><tbody>
${rows}</tbody></table>`,
  );
}

/** Numbers of the shards with these keys; those that hold nothing have none. */
function numbersOf(keys: readonly string[], numbers: ReadonlyMap<string, number>): string {
  const known = keys.flatMap((key) => numbers.get(key) ?? []).toSorted((a, b) => a - b);
  const missing = keys.filter((key) => key !== elsewhere && !numbers.has(key)).length;
  const parts = [
    ...known.map(String),
    ...(keys.includes(elsewhere) ? [elsewhere] : []),
    ...(missing > 0 ? [`${missing} empty`] : []),
  ];
  return parts.length === 0 ? "none" : parts.join(", ");
}

const namesText = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join(", "));

function queryRow(query: QueryReport, numbers: ReadonlyMap<string, number>): Html {
  const { number, id, same, question, text, rules, apartBy, implied, touched, source } = query;
  const asked = same.length > 1 ? html` <span class="muted">asked ${numberText(same.length)} times</span>` : undefined;
  const cut = text.length > longestQuery;
  return html`<tr><th scope="row" class="n">${number}</th><td class="long">${question === undefined ? html`<span class="muted">no question</span>` : brief(question)}<br><span class="small"><code>${brief(id, 80)}</code>${asked}</span>
<details><summary>SPARQL</summary><pre>${cut ? `${text.slice(0, longestQuery).toWellFormed()} …` : text}</pre></details></td><td>${namesText(rules)}</td><td>${numbersOf(implied, numbers)}</td><td>${numbersOf(touched, numbers)}</td><td>${namesText(apartBy)}</td><td class="n">${touched.length}</td><td>${source === undefined ? "unknown" : sourceWords[source]}</td></tr>
`;
}

const sourceWords: Readonly<Record<NonNullable<QueryReport["source"]>, string>> = {
  none: "no solution",
  "one-shard": "one shard alone",
  "several-shards": "several shards",
};

/** Per query: the rules that cover it, the shards that it needs by them, those that it touches. */
export function queryTable({ queries, shards, mode }: ShardReport): Html {
  if (queries.length === 0) return html`<p>There are no queries.</p>`;
  const numbers = new Map(shards.map(({ key, number }) => [key, number]));
  const note =
    mode === "guaranteed"
      ? html`<p class="small muted">In guaranteed mode what counts is where the triples lie: a query may be federated by rules that do not cover it.</p>`
      : undefined;
  return html`${note}${wideTable(
    "Queries",
    html`<table><thead><tr><th scope="col" class="n">No.</th><th scope="col">Query</th><th scope="col">Covered by</th><th scope="col">Needs shards</th><th scope="col">Touches shards</th><th scope="col">Kept apart by</th><th scope="col" class="n">Fan-out</th><th scope="col">Answer from</th></tr></thead><tbody>
${queries.slice(0, mostRows).map((query) => queryRow(query, numbers))}</tbody></table>`,
  )}${restText(queries.length)}`;
}

/** Shard keys inside of reasons, in words. */
function reasonText(reason: string, keys: readonly string[], nameOf: NameOf): string {
  const found = keys.find((key) => partsOfKey(key).iri !== undefined && reason.includes(key));
  return brief(found === undefined ? reason : reason.replace(found, () => shardWords(found, nameOf)), 600);
}

/** Queries that are not federated or not covered, each with the reason. */
export function lackingQueries({ queries, shards }: ShardReport, nameOf: NameOf): Html | undefined {
  const lacking = queries.filter(({ reason }) => reason !== undefined);
  if (lacking.length === 0) return undefined;
  const keys = shards.map(({ key }) => key);
  const rows = lacking.slice(0, mostRows).map(
    ({ number, question, id, touched, reason = "" }) =>
      html`<tr><th scope="row" class="n">${number}</th><td class="long">${brief(question ?? id)}</td><td class="n">${touched.length}</td><td class="long">${reasonText(reason, keys, nameOf)}</td></tr>
`,
  );
  return html`<section class="card tall" id="lacking"><h2>Queries that cannot be federated, or that no rule covers</h2>
${wideTable(
  "Queries that cannot be federated",
  html`<table><thead><tr><th scope="col" class="n">No.</th><th scope="col">Query</th><th scope="col" class="n">Fan-out</th><th scope="col">Reason</th></tr></thead><tbody>
${rows}</tbody></table>`,
)}${restText(lacking.length)}</section>`;
}

/** The options of a reading in words. */
function readingWords(reading: Interpretation): string {
  const { classRule, verticalRule, typeIsPredicate, horizontalCoversJoins, infer, exists, buckets } = reading;
  return [
    classRule === "pair" ? "class pairs" : "single classes",
    verticalRule === "pair" ? "predicate pairs" : "single predicates",
    typeIsPredicate ? undefined : "rdf:type is no predicate",
    horizontalCoversJoins ? "horizontal rules cover joins" : undefined,
    infer ? "classes by inference" : undefined,
    exists ? "inside EXISTS too" : undefined,
    buckets === 2 ? undefined : `${buckets} buckets`,
  ]
    .filter((words) => words !== undefined)
    .join(", ");
}

function readingRow({
  reading,
  used,
  applicability,
  candidates,
  composition,
  cost,
  lowerBound,
  ...rest
}: InterpretationReport): Html {
  const { questions } = applicability;
  const applies = (count: number): string => (questions === 0 ? "" : ` (${shareText(count / questions)})`);
  return html`<tr><th scope="row">${brief(reading.name, 80)}${used ? html` <strong>(used)</strong>` : ""}<br><span class="small muted">${readingWords(reading)}</span></th><td class="n">${numberText(applicability.vertical)}${applies(applicability.vertical)}</td><td class="n">${numberText(applicability.class)}${applies(applicability.class)}</td><td class="n">${numberText(applicability.horizontal)}${applies(applicability.horizontal)}</td><td class="n">${numberText(candidates)}</td><td class="n">${numberText(cost)}</td><td class="n">${composition.vertical}, ${composition.class}, ${composition.horizontal}</td><td>${rest.proven ? "proven" : `not proven, at least ${lowerBound}`}</td><td class="n">${numberText(rest.impossible)}</td></tr>
`;
}

/** Choices of each reading of the paper. */
export function readingTable(readings: readonly InterpretationReport[]): Html {
  if (readings.length === 0) return html`<p>No reading was solved for comparison.</p>`;
  return wideTable(
    "Readings side by side",
    html`<table><thead><tr><th scope="col">Reading</th><th scope="col" class="n">Vertical applies</th><th scope="col" class="n">Class applies</th><th scope="col" class="n">Horizontal applies</th><th scope="col" class="n">Candidates</th><th scope="col" class="n">Rules</th><th scope="col" class="n">V, C, H</th><th scope="col">Optimum</th><th scope="col" class="n">Impossible queries</th></tr></thead><tbody>
${readings.map(readingRow)}</tbody></table>`,
  );
}

/** Lines of inputs that were left out; undefined when there are none. */
export function badLinesTable(inputs: ShardReport["badLines"] = []): Html | undefined {
  if (inputs.length === 0) return undefined;
  const rows = inputs.flatMap(({ name, count, first }) =>
    first.map(
      ({ line, reason }) =>
        html`<tr><th scope="row">${brief(name, 80)} (${numberText(count)})</th><td class="n">${line}</td><td class="long">${brief(reason)}</td></tr>
`,
    ),
  );
  return html`<section class="card tall"><h2>Lines that were left out</h2>
${wideTable(
  "Lines that were left out",
  html`<table><thead><tr><th scope="col">File (lines left out)</th><th scope="col" class="n">Line</th><th scope="col">Why</th></tr></thead><tbody>
${rows}</tbody></table>`,
)}</section>`;
}

/** Queries that do not parse; undefined when all do. */
export function leftOutQueries(leftOut: readonly RejectedQuery[]): Html | undefined {
  if (leftOut.length === 0) return undefined;
  const rows = leftOut.slice(0, mostRows).map(
    ({ id, place, message, line, column }) =>
      html`<tr><th scope="row"><code>${brief(id, 80)}</code></th><td>${brief(place, 120)}${line === undefined ? "" : `, line ${line}${column === undefined ? "" : `, column ${column}`} of the query`}</td><td class="long">${brief(message)}</td></tr>
`,
  );
  return html`<section class="card tall"><h2>Queries that were left out</h2>
${wideTable(
  "Queries that were left out",
  html`<table><thead><tr><th scope="col">Query</th><th scope="col">Place</th><th scope="col">Why</th></tr></thead><tbody>
${rows}</tbody></table>`,
)}${restText(leftOut.length)}</section>`;
}

/** A table that may be wider than a phone. */
export const wideTable = (label: string, content: Html): Html =>
  html`<div class="scroll" tabindex="0" role="group" aria-label="${label}">${content}</div>`;

const join = (words: readonly string[]): string => words.join(" and ");

function ruleWords({ kind, iris, buckets }: RuleReport, nameOf: NameOf): string {
  const names = join(iris.map(nameOf));
  const alone = iris.length === 1 ? " apart from the rest" : " apart";
  if (buckets !== undefined) return `instances of ${names} in ${amountText(buckets, "bucket")}`;
  return `${kind === "vertical" ? "triples with" : "instances of"} ${names}${alone}`;
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
