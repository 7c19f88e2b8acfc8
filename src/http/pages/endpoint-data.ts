import type { PublishedFacts } from "../../registry/catalog.ts";
import { partSentence, schemaView } from "../../registry/schema.ts";
import type { DescriptionService, VoidDescription } from "../../registry/descriptions.ts";
import { descriptionView } from "../../views/description-view.ts";
import { viewHtml } from "../../views/view-html.ts";
import { type Asker, askFor } from "./login.ts";
import { plainText } from "../../rdf/display-text.ts";
import { shapeExample } from "../../registry/find.ts";
import { latencyText, numberText } from "../../figures.ts";
import { momentOf, termLink } from "./figures.ts";
import { type Html, html } from "../../html.ts";
import { schemaPicture } from "./link-pictures.ts";
import { fact, table } from "./layout.ts";
import { type Capabilities, probedConstructs } from "../../registry/capabilities.ts";

/** Known data of an endpoint, and their age. */
export interface ShownData {
  readonly description: VoidDescription | undefined;
  readonly freshness: Awaited<ReturnType<DescriptionService["freshness"]>>;
  /** Classes that lie here and elsewhere. */
  readonly parts: Parameters<typeof partSentence>[0];
  /** Published facts about the data. */
  readonly published: PublishedFacts | undefined;
}

const freshnessTexts: Readonly<Record<ShownData["freshness"]["state"], string>> = {
  none: "It has not been described.",
  fresh: "Up to date.",
  stale: "Stale: the data may have changed since.",
  unfinished: "Unfinished: there is more to be found out.",
};

const sourceTexts: Readonly<Record<VoidDescription["source"], string>> = {
  retrieved: "the publisher's own description",
  computed: "queries of Fedway",
  mixed: "the publisher's own description and queries of Fedway",
};

const unionNote = html`<p>The default graph is empty: these figures are of all named graphs together. A triple that lies in several of them counts once.</p>
`;

const budget = 2000;

const mostPublished = 10;

/** The classes, or properties, that most published queries name. */
function publishedTable(kind: "class" | "property", { terms }: PublishedFacts): Html {
  const all = [...terms.values()].filter((term) => term.kind === kind);
  if (all.length === 0) return html``;
  const [one, many, counted] =
    kind === "class" ? ["Class", "classes", "#Instances"] : ["Property", "properties", "#Triples"];
  const shown = all.toSorted((a, b) => b.uses - a.uses || (b.count ?? 0) - (a.count ?? 0)).slice(0, mostPublished);
  return table({
    name: `Published ${many}`,
    caption: `${shown.length} of ${numberText(all.length)} ${many} that are published.`,
    columns: [
      [one, ({ iri }) => termLink(kind, iri)],
      [counted, ({ count }) => (count === undefined ? undefined : numberText(count))],
      ["#Published queries", ({ uses }) => (uses === 0 ? "" : numberText(uses))],
    ],
    rows: shown,
  });
}

const mostQueries = 5;

/** Links to the console with queries that are written from shapes: those that most published queries have. */
function shapeLinks(id: string, { shapes }: PublishedFacts): Html {
  const items = shapes.slice(0, mostQueries).flatMap((shape) => {
    const example = shapeExample(shape);
    if (example === undefined) return [];
    const { query, words, seen } = example;
    const link = `/query#${new URLSearchParams({ endpoint: id, query }).toString()}`;
    return html`<li><a href="${link}">${plainText(words, 200)}</a>, ${seen}</li>\n`;
  });
  return items.length === 0 ? html`` : html`<p>Queries to begin with:</p>\n<ul>\n${items}</ul>\n`;
}

const publishedBody = (
  id: string,
  facts: PublishedFacts,
): Html => html`<p>What others say of it was ${facts.provenance}. It is not all that there is, and may be out of date.</p>
${publishedTable("class", facts)}${publishedTable("property", facts)}${shapeLinks(id, facts)}`;

