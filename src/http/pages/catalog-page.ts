import type { CatalogEntry } from "../../registry/catalog.ts";
import type { EntryFilter, EntryPage } from "../../registry/find.ts";
import { type HealthState, healthStates } from "../../monitor/monitor.ts";
import type { EntryDescription } from "../catalog-view.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { foundEntries } from "../found-entries.ts";
import { catalogPath, catalogPathBy, filterParameters, readCatalogFilter } from "./catalog-filter.ts";
import { amountText, numberText } from "../../figures.ts";
import { heartbeatBanner } from "./figures.ts";
import { type Html, html, joined, link } from "../../html.ts";
import { exampleQueries, hasExamples } from "./example-queries.ts";
import { badge, choiceField, choicesOf, consolePath, page, toCopy } from "./layout.ts";
import { searchOf } from "./list-page.ts";
import { sendPage } from "./page-reply.ts";

/** Content of the catalogue page. */
interface ShownCatalog {
  readonly shell: HttpShell;
  readonly filter: EntryFilter;
  readonly found: Awaited<ReturnType<typeof foundEntries>>;
}

const stateOrder: readonly HealthState[] = ["up", "degraded", "flapping", "unknown", "down"];

function workingFirst({ catalog, monitor }: HttpShell): readonly CatalogEntry[] {
  const states = new Map(monitor.all().map(({ endpoint, state }) => [endpoint, state]));
  const byState = Map.groupBy(catalog.entries, ({ id }) => states.get(id) ?? "unknown");
  return stateOrder.flatMap((state) => byState.get(state) ?? []);
}

/** `/`: the catalogue with search and filters. */
export const addCatalogPage = (app: TypedApp, shell: HttpShell): void =>
  void app.get("/", {
    schema: { tags: ["Pages"], summary: "The endpoints of the catalogue, with search and filters, as a page to read" },
    handler: async (request, reply) => {
      const filter = readCatalogFilter(searchOf(request));
      const found = await foundEntries(shell, filter, workingFirst(shell));
      return sendPage(request, reply, catalogPage({ shell, filter, found }));
    },
  });

export const interfaceNames: Readonly<Record<CatalogEntry["interface"], string>> = {
  sparql: "SPARQL",
  tpf: "Triple Pattern Fragments",
  file: "RDF file",
};

const termField = (name: "class" | "property", value: string | undefined): Html =>
  html`<div class="half"><label for="${name}">Has the ${name}</label><input id="${name}" name="${name}" maxlength="2048" value="${value ?? ""}" placeholder="IRI, prefix:name or name"></div>
`;

function searchForm({ filter }: ShownCatalog): Html {
  return html`<form class="card" role="search" action="/" method="get" aria-label="Endpoints">
<div class="filters">
<div class="long"><label for="q">Search</label><input type="search" id="q" name="q" maxlength="500" value="${filter.q ?? ""}" placeholder="Words of titles, descriptions, classes, properties"></div>
<div class="third"><label for="keyword">Keyword</label><input id="keyword" name="keyword" maxlength="200" value="${filter.keyword ?? ""}"></div>
<div class="third">${choiceField({ name: "status", label: "Status", value: filter.status, choices: choicesOf(healthStates) })}</div>
<div class="third">${choiceField({ name: "interface", label: "Interface", value: filter.interface, choices: { "": "Any", ...interfaceNames } })}</div>
</div>
<details${filter.class === undefined && filter.property === undefined ? "" : html` open`}><summary>By class or property</summary>
<div class="filters">
${termField("class", filter.class)}${termField("property", filter.property)}</div></details>
<div class="act"><button>Search</button>${isFiltered(filter) ? html`<a href="/">Show all endpoints</a>` : ""}</div>
</form>
`;
}

const isFiltered = (filter: EntryFilter): boolean => filterParameters({ ...filter, offset: 0 }).size > 0;

type Match = EntryPage["hits"][number]["why"][number];

const reason = (field: string, matches: readonly Match[]): Html => {
  const matched = [...new Set(matches.map((match) => match.matched))];
  return html`${field} ${joined(
    matched.map((text) => html`<mark>${text}</mark>`),
    " ",
  )}`;
};

const whyText = (why: readonly Match[]): Html | undefined =>
  why.length === 0
    ? undefined
    : html`<p class="why">Found by ${joined(
        [...Map.groupBy(why, ({ field }) => field)].map(([field, matches]) => reason(field, matches)),
        ", ",
      )}</p>`;

/** Keywords as links to what else has them. */
export const keywordTags = (keywords: readonly string[]): Html | undefined =>
  keywords.length === 0
    ? undefined
    : html`<ul class="tags" aria-label="Keywords">${keywords.map(
        (keyword) => html`<li><a href="${catalogPathBy("keyword", keyword)}">${keyword}</a></li>`,
      )}</ul>`;

/** A description, marked where Fedway made it. */
export function descriptionText(description: EntryDescription | undefined): Html {
  if (description === undefined) return html`<span class="muted">No description was given.</span>`;
  const { text, generated } = description;
  return html`${text}${generated ? html` <span class="made" title="The operator gave no description">generated from its data</span>` : ""}`;
}

const mostTags = 8;

/** True if the order shows which endpoints work. */
const isByState = ({ found: { hits }, filter }: ShownCatalog): boolean =>
  filter.q === undefined && hits.length > 1 && hits.some(({ status }) => status !== "unknown");

function hitItem({ entry, status, why }: EntryPage["hits"][number], description: EntryDescription | undefined): Html {
  const { id, title, engine, homepage, keywords } = entry;
  const about = [
    html`<code>${id}</code>`,
    interfaceNames[entry.interface],
    engine,
    homepage === undefined ? undefined : link(homepage, "home page"),
  ];
  return html`<li class="hit"><div class="titled"><h3><a href="/endpoints/${id}">${title}</a></h3>${badge(status)}</div>
<p class="meta">${joined(about, " · ")}</p>
<p>${descriptionText(description)}</p>
${keywordTags(keywords.slice(0, mostTags))}${whyText(why)}
</li>
`;
}

