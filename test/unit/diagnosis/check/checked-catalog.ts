import { createQueryCheck } from "../../../../src/diagnosis/check/query-check.ts";
import { createPlanner } from "../../../../src/plan/create-planner.ts";
import { describedModels } from "../../../support/described-models.ts";
import type { Harvest } from "../../../../src/registry/find/read/harvest.ts";
import type { PropertyPartition } from "../../../../src/registry/descriptions/void-description.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../../support/synthetic-catalog.ts";
import { toCatalog, toEntry } from "../../plan/plan-cases.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const foaf = "http://xmlns.com/foaf/0.1/";
const ex = "http://vocabulary.example/";
const xsd = "http://www.w3.org/2001/XMLSchema#";

const literals = (iri: string, triples: number, ...datatypes: readonly string[]): PropertyPartition => ({
  ...propertyPartition(iri, { triples }),
  datatypes: datatypes.map((datatype) => ({ iri: datatype, status: "exact", record: 0 })),
});
const links = (iri: string, triples: number, range: string) => propertyPartition(iri, { triples, range });
const langString = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";

const person = [
  literals(`${foaf}name`, 320_960, langString),
  literals(`${ex}bornIn`, 300_000, `${xsd}gYear`),
  links(`${foaf}knows`, 90_000, `${foaf}Person`),
  links(`${ex}employer`, 50_000, `${ex}Company`),
];
const company = [literals(`${ex}companyTitle`, 900, `${xsd}string`)];
const painting = [
  literals(`${ex}paintingTitle`, 400, `${xsd}string`),
  links(`${ex}painter`, 380, `${foaf}Person`),
  literals(`${ex}width`, 390, `${xsd}integer`),
];

const descriptions: ReadonlyMap<string, VoidDescription> = new Map([
  [
    "people",
    descriptionOf({
      classPartitions: [
        classPartition(`${foaf}Person`, 320_960, person),
        classPartition(`${ex}Company`, 1_000, company),
      ],
      propertyPartitions: [...person, ...company],
      languages: ["en"],
    }),
  ],
  [
    "works",
    descriptionOf({ classPartitions: [classPartition(`${ex}Painting`, 400, painting)], propertyPartitions: painting }),
  ],
]);

const catalog = toCatalog(
  [toEntry("people"), toEntry("works"), toEntry("unseen")],
  [{ id: "both", title: "both", members: ["people", "works"], memberKeywords: [] }],
);

const read = {
  endpoint: "http://people.example/sparql",
  describedAt: "2026-01-01T00:00:00Z",
  harvestedAt: "2026-01-01T00:00:00Z",
  complete: false,
  classes: [],
  cost: { requests: 1, bytes: 1, ms: 1 },
};

/** All titles of companies, and one of many names. */
const ofPeople: Harvest = {
  ...read,
  properties: [`${ex}companyTitle`, `${foaf}name`],
  rows: [
    ["", '"Harbour Works"', -1, 0, 3],
    ["", '"Northern Mills"', -1, 0, 2],
    ["http://people.example/1", '"Grete Hermann"@en', -1, 1, -1],
  ],
  whole: [[-1, 0]],
};

/** Persons and companies at "people", paintings at "works", nothing known of "unseen"; both descriptions are complete. */
export function openCheck() {
  const { models, finder } = describedModels({
    entries: catalog.entries,
    descriptions,
    values: [["people", ofPeople]],
  });
  const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example", terms: finder });
  const check = createQueryCheck({
    catalog,
    planner,
    finder,
    models,
    now: () => Date.parse("2026-01-01T12:00:00Z"),
  });
  const { signal } = new AbortController();
  return {
    ...check,
    checked: (query: string, place: { endpoint?: string; federation?: string } = {}) =>
      check.check({ query, owner: "tests", ...place }, { signal }),
    prepared: (query: string, place: { endpoint?: string; federation?: string } = {}) =>
      check.prepare({ query, owner: "tests", ...place }),
  };
}
