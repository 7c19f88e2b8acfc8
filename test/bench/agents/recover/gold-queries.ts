import { join } from "node:path";
import { createRandom } from "../../../support/random.ts";
import { publishedQuestions } from "../../../support/published-questions.ts";
import { buildPublishedShards, publishedDatasets } from "../../../support/published-shards.ts";
import { newFolder } from "../../../support/scratch-folder.ts";

/** A query whose answer is known to be right. */
export interface GoldQuery {
  readonly id: string;
  readonly text: string;
  /** Catalogue id of the federation that patterns outside of every SERVICE are asked of. */
  readonly federation?: string;
  /** The same with a mistake that only its own data can have, by kind. */
  readonly mistakes?: Readonly<Record<string, string>>;
}

const prologue = `PREFIX dcterms: <http://purl.org/dc/terms/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX schema: <https://schema.org/>
PREFIX sosa: <http://www.w3.org/ns/sosa/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
`;

/** Queries over the endpoints of the example federation, with the patterns that published federated queries have. */
export const exampleQueries: readonly GoldQuery[] = (
  [
    [
      "names",
      'SELECT ?name WHERE { SERVICE <people> { ?person a foaf:Person ; foaf:name ?name ; schema:nationality "IS" . } }',
    ],
    [
      "born-in",
      'SELECT ?name ?city WHERE {\n  SERVICE <places> { ?place schema:containedInPlace ?country ; rdfs:label ?city . ?country rdfs:label "Iceland"@en . }\n  SERVICE <people> { ?person schema:birthPlace ?place . ?person foaf:name ?name . }\n}',
    ],
    [
      "works",
      'SELECT ?title ?name WHERE {\n  SERVICE <people> { ?person schema:nationality "IS" ; foaf:name ?name ; dcterms:identifier ?number . }\n  SERVICE <museums> { ?artist schema:identifier ?number . ?work dcterms:creator ?artist . ?work dcterms:title ?title . }\n}',
    ],
    [
      "watercolours",
      'SELECT ?title ?height WHERE { SERVICE <museums> { ?work a schema:VisualArtwork . ?work schema:artMedium "watercolour"@en . ?work schema:height ?height . ?work dcterms:title ?title . } }',
    ],
    [
      "books",
      'SELECT ?title ?year WHERE { SERVICE <library> { ?book a schema:Book ; dcterms:title ?title ; schema:inLanguage "is" ; dcterms:date ?year . } }',
    ],
    [
      "year",
      'SELECT ?title WHERE { SERVICE <library> { ?book dcterms:date "1979"^^xsd:gYear . ?book dcterms:title ?title . } }',
    ],
    [
      "cities",
      'SELECT ?name ?people WHERE { SERVICE <places> { ?city a schema:City . ?city rdfs:label ?name . ?city <http://dbpedia.org/ontology/populationTotal> ?people . ?city schema:containedInPlace ?country . ?country dcterms:identifier "HU" . } }',
    ],
    [
      "friends",
      'SELECT ?one ?other WHERE { SERVICE <people> { ?a foaf:knows ?b . ?a foaf:name ?one . ?b foaf:name ?other . ?a schema:hasOccupation "writer"@en . } }',
    ],
    [
      "buoys",
      'SELECT ?result ?time WHERE { SERVICE <weather> { ?seen sosa:madeBySensor ?buoy . ?buoy rdfs:label "Buoy 1" . ?seen sosa:hasSimpleResult ?result . ?seen sosa:resultTime ?time . } }',
    ],
    [
      "museum-towns",
      'SELECT ?museum ?town WHERE { SERVICE <museums> { ?m a schema:Museum ; schema:name ?museum ; schema:address ?address . ?address schema:addressCountry "SE" . ?address schema:addressLocality ?town . } }',
    ],
    [
      "creators",
      'SELECT ?title ?name WHERE {\n  SERVICE <library> { ?book a schema:Book . ?book dcterms:title ?title . ?book dcterms:creator ?authority . ?authority owl:sameAs ?person . }\n  SERVICE <people> { ?person schema:nationality "IE" . ?person foaf:name ?name . }\n}',
      {
        "unlike-keys":
          'SELECT ?title ?name WHERE {\n  SERVICE <library> { ?book a schema:Book . ?book dcterms:title ?title . ?book dcterms:creator ?person . }\n  SERVICE <people> { ?person schema:nationality "IE" . ?person foaf:name ?name . }\n}',
      },
    ],
    [
      "countries",
      'SELECT ?name ?land WHERE {\n  SERVICE <people> { ?person schema:hasOccupation "writer"@en . ?person foaf:name ?name . ?person schema:nationality ?code . }\n  SERVICE <places> { ?country a schema:Country . ?country dcterms:identifier ?code . ?country rdfs:label ?land . }\n}',
      {
        "unlike-keys":
          'SELECT ?name ?land WHERE {\n  SERVICE <people> { ?person schema:hasOccupation "writer"@en . ?person foaf:name ?name . ?person schema:nationality ?country . }\n  SERVICE <places> { ?country a schema:Country . ?country rdfs:label ?land . }\n}',
      },
    ],
    [
      "artists",
      'SELECT ?title ?born WHERE {\n  SERVICE <museums> { ?work dcterms:creator ?artist . ?work dcterms:title ?title . }\n  SERVICE <people> { ?person owl:sameAs ?artist . ?person schema:birthDate ?born . ?person schema:nationality "SE" . }\n}',
      {
        "unlike-keys":
          'SELECT ?title ?born WHERE {\n  SERVICE <museums> { ?work dcterms:creator ?person . ?work dcterms:title ?title . }\n  SERVICE <people> { ?person schema:birthDate ?born . ?person schema:nationality "SE" . }\n}',
      },
    ],
    [
      "museum-countries",
      "SELECT ?museum ?land WHERE {\n  SERVICE <museums> { ?m schema:name ?museum . ?m schema:address ?address . ?address schema:addressCountry ?code . }\n  SERVICE <places> { ?country a schema:Country . ?country dcterms:identifier ?code . ?country rdfs:label ?land . }\n}",
      {
        "unlike-keys":
          "SELECT ?museum ?land WHERE {\n  SERVICE <museums> { ?m schema:name ?museum . ?m schema:address ?address . ?address schema:addressCountry ?country . }\n  SERVICE <places> { ?country a schema:Country . ?country rdfs:label ?land . }\n}",
      },
    ],
  ] as const
).map(([id, text, mistakes]) => {
  const gold = { id: `examples/${id}`, text: prologue + text };
  return mistakes ? Object.assign(gold, { mistakes: { "unlike-keys": prologue + mistakes["unlike-keys"] } }) : gold;
});

