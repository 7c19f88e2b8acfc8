import { type Html, html } from "../../html.ts";

/** The first query of the README, of the example endpoints that `base` hosts. */
export const exampleQuery = (base: string): string => `PREFIX dcterms: <http://purl.org/dc/terms/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX schema: <https://schema.org/>

SELECT ?name ?born ?city (COUNT(?work) AS ?works) WHERE {
  SERVICE <${base}/hosted/places/sparql> {
    ?place schema:containedInPlace ?country ; rdfs:label ?city .
    ?country dcterms:identifier "IS" .
    FILTER(LANG(?city) = "is")
  }
  SERVICE <${base}/hosted/people/sparql> {
    ?person schema:birthPlace ?place ; foaf:name ?name ; schema:birthDate ?born ; dcterms:identifier ?number .
  }
  SERVICE <${base}/hosted/museums/sparql> {
    ?artist schema:identifier ?number .
    ?work dcterms:creator ?artist .
  }
}
GROUP BY ?name ?born ?city
ORDER BY DESC(?works) ?born
LIMIT 12`;

/** Ids of the hosted endpoints that the example asks. */
export const exampleEndpoints = ["places", "people", "museums"] as const;

const command = (publicUrl: string, query: string): string =>
  `curl -s '${publicUrl}/sparql' -H 'Accept: text/csv' --data-urlencode 'query=${query}'`;

/** A command to paste: the README's first query where its endpoints are hosted, else one that needs no endpoint. */
export function tryIt({ publicUrl, hasExamples }: { readonly publicUrl: string; readonly hasExamples: boolean }): Html {
  const query = hasExamples ? exampleQuery(publicUrl) : "SELECT ?one WHERE { VALUES ?one { 1 } }";
  return html`<section class="card" aria-labelledby="try"><h2 id="try">Try it</h2>
<p>${
    hasExamples
      ? "Artists from Iceland, the cities they were born in, and how many of their works are in museums: one query over three endpoints."
      : "A query that needs no endpoint shows that the service answers."
  }</p>
<pre class="copy" tabindex="0" role="group" aria-label="Command to copy">${command(publicUrl, query)}</pre>
<p class="small muted">One click selects the whole command. <a href="/docs">How to use the API</a></p>
</section>
`;
}
