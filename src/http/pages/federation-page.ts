import { unknownId } from "../../errors/unknown-id.ts";
import type { Federation } from "../../registry/catalog.ts";
import type { Finder } from "../../registry/find.ts";
import { splitOver } from "../../registry/schema.ts";
import { type Html, html, joined } from "../../html.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { IdPath } from "../schemas.ts";
import { catalogPathBy } from "./catalog-filter.ts";
import { exampleQueries, hasExamples } from "./example-queries.ts";
import { amountText, numberText } from "../../figures.ts";
import { termLink, uptimeOf } from "./figures.ts";
import { linkQuery, linksAmong, membersPicture } from "./link-pictures.ts";
import { badge, consolePath, endpointLink, fact, page, section, table, toCopy } from "./layout.ts";
import { sendPage } from "./page-reply.ts";
import { probesIn } from "./status-rows.ts";

/** Content of a federation's page. */
async function shownFederation(shell: HttpShell, id: string) {
  const { catalog, finder, monitor, models, publicUrl } = shell;
  const federation = catalog.federation(id);
  if (federation === undefined) throw unknownId("federation", id, catalog);
  const entries = catalog.membersOf(federation);
  const { hits } = await finder.filterEntriesInTurns(entries, { limit: entries.length, offset: 0 });
  return {
    federation,
    members: hits.map(({ entry, status }) => ({
      entry,
      status,
      hours: monitor.health(entry.id)?.hours ?? [],
      terms: finder.termCounts(entry.id),
    })),
    links: linksAmong(models, entries),
    missing: federation.members.filter((each) => catalog.byId(each) === undefined),
    split: splitOver(entries, shell),
    isExample: id === "examples" && hasExamples(shell),
    publicUrl: publicUrl(),
  };
}

type ShownFederation = Awaited<ReturnType<typeof shownFederation>>;

/** `/federations/{id}`. */
export const addFederationPage = (app: TypedApp, shell: HttpShell): void =>
  void app.get("/federations/:id", {
    schema: { tags: ["Pages"], summary: "One federation as a page to read", params: IdPath },
    handler: async (request, reply) =>
      sendPage(request, reply, federationPage(await shownFederation(shell, request.params.id))),
  });

const countOf = (terms: ReturnType<Finder["termCounts"]>, kind: "classes" | "properties"): string | undefined =>
  terms && `${terms.complete ? "" : "≥ "}${numberText(terms[kind])}`;

function membersBody({ members, missing }: ShownFederation): Html {
  const unknown = members.filter(({ terms }) => terms === undefined).length;
  return html`${
    members.length === 0
      ? html`<p>It has no member in the catalogue.</p>`
      : table({
          name: "Members",
          columns: [
            ["Endpoint", ({ entry: { id, title } }) => endpointLink(id, title)],
            ["State", ({ status }) => badge(status)],
            ["#Up, 24 h", ({ hours }) => uptimeOf(probesIn(hours))],
            ["#Classes", ({ terms }) => countOf(terms, "classes")],
            ["#Properties", ({ terms }) => countOf(terms, "properties")],
          ],
          rows: members,
        })
  }${
    unknown === 0
      ? ""
      : html`<p class="muted">${amountText(unknown, "member")} of ${numberText(members.length)} ${unknown === 1 ? "has" : "have"} not been described.</p>
`
  }${missing.length === 0 ? "" : html`<p class="muted">Named, but not in the catalogue: ${missing.join(", ")}.</p>\n`}`;
}

const splitSources = { builder: "as the shard builder says", derived: "from their descriptions" } as const;

const splitBody = (split: ReturnType<typeof splitOver>): Html =>
  table({
    name: "Classes at several members",
    columns: [
      ["Class", (each) => termLink("class", each.class)],
      [
        "Members",
        ({ members }) =>
          joined(
            members.map((id) => endpointLink(id)),
            ", ",
          ),
      ],
      ["How it is known", ({ source }) => splitSources[source]],
    ],
    rows: split.slice(0, mostSplit),
  });