/** Not part of the project: its licence is share-alike. */
/** Builds the shards of the nine datasets; resolves to their folders. */
export async function buildShards(): Promise<readonly string[]> {
  const root = newFolder();
  for (const dataset of publishedDatasets) {
    await buildPublishedShards(dataset, { mode: "guaranteed", output: join(root, dataset) });
  }
  return publishedDatasets.map((dataset) => join(root, dataset));
}

/** Some of the published queries of each dataset, always the same: those with rows that do not depend on their order. */
export function publishedQueries(perDataset: number): readonly GoldQuery[] {
  const all = publishedQuestions();
  const random = createRandom(16);
  return publishedDatasets.flatMap((dataset) => {
    const own = all.filter(
      (query, at) =>
        query.dataset === dataset &&
        query.rows > 0 &&
        !query.unstable &&
        !query.rewritten &&
        !/\blimit\b/i.test(query.sparql) &&
        all.findIndex(({ sparql }) => sparql === query.sparql) === at,
    );
    const chosen: GoldQuery[] = [];
    while (chosen.length < perDataset && own.length > 0) {
      const [query] = own.splice(random.below(own.length), 1);
      if (query) chosen.push({ id: `${dataset}/${query.id}`, text: query.sparql.trim(), federation: dataset });
    }
    return chosen;
  });
}
