import type { CatalogEntry, Federation } from "../../registry/catalog/catalog.ts";
import { resultFormats } from "../../results/formats.ts";
import { consoleAssets } from "./assets.ts";
import { exampleQueries } from "./example-queries.ts";
import { readyQueries } from "./federation-page.ts";
import { type Html, html } from "../../html.ts";
import { page } from "./layout.ts";

/** Content of the query console. */
interface ShownConsole {
  readonly entries: readonly CatalogEntry[];
  readonly federations: readonly Federation[];
  /** The endpoints of the example query are hosted here. */
  readonly hasExamples: boolean;
}

/**
 * Style that the packages of the console put in from their scripts, by its hash: the handles between the columns of a
 * table, their cursor while one is dragged, and the underline in the editor's list of what it expected.
 */
const foreignStyles = [
  "'sha256-zCK2EVMoPc04mRF/g5CotUvxbJPWS+8V0b+s9ptqQIk='",
  "'sha256-c0O6TmFAkgpNbHxKAa1BrveWHHopjEtC47i0PzMudxg='",
  "'unsafe-hashes' 'sha256-EntWS0hFrz2vH7susM+dPUxvHlL6sBswmM8K80E5oUk='",
].join(" ");

/** The one page with a script: ours, which asks this service and no other. */
export const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${foreignStyles}`,
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const choice = (kind: string, { id, title }: { readonly id: string; readonly title: string }): Html =>
  html`<option value="${kind}:${id}">${title} (${id})</option>
`;

const group = (label: string, options: readonly Html[]): Html =>
  options.length === 0 ? html`` : html`<optgroup label="${label}">\n${options}</optgroup>\n`;

const firstQuery = "SELECT * WHERE {\n  ?subject ?property ?value .\n}\nLIMIT 10\n";

const targets = ({ entries, federations, hasExamples }: ShownConsole): Html =>
  html`<div class="half"><label for="target">Endpoint or federation</label><select id="target" data-first="${hasExamples ? exampleQueries.threeEndpoints : firstQuery}">
<option value="">None: the SERVICE clauses name the endpoints</option>
${group(
  "Federations",
  federations.map((each) => choice("federation", each)),
)}${group(
  "Endpoints",
  entries.map((each) => choice("endpoint", each)),
)}</select></div>
`;

const formatChoices = (graphs: boolean): readonly Html[] =>
  resultFormats
    .filter(({ kinds }) => kinds.includes("quads") === graphs)
    .map(
      ({ name, mediaType }) =>
        html`<option value="${mediaType}" data-extension="${extensions[name]}">${mediaType}</option>\n`,
    );

const extensions: Readonly<Record<(typeof resultFormats)[number]["name"], string>> = {
  json: "srj",
  xml: "srx",
  csv: "csv",
  tsv: "tsv",
  turtle: "ttl",
  ntriples: "nt",
  jsonld: "jsonld",
  rdfxml: "rdf",
  n3: "n3",
  trig: "trig",
  nquads: "nq",
  boolean: "txt",
};

const form = (shown: ShownConsole): Html => html`<form class="card" id="ask" aria-label="Query">
<div class="filters">
${targets(shown)}<div class="half"><span class="label" id="examples-label">Examples</span><ul class="choices" id="examples" aria-labelledby="examples-label">
${shown.hasExamples ? html`<li><button type="button" data-query="${exampleQueries.threeEndpoints}">Artists from Iceland: three endpoints</button></li>\n` : ""}<li><button type="button" data-query="SELECT ?one WHERE { VALUES ?one { 1 } }">One row from no endpoint</button></li>
<li><button type="button" data-query="${exampleQueries.registry}">Uptime of the endpoints, from the registry</button></li>
${readyQueries(shown.hasExamples).map(({ federation = "*", title, query }) => html`<li data-federation="${federation}" hidden><button type="button" data-query="${query}">${title}</button></li>\n`)}</ul></div>
</div>
<p class="small muted" id="described" hidden>This endpoint has not been described yet, so its classes and properties are not completed. Its page says how to have that done.</p>
<div id="editor"></div>
<div class="act"><button>Run</button><button type="button" class="second" id="stop" hidden>Stop</button>
<label class="tick"><input type="checkbox" id="partial"> Take what can be had when an endpoint fails</label></div>
<p class="small muted">Ctrl+Enter runs the query, Ctrl+Space completes, Tab leaves the editor. What you type stays here until you run it.</p>
<div class="act"><button type="button" class="second" id="share">Copy link</button>
<label class="hidden" for="format">Format of the download</label><select id="format">
<optgroup label="Tables" id="tables">
${formatChoices(false)}</optgroup>
<optgroup label="Graphs" id="graphs">
${formatChoices(true)}</optgroup>
</select><button type="button" class="second" id="download">Download</button></div>
<div id="shared" hidden><label for="link">Link to this query</label><input id="link" readonly></div>
</form>
`;

/** The query console: an editor, the answer, its plan, and what each endpoint contributed. */
export function consolePage(shown: ShownConsole): string {
  const { script, stylesheet } = consoleAssets();
  return page({
    title: "Query - Fedway",
    part: "query",
    head: html`<link rel="stylesheet" href="${stylesheet}">
<script type="module" src="${script}"></script>
`,
    main: html`<h1>Query</h1>
<noscript><p class="banner">The console needs JavaScript. Without it, <a href="/docs">send queries</a> with any SPARQL client.</p></noscript>
${form(shown)}<p id="state" role="status"></p>
<div id="problem" class="banner down" role="alert" hidden></div>
<div class="columns asked"><section class="card" aria-labelledby="answer-title" id="answer" hidden><h2 id="answer-title">Answer</h2><div id="results"></div></section>
<section class="card" aria-labelledby="plan-title"><h2 id="plan-title">Plan</h2><div id="plan"><p class="muted">Run the query to see who is asked for what.</p></div></section></div>`,
  });
}
