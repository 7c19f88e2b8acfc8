import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { namedNode, Store } from "oxigraph";
import { describe, expect, it } from "vitest";
import { exampleData, exampleIds } from "../../../src/hosting/examples/example-data.ts";

const urlOf = (id: string) => `http://127.0.0.1:3000/hosted/${id}/sparql`;

/** The oracle: each endpoint's data in a named graph, SERVICE read as GRAPH. */
const oracle = new Store();
for (const id of exampleIds) {
  oracle.load(exampleData(id), { format: "application/n-triples", to_graph_name: namedNode(urlOf(id)) });
}
const prologue = `PREFIX schema: <https://schema.org/> PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX dcterms: <http://purl.org/dc/terms/> PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> `;
const inGraph = (id: string, pattern: string) => `GRAPH <${urlOf(id)}> { ${pattern} }`;

function rows(query: string): string[][] {
  const tsv = oracle.query(query, { results_format: "text/tab-separated-values" });
  if (typeof tsv !== "string") throw new TypeError("not serialised");
  return tsv
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split("\t"));
}
const shouldCount =
  (expected: number, ...patterns: readonly string[]) =>
  () =>
    expect(rows(`${prologue} SELECT (COUNT(*) AS ?n) { ${patterns.join(" ")} }`)).toEqual([[String(expected)]]);

describe("the example data", () => {
  it("has five endpoints", () => expect(exampleIds).toEqual(["museums", "people", "places", "library", "weather"]));
  it("is the same on every machine", () => {
    const hash = createHash("sha256");
    for (const id of exampleIds) hash.update(exampleData(id));
    expect(hash.digest("hex")).toBe("2790c28cdc7f5704fb1520a7ac243e77d247dc2a375acb075223ce2846d166f6");
  });
  it("has about 20,000 triples", () => expect(oracle.size).toBe(21466));
  it("refuses an unknown endpoint", () => expect(() => exampleData("nobody")).toThrow(RangeError));
  for (const [id, triples] of Object.entries({
    museums: 6781,
    people: 7180,
    places: 2040,
    library: 4065,
    weather: 1400,
  })) {
    it(`has no duplicates in ${id}`, shouldCount(triples, inGraph(id, "?s ?p ?o")));
  }
});

describe("how the endpoints overlap", () => {
  const artist = inGraph("museums", "?a schema:identifier ?number . ?a a schema:Person");
  it("museums and people share literals", shouldCount(365, artist, inGraph("people", "?p dcterms:identifier ?number")));
  it(
    "people point to the museums' IRIs",
    shouldCount(365, inGraph("people", "?p owl:sameAs ?a"), inGraph("museums", "?a a schema:Person")),
  );
  it(
    "people point to places",
    shouldCount(620, inGraph("people", "?p schema:birthPlace ?c"), inGraph("places", "?c a schema:City")),
  );
  it(
    "country codes are literals in three endpoints",
    shouldCount(
      1559,
      inGraph("people", "?p schema:nationality ?code"),
      inGraph("places", "?c dcterms:identifier ?code"),
      inGraph("museums", "?m schema:addressCountry ?code"),
    ),
  );
  it(
    "books are about IRIs of people",
    shouldCount(
      380,
      inGraph("library", "?b a schema:Book ; dcterms:subject ?p"),
      inGraph("people", "?p a foaf:Person"),
    ),
  );
  it(
    "the library's persons are those of people",
    shouldCount(255, inGraph("library", "?a a foaf:Person ; owl:sameAs ?p"), inGraph("people", "?p a foaf:Person")),
  );
  it("artworks are split: museums", shouldCount(750, inGraph("museums", "?w a schema:VisualArtwork")));
  it("artworks are split: library", shouldCount(160, inGraph("library", "?w a schema:VisualArtwork")));
  it(
    "no artwork is in both",
    shouldCount(0, inGraph("museums", "?w a schema:VisualArtwork"), inGraph("library", "?w a schema:VisualArtwork")),
  );
  it(
    "persons have two classes and three ways to write a name",
    shouldCount(
      3,
      "SELECT DISTINCT ?g ?p { VALUES ?p { foaf:name schema:name } GRAPH ?g { ?s ?p ?n ; a ?c } VALUES ?c { foaf:Person schema:Person } }",
    ),
  );
  it("schema:geo is in two endpoints", shouldCount(2, "SELECT DISTINCT ?g { GRAPH ?g { ?s schema:geo ?o } }"));
  it(
    "nobody needs the weather",
    shouldCount(0, inGraph("weather", "?s ?p ?o"), "GRAPH ?g { ?x ?y ?s }", `FILTER(?g != <${urlOf("weather")}>)`),
  );
  it(
    "has blank nodes in three endpoints",
    shouldCount(3, "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o FILTER(isBlank(?o)) } }"),
  );
  it(
    "has eleven languages",
    shouldCount(11, 'SELECT DISTINCT ?l { GRAPH ?g { ?s ?p ?o BIND(LANG(?o) AS ?l) } FILTER(?l != "") }'),
  );
  it(
    "has five datatypes beside strings",
    shouldCount(
      5,
      "SELECT DISTINCT ?d { GRAPH ?g { ?s ?p ?o BIND(DATATYPE(?o) AS ?d) } FILTER(?d NOT IN (xsd:string, <http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>)) }",
    ),
  );
  it(
    "nobody dies before birth or paints after death",
    shouldCount(
      0,
      inGraph("people", "?p schema:deathDate ?d ; owl:sameAs ?a ; schema:birthDate ?b"),
      inGraph("museums", "?w dcterms:creator ?a ; schema:dateCreated ?y"),
      "FILTER(?d < ?b || xsd:integer(STR(?y)) > YEAR(?d))",
    ),
  );
});