/** Statistics, largest classes and the summary that agents get; of data that has not been described, what was published. */
export function dataBody({ description, freshness, parts, published }: ShownData, asker: Asker): Html {
  if (description === undefined) {
    return html`<p class="muted">The data has not been described yet.</p>
${published === undefined || published.terms.size === 0 ? "" : publishedBody(asker.id, published)}${askFor("describe", asker)}`;
  }
  const view = schemaView(description, { detail: "summary", maxTokens: budget, parts });
  const part = partSentence(parts);
  return html`<p>From ${sourceTexts[description.source]}, ${momentOf(description.finishedAt)}. ${freshnessTexts[freshness.state]}</p>
${part === undefined ? "" : html`<p>${part}</p>\n`}${description.namedGraphs === undefined ? "" : unionNote}${schemaPicture(description)}${viewHtml(descriptionView(view.json))}<details><summary>As agents read it</summary>
<pre tabindex="0" role="group" aria-label="Schema summary">${view.text}</pre></details>
<p><a href="/api/endpoints/${asker.id}/schema?detail=lines&amp;format=text">Classes with their properties</a></p>`;
}

type Construct = keyof Capabilities["constructs"];

/** In the order of the page. */
const names: Readonly<Record<Construct, string>> = {
  values: "VALUES",
  aggregates: "COUNT, SUM, AVG",
  aggregateTruth: "Aggregates over 100,000 solutions",
  groupHaving: "GROUP BY with HAVING",
  minus: "MINUS",
  subquery: "Subqueries",
  optional: "OPTIONAL",
  valuesUndef: "VALUES with UNDEF",
  notExists: "FILTER NOT EXISTS",
  zeroLengthPath: "Paths of length zero",
  blankNodes: "Blank nodes",
  typedLiterals: "Typed literals",
  oneString: "A string with and without datatype is one term",
  construct: "CONSTRUCT",
};

const notProbed = html`<span class="verdict none">not probed</span>`;

const verdictOf = (outcome: Capabilities["constructs"][Construct]): Html =>
  outcome === undefined ? notProbed : html`<span class="verdict ${outcome.verdict}">${outcome.verdict}</span>`;

const known = (value: number | undefined, unit: string): Html | string =>
  value === undefined ? notProbed : `${numberText(value)} ${unit}`;
const listed = (values: readonly string[]): string => (values.length === 0 ? "none worked" : values.join(", "));

function rowCapText({ rowCap, rowCapSilent, wholeRows }: Capabilities): Html | string {
  if (rowCap !== undefined) return `${numberText(rowCap)} rows${rowCapSilent ? ", without a word" : ""}`;
  return wholeRows === undefined ? notProbed : `not at ${numberText(wholeRows)} rows`;
}

/** Facts that queries have shown since. */
function learnedFact({ learned }: Capabilities): Html {
  if (learned === undefined) return html``;
  const { method, accept = {}, lacksValues, at } = learned;
  const found = [
    method === undefined ? [] : `asked by ${method}`,
    Object.entries(accept).map(([kind, type]) => `${kind} as ${type} alone`),
    lacksValues === undefined ? [] : `join keys as ${lacksValues ? "FILTER" : "VALUES"}`,
  ].flat();
  return fact("Learned from queries", html`${found.join("; ")}, ${momentOf(at)}`);
}

/** Probed capabilities, construct by construct. */
export function capabilitiesBody(capabilities: Capabilities | undefined, asker: Asker): Html {
  if (capabilities === undefined) {
    return html`<p class="muted">Nothing has been probed yet.</p>
${askFor("capabilities", asker)}`;
  }
  const {
    constructs,
    probedAt,
    methods,
    formats,
    maxValuesRows,
    maxUrlBytes,
    reachable,
    unfinished,
    predefinedPrefixes,
  } = capabilities;
  return html`<p class="muted">Probed at ${momentOf(probedAt)} by queries that touch no data, each with a known answer.${
    unfinished ? " The probing ended early." : ""
  }${reachable ? "" : " The endpoint did not answer."}</p>
${table({
  name: "Constructs",
  columns: [
    ["Construct", (construct) => names[construct]],
    ["Answer", (construct) => verdictOf(constructs[construct])],
    ["#Took", (construct) => (constructs[construct] ? latencyText(constructs[construct].durationMs) : "")],
    ["Instead", (construct) => constructs[construct]?.detail ?? ""],
  ],
  rows: probedConstructs,
})}<dl class="facts">
${fact("Request methods", listed(methods))}${fact("Answers are cut at", rowCapText(capabilities))}${fact("VALUES of up to", known(maxValuesRows, "rows"))}${fact("URLs of up to", known(maxUrlBytes, "bytes"))}${learnedFact(capabilities)}${fact("Formats", listed(formats), true)}${fact("Known without PREFIX", predefinedPrefixes && listed(Object.keys(predefinedPrefixes)))}</dl>`;
}
