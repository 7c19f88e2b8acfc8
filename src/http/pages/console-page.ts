import type { HttpShell, TypedApp } from "../http-deps.ts";
import { consoleAssets } from "./assets.ts";
import { exampleQueries, hasExamples } from "./example-queries.ts";
import { readyQueries } from "./federation-page.ts";
import { type Html, html } from "../../html.ts";
import { page } from "./layout.ts";
import { policyWith, sendPage } from "./page-reply.ts";

/**
 * Style that the packages of the console put in from their scripts, by its hash: the handles between the columns of a
 * table, their cursor while one is dragged, and the underline in the editor's list of what it expected.
 */
const foreignStyles = [
  "'sha256-zCK2EVMoPc04mRF/g5CotUvxbJPWS+8V0b+s9ptqQIk='",
  "'sha256-c0O6TmFAkgpNbHxKAa1BrveWHHopjEtC47i0PzMudxg='",
  "'unsafe-hashes' 'sha256-EntWS0hFrz2vH7susM+dPUxvHlL6sBswmM8K80E5oUk='",
].join(" ");

/** A script of ours, which asks this service and no other. */
const consolePolicy = policyWith({
  "script-src": "'self'",
  "style-src": `'self' ${foreignStyles}`,
  "font-src": "'self' data:",
  "connect-src": "'self'",
});

const choice = (kind: string, { id, title }: { readonly id: string; readonly title: string }): Html =>
  html`<option value="${kind}:${id}">${title} (${id})</option>
`;

const group = (label: string, options: readonly Html[]): Html =>
  options.length === 0 ? html`` : html`<optgroup label="${label}">\n${options}</optgroup>\n`;

function targets({ catalog }: HttpShell): Html {
  const own = catalog.byId("registry");
  const entries = own?.builtIn ? [...catalog.entries, own] : catalog.entries;
  return html`<label class="half"><span class="label">Endpoint or federation</span><select class="target">
<option value="">None: the SERVICE clauses name the endpoints</option>
${group(
  "Federations",
  catalog.federations.map((each) => choice("federation", each)),
)}${group(
  "Endpoints",
  entries.map((each) => choice("endpoint", each)),
)}</select></label>
`;
}

/** Example of a query for no target (`none`), any endpoint, any federation, or one by its id. */
const example = (target: string, title: string, query: string): Html =>
  html`<li data-for="${target}" hidden><button type="button" data-example="${query}">${title}</button></li>\n`;

const examples = (isHosted: boolean): Html => html`<ul class="tags choices">
${isHosted ? example("none", "Artists from Iceland: three endpoints", exampleQueries.threeEndpoints) : ""}${example("none", "One row from no endpoint", "SELECT ?one WHERE { VALUES ?one { 1 } }")}${example("none", "Uptime of the endpoints, from the registry", exampleQueries.registry)}${example("endpoint", "Classes", classesQuery)}${example("endpoint", "Ten triples", tenTriples)}${readyQueries(isHosted).map(({ federation, title, query }) => example(federation ?? "federation", title, query))}</ul>`;

const tenTriples = "SELECT * WHERE {\n  ?subject ?property ?value .\n}\nLIMIT 10";
const classesQuery =
  "SELECT ?class (COUNT(?thing) AS ?things) WHERE {\n  ?thing a ?class .\n}\nGROUP BY ?class\nORDER BY DESC(?things)\nLIMIT 50";

/** Parts that the script adds to each tab of YASGUI: above the editor, and between editor and result. */
const panel = (shell: HttpShell): Html => html`<template id="panel">
<div class="ask filters">
${targets(shell)}<div class="half examples"><span class="label">Examples</span>${examples(hasExamples(shell))}</div>
</div>
<div class="asked">
<div class="act"><button type="button" class="run">Run</button><button type="button" class="cancel second">Cancel</button>
<label class="tick"><input type="checkbox" class="partial"> Allow partial results</label>
<button type="button" class="share second">Copy link</button>
<span class="copied" role="status"></span></div>
<p class="small muted">Ctrl+Enter runs the query, Ctrl+Space completes, Tab leaves the editor.</p>
<div class="outcome"><span class="state" role="status"></span> <span class="elapsed"></span></div>
<div class="problem" role="alert"></div>
<div class="planned"></div>
</div>
</template>`;

/** The query console: tabs with an editor, the answer, and how it came about. */
function consolePage(shell: HttpShell): string {
  const { script, stylesheet } = consoleAssets();
  return page({
    title: "Query",
    part: "query",
    head: html`<link rel="stylesheet" href="${stylesheet}">
<script type="module" src="${script}"></script>
`,
    main: html`<h1>Query</h1>
<noscript><p class="banner">The console needs JavaScript. Without it, <a href="/docs">send queries</a> with any SPARQL client.</p></noscript>
<div class="card" id="yasgui" data-first="${hasExamples(shell) ? exampleQueries.threeEndpoints : tenTriples}"></div>
<details class="small"><summary>Where tabs and drafts are kept</summary><p>In this browser only, until they have not been changed for 30 days. Answers are not kept. <button type="button" class="second" id="forget">Delete all tabs and drafts</button></p></details>
${panel(shell)}`,
  });
}

/** `/query`: the console. */
export const addConsole = (app: TypedApp, shell: HttpShell): void =>
  void app.get("/query", {
    schema: { tags: ["Pages"], summary: "A console for queries, as a page with a script" },
    handler: async (request, reply) =>
      sendPage(request, reply, { text: consolePage(shell), headers: { "Content-Security-Policy": consolePolicy } }),
  });