const file = (name: string) =>
  readFileSync(new URL(`../../../catalog/examples/queries/${name}`, import.meta.url), "utf8");
const asGraph = (query: string) => {
  const services = query.split("SERVICE ").length - 1;
  return { services, query: query.replaceAll("SERVICE ", "GRAPH ") };
};

describe("the example queries", () => {
  it("1 joins three endpoints", () => {
    const { services, query } = asGraph(file("1-three-endpoints.rq"));
    expect(services).toBe(3);
    const found = rows(query).map((row) => row.map((cell) => cell.replace(/"([^"]*)".*/, "$1")).join(", "));
    expect(found).toEqual([
      "Einar Þorsteinsson, 1902-02-17, Rauðafjörður, 6",
      "Ólafur Þorsteinsson, 1849-09-17, Rauðaeyri, 5",
      "Helga Pálsdóttir, 1787-06-06, Skálavík, 4",
      "Sigríður Eiríksdóttir, 1792-02-13, Brimvík, 4",
      "Þórður Magnússon, 1809-01-15, Sandnes, 4",
      "Ásta Jónsdóttir, 1813-10-14, Rauðaeyri, 4",
      "Björn Ólafsson, 1822-03-17, Skálanes, 3",
      "Einar Þorsteinsson, 1882-02-24, Hvammseyri, 3",
      "Helga Jónsdóttir, 1891-12-27, Rauðafjörður, 3",
      "Guðrún Pálsdóttir, 1931-12-28, Rauðavík, 3",
      "Guðrún Eiríksdóttir, 1942-07-16, Skálavík, 3",
      "Ólafur Sigurðsson, 1958-02-25, Sandnes, 3",
    ]);
  });
  it("2 asks all five", () => {
    const { services, query } = asGraph(file("2-union-over-all.rq"));
    expect(services).toBe(5);
    const found = rows(query).map(([source, , , text]) => `${source} ${text}`);
    expect(found).toEqual([
      '"library" "Skálavík, etching no. 145"@en',
      '"library" "Skálavík, etching no. 81"@en',
      '"library" "Skálavík, etching no. 82"@en',
      '"library" "The Painters of Skálavík"@en',
      '"library" "The Painters of Skálavík"@en',
      '"museums" "Skálavík"',
      '"museums" "Skálavík Museum of Art"@en',
      '"museums" "View of Skálavík"@en',
      '"museums" "View of Skálavík"@en',
      '"museums" "View of Skálavík"@en',
      '"museums" "Útsýni yfir Skálavík"@is',
      '"museums" "Útsýni yfir Skálavík"@is',
      '"museums" "Útsýni yfir Skálavík"@is',
      '"places" "Skálavík"@en',
      '"places" "Skálavík"@is',
    ]);
  });
  it("3 has an unknown prefix", () => {
    expect(() => rows(asGraph(file("3-unknown-prefix.rq")).query)).toThrow(/Prefix not found/);
  });
});
