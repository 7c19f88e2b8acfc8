import type * as RDF from "@rdfjs/types";
import { describe, expect, it } from "vitest";
import { selectFrom } from "../../../support/rdf-text.ts";
import { sampleDescription } from "../../../support/sample-description.ts";
import { catalogVoid, serviceDescription } from "../../../../src/registry/descriptions.ts";

const prefixes = `
PREFIX void: <http://rdfs.org/ns/void#> PREFIX sd: <http://www.w3.org/ns/sparql-service-description#>
PREFIX dcterms: <http://purl.org/dc/terms/> PREFIX foaf: <http://xmlns.com/foaf/0.1/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
`;
const shouldSelect = (quads: readonly RDF.Quad[], query: string, rows: readonly (readonly unknown[])[]): void => {
  const columns = [...query.slice(0, query.indexOf("WHERE")).matchAll(/\?(\w+)/gu)].map(([, name]) => name ?? "");
  expect(selectFrom(quads, prefixes + query, columns)).toEqual(rows);
};

const base = {
  title: "People",
  keywords: [],
  notes: [],
  blocksService: false,
  needsUserAgent: false,
  pseudoServices: [],
  rawQueries: false,
} as const;

describe("/.well-known/void", () => {
  const catalogue = catalogVoid({
    publicUrl: "http://fedway.example",
    title: "Endpoints",
    entries: [
      {
        ...base,
        id: "people",
        url: "http://data.example/sparql",
        interface: "sparql",
        description: "Who knows whom.",
        homepage: "http://data.example/",
        license: "not an IRI",
      },
      { ...base, id: "dump", url: "http://data.example/all.ttl", interface: "file" },
      { ...base, id: "fragments", url: "http://data.example/tpf", interface: "tpf" },
    ],
    described: (id) => (id === "people" ? sampleDescription : undefined),
  });
  const quads = [...catalogue];
  it("lists the datasets with their endpoints and descriptions", () => {
    shouldSelect(
      quads,
      "SELECT ?d ?e ?title ?about ?home ?more WHERE { ?doc a void:DatasetDescription ; foaf:topic ?d . ?d a void:Dataset ; void:sparqlEndpoint ?e ; dcterms:title ?title ; dcterms:description ?about ; foaf:homepage ?home ; rdfs:seeAlso ?more }",
      [
        [
          "http://fedway.example/endpoints/people#dataset",
          "http://data.example/sparql",
          "People",
          "Who knows whom.",
          "http://data.example/",
          "http://fedway.example/api/endpoints/people/void",
        ],
      ],
    );
    shouldSelect(quads, "SELECT ?dump WHERE { ?d void:dataDump ?dump }", [["http://data.example/all.ttl"]]);
    shouldSelect(
      quads,
      "SELECT ?topic WHERE { <http://fedway.example/.well-known/void> foaf:topic ?topic } ORDER BY ?topic",
      [
        ["http://fedway.example/endpoints/dump#dataset"],
        ["http://fedway.example/endpoints/fragments#dataset"],
        ["http://fedway.example/endpoints/people#dataset"],
      ],
    );
  });
  it("tells exact counts only, and nothing that is no IRI as one", () => {
    shouldSelect(
      quads,
      "SELECT ?triples ?classes ?properties WHERE { ?d void:triples ?triples ; void:classes ?classes OPTIONAL { ?d void:properties ?properties } }",
      [["100", "2", undefined]],
    );
    shouldSelect(quads, "SELECT ?l WHERE { ?d dcterms:license ?l }", []);
  });
});

describe("service descriptions", () => {
  const service = {
    url: "http://fedway.example/endpoints/people/sparql",
    features: ["http://www.w3.org/ns/sparql-service-description#BasicFederatedQuery"],
    formats: ["http://www.w3.org/ns/formats/SPARQL_Results_JSON", "http://www.w3.org/ns/formats/Turtle"],
  };
  it("of an endpoint with a dataset", () => {
    const quads = serviceDescription({
      ...service,
      dataset: {
        iri: sampleDescription.dataset,
        describedAt: "http://fedway.example/void",
        description: sampleDescription,
      },
    });
    shouldSelect(
      quads,
      "SELECT ?e ?f ?lang ?set ?doc ?n WHERE { ?s a sd:Service ; sd:endpoint ?e ; sd:feature ?f ; sd:supportedLanguage ?lang ; sd:defaultDataset ?set . ?set a sd:Dataset ; sd:defaultGraph ?g . ?doc foaf:primaryTopic ?set . ?g a sd:Graph ; void:triples ?n FILTER NOT EXISTS { ?g void:properties ?claimed } }",
      [
        [
          service.url,
          "http://www.w3.org/ns/sparql-service-description#BasicFederatedQuery",
          "http://www.w3.org/ns/sparql-service-description#SPARQL11Query",
          sampleDescription.dataset,
          "http://fedway.example/void",
          "100",
        ],
      ],
    );
    shouldSelect(
      quads,
      "SELECT ?f WHERE { ?s sd:resultFormat ?f } ORDER BY ?f",
      service.formats.map((iri) => [iri]),
    );
  });
  it("without a dataset", () => {
    shouldSelect(serviceDescription(service), "SELECT ?d WHERE { ?s sd:defaultDataset ?d }", []);
  });
});