const mostSplit = 20;

/** A query to start from. */
interface ReadyQuery {
  /** The only federation that it is for. */
  readonly federation?: string;
  readonly title: string;
  readonly query: string;
}

const prefixes = `PREFIX dcterms: <http://purl.org/dc/terms/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
`;

const general: readonly ReadyQuery[] = [
  { title: "Which classes are there?", query: "SELECT DISTINCT ?class WHERE { ?thing a ?class } LIMIT 50" },
  {
    title: "Things and their names",
    query: `${prefixes}
SELECT ?thing ?name WHERE { ?thing rdfs:label|foaf:name|dcterms:title ?name } LIMIT 20`,
  },
];

const examples: ReadyQuery = {
  federation: "examples",
  title: "Artists from Iceland, and how many of their works are in museums",
  query: exampleQueries.oneDataset,
};

/** Queries to start from at a federation; those of the example endpoints where they are hosted. */
export const readyQueries = (isHosted: boolean): readonly ReadyQuery[] => (isHosted ? [examples, ...general] : general);

function askBody({ federation: { id }, links, isExample, publicUrl }: ShownFederation): Html {
  const ready = isExample ? readyQueries(true) : [linkQuery(links) ?? [], readyQueries(false)].flat();
  const command = ({ query }: ReadyQuery): string =>
    `curl -s '${publicUrl}/federations/${id}/sparql' -H 'Accept: text/csv' \\\n  --data-urlencode 'query=${query}'`;
  return html`<p>Its SPARQL route here is <a href="/federations/${id}/sparql"><code>/federations/${id}/sparql</code></a>. No <code>SERVICE</code> is needed: each pattern is asked at every member, and their answers are one graph.</p>
${ready.map(
  (each, at) => html`<h3>${each.title}</h3>
<p class="act"><a${at === 0 ? html` class="button"` : ""} href="${consolePath(each.query, { federation: id })}">Open in the query console</a></p>
${toCopy(each.title, command(each))}
`,
)}`;
}

function howFound({ memberKeywords, memberQuery, builtIn }: Federation): Html | undefined {
  const ways = [
    ...(builtIn ? ["all that are described"] : []),
    ...memberKeywords.map((each) => html`keyword <a href="${catalogPathBy("keyword", each)}">${each}</a>`),
    ...(memberQuery === undefined ? [] : [`search for "${memberQuery}"`]),
  ];
  return ways.length === 0 ? undefined : html`${joined(ways, ", ")}`;
}

/** The page of one federation: who belongs to it, what is known of them, and how it is asked. */
function federationPage(shown: ShownFederation): string {
  const { federation, members, split } = shown;
  const { id, title, description } = federation;
  return page({
    title,
    main: html`<p class="crumbs"><a href="/federations">Federations</a> / <code>${id}</code></p>
<h1>${title}</h1>
<p class="lead">${description ?? html`<span class="muted">No description was given.</span>`}</p>
<div class="columns"><div>
${section("members", amountText(members.length, "member"), membersBody(shown))}
${section(
  "links",
  "What they share",
  membersPicture(
    members.map(({ entry }) => entry),
    shown.links,
  ),
)}
${split.length === 0 ? "" : section("split", "What is split", splitBody(split))}
${section("ask", "Ask it", askBody(shown))}
</div>
<div>
${section(
  "facts",
  "About",
  html`<dl class="facts">
${fact("Id", html`<code>${id}</code>`)}${fact("Members by", howFound(federation), true)}</dl>`,
)}
${section(
  "documents",
  "For programs",
  html`<ul class="plain">
<li><a href="/api/federations/${id}">Federation as JSON</a>, <a href="/api/federations/${id}?format=turtle">as Turtle</a></li>
</ul>`,
)}
</div></div>`,
  });
}
