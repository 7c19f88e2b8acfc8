import type { CatalogEntry } from "../registry/catalog.ts";
import { type Html, html, link, page } from "./html.ts";

const entry = ({
  id,
  title,
  description,
  homepage,
}: CatalogEntry): Html => html`<dt id="${id}">${title} <code>${id}</code></dt>
<dd>${description ?? "No description was given."}</dd>
<dd><a href="/endpoints/${id}/sparql">/endpoints/${id}/sparql</a>${homepage === undefined ? "" : html` · ${link(homepage, "homepage")}`}</dd>
`;

const example = (publicUrl: string): string =>
  `curl -s '${publicUrl}/sparql' -H 'Accept: text/csv' --data-urlencode 'query=SELECT ?one WHERE { VALUES ?one { 1 } }'`;

/** The page at `/`: what this is, where the API is described, and the endpoints with their descriptions. */
export function landingPage(shown: {
  readonly entries: readonly CatalogEntry[];
  readonly version: string;
  readonly publicUrl: string;
}): string {
  const { entries, version, publicUrl } = shown;
  const list = entries.length === 0 ? html`<p>The catalogue is empty.</p>` : html`<dl>${entries.map(entry)}</dl>`;
  return page(
    "Fedway",
    html`<header>
<h1>Fedway</h1>
<p>One SPARQL query in, the answer from the right endpoints out.</p>
<nav aria-label="Interfaces"><ul>
<li><a href="/docs">How to use the API</a> (<a href="/openapi.json">OpenAPI</a>)</li>
<li><a href="/api/endpoints">The catalogue as JSON</a></li>
<li><a href="/sparql">Service description</a> of <code>${publicUrl}/sparql</code></li>
<li><a href="/health/ready">Readiness</a> and <a href="/metrics">metrics</a></li>
</ul></nav>
</header>
<main>
<h2>Try it</h2>
<pre tabindex="0">${example(publicUrl)}</pre>
<h2>Endpoints (${entries.length})</h2>
${list}
</main>
<footer>Fedway ${version}</footer>`,
  );
}
