import { expect, it } from "vitest";
import { describeRoute, type DescribedRoute } from "../../../src/http/service-description.ts";

const sd = "http://www.w3.org/ns/sparql-service-description#";
const url = "https://sparql.example/sparql";

const objectsOf = (route: DescribedRoute, predicate: string): readonly string[] =>
  describeRoute(route)
    .filter((quad) => quad.predicate.value === predicate)
    .map((quad) => quad.object.value);

it("names the endpoint, the language and the formats", () => {
  const route = { url, federated: true };
  expect(objectsOf(route, `${sd}endpoint`)).toStrictEqual([url]);
  expect(objectsOf(route, `${sd}supportedLanguage`)).toStrictEqual([`${sd}SPARQL11Query`]);
  expect(objectsOf(route, `${sd}feature`)).toStrictEqual([`${sd}BasicFederatedQuery`]);
  expect(objectsOf(route, `${sd}resultFormat`)).toStrictEqual([
    "http://www.w3.org/ns/formats/SPARQL_Results_JSON",
    "http://www.w3.org/ns/formats/SPARQL_Results_XML",
    "http://www.w3.org/ns/formats/SPARQL_Results_CSV",
    "http://www.w3.org/ns/formats/SPARQL_Results_TSV",
    "http://www.w3.org/ns/formats/Turtle",
    "http://www.w3.org/ns/formats/N-Triples",
    "http://www.w3.org/ns/formats/JSON-LD",
  ]);
});

it("promises no federation where there is none", () =>
  expect(objectsOf({ url, federated: false }, `${sd}feature`)).toStrictEqual([]));

it("names the dataset behind an endpoint", () => {
  const iri = "https://sparql.example/endpoints/alpha#dataset";
  expect(objectsOf({ url, federated: false, dataset: { iri } }, `${sd}defaultDataset`)).toStrictEqual([iri]);
});