function pager({ filter, found }: ShownCatalog): Html {
  const { limit, offset } = filter;
  if (offset === 0 && found.total <= limit) return html``;
  const last = Math.min(found.total, offset + limit);
  const before =
    offset === 0
      ? html`<span></span>`
      : html`<a rel="prev" href="${catalogPath({ ...filter, offset: Math.max(0, offset - limit) })}">Previous</a>`;
  const after =
    last >= found.total
      ? html`<span></span>`
      : html`<a rel="next" href="${catalogPath({ ...filter, offset: offset + limit })}">Next</a>`;
  return html`<nav class="pages" aria-label="Pages">${before}<span class="muted">${numberText(Math.min(offset + 1, last))} to ${numberText(last)} of ${numberText(found.total)}</span>${after}</nav>
`;
}

function undecidedText({ found }: ShownCatalog): Html {
  if (found.undecided === 0) return html``;
  return html`<p class="muted">${amountText(found.undecided, "more endpoint")} may have it too: the description is missing or incomplete.</p>
`;
}

function togetherText({ found: { federations } }: ShownCatalog): Html {
  if (federations.length === 0) return html``;
  const links = federations.map(({ id, title }) => html`<a href="/federations/${id}">${title}</a>`);
  return html`<p>What you look for lies at several members of ${joined(links, ", ")}.</p>
`;
}

function nothing({ shell: { catalog }, filter, found }: ShownCatalog): Html {
  const all = catalog.entries.length;
  if (all === 0) return html`<p class="card">The catalogue is empty.</p>`;
  if (found.total > 0)
    return html`<p class="card">There is no such page. <a href="${catalogPath({ ...filter, offset: 0 })}">Go to the first one</a></p>`;
  return html`<p class="card">No endpoint fits all of this. Try fewer words, or <a href="/">show all ${numberText(all)}</a>.</p>`;
}

function results(shown: ShownCatalog): Html {
  const { found, filter, shell } = shown;
  const all = shell.catalog.entries.length;
  const { hits, total } = found;
  const heading = isFiltered(filter)
    ? `${numberText(total)} of ${amountText(all, "endpoint")}`
    : amountText(all, "endpoint");
  const { size } = filterParameters(filter);
  const asJson = size === 0 ? "/api/endpoints" : `/api/endpoints?${filterParameters(filter).toString()}`;
  return html`<section aria-labelledby="found">
<div class="found"><h2 id="found">${heading}</h2>${isByState(shown) ? html`<span class="small muted">working ones first</span>` : ""}<a class="small" href="${asJson}">as JSON</a></div>
${undecidedText(shown)}${togetherText(shown)}${
  hits.length === 0
    ? nothing(shown)
    : html`<ol class="hits">
${hits.map((hit) => hitItem(hit, shell.view.description(hit.entry)))}</ol>
`
}${pager(shown)}</section>
`;
}

const otherPages = [
  { path: "/watches", text: "Watched queries" },
  { path: "/jobs", text: "Jobs in the background" },
];

const pointers = ({
  publicUrl,
  routes = [],
}: HttpShell): Html => html`<section class="card" aria-labelledby="more"><h2 id="more">More</h2>
<ul class="plain">
${[...otherPages, ...routes.flatMap((each) => each.page ?? [])].map(({ path, text }) => html`<li><a href="${path}">${text}</a></li>\n`)}<li><a href="/sparql">SPARQL</a> <code>${publicUrl()}/sparql</code></li>
<li><a href="/docs">API</a> and <a href="/openapi.json">OpenAPI document</a></li>
<li><a href="/api/endpoints">Catalogue as JSON</a>, <a href="/api/catalog">as RDF</a></li>
<li><a href="/incidents.atom">Incidents as a feed</a></li>
</ul>
</section>
`;

/** The catalogue: search, filters, and the endpoints that fit. */
function catalogPage(shown: ShownCatalog): string {
  const { filter, shell } = shown;
  return page({
    title: filter.q ?? "SPARQL endpoints",
    part: "endpoints",
    main: html`<h1>SPARQL endpoints</h1>
<p class="lead">One SPARQL query in, the answer from the right endpoints out. Find out here which endpoints there are, what they hold and how they are doing.</p>
${heartbeatBanner(shell.monitor.heartbeat())}${searchForm(shown)}<div class="columns"><div>
${results(shown)}</div>
<div>
${tryIt(shell)}${pointers(shell)}</div></div>`,
  });
}

const command = (publicUrl: string, query: string): string =>
  `curl -s '${publicUrl}/sparql' -H 'Accept: text/csv' --data-urlencode 'query=${query}'`;

/** A command to paste: the README's first query where its endpoints are hosted, else one that needs no endpoint. */
function tryIt(shell: HttpShell): Html {
  const hosted = hasExamples(shell);
  const query = hosted ? exampleQueries.threeEndpoints : "SELECT ?one WHERE { VALUES ?one { 1 } }";
  return html`<section class="card" aria-labelledby="try"><h2 id="try">Try it</h2>
<p>${
    hosted
      ? "Artists from Iceland, the cities they were born in, and how many of their works are in museums: one query over three endpoints."
      : "A query that needs no endpoint shows that the service answers."
  }</p>
<p><a href="${consolePath(query)}">Open this query in the console</a></p>
${toCopy("Command to copy", command(shell.publicUrl(), query))}
<p class="small muted">One click selects the whole command. <a href="/docs">How to use the API</a></p>
</section>
`;
}
