import type { Count, FactStatus, PropertyPartition } from "../../src/registry/descriptions/void-description.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

const count = (value: number, status: FactStatus = "exact", record = 0): Count => ({ value, status, record });

const name: PropertyPartition = {
  property: "http://xmlns.com/foaf/0.1/name",
  status: "exact",
  record: 1,
  triples: count(12, "exact", 1),
  distinctSubjects: count(10, "lowerBound", 2),
  distinctObjects: count(0, "sampled", 3),
  objectClasses: [],
  datatypes: [
    { iri: "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", triples: count(9), status: "exact", record: 1 },
    { iri: "http://www.w3.org/2001/XMLSchema#string", status: "sampled", record: 3 },
  ],
  objectsComplete: true,
};

const knows: PropertyPartition = {
  property: "http://xmlns.com/foaf/0.1/knows",
  status: "exists",
  record: 2,
  objectClasses: [
    { iri: "http://xmlns.com/foaf/0.1/Person", triples: count(4, "lowerBound", 2), status: "exists", record: 2 },
    { iri: "http://xmlns.com/foaf/0.1/Agent", status: "claimed", record: 3 },
  ],
  datatypes: [],
  objectsComplete: false,
};

/** A description that has a bit of everything: every status, known and unknown counts, links of all kinds. */
export const sampleDescription: VoidDescription = {
  endpoint: "http://data.example/sparql",
  id: "people",
  dataset: "http://fedway.example/endpoints/people#dataset",
  source: "mixed",
  retrievedFrom: "http://data.example/.well-known/void",
  startedAt: "2026-01-02T03:04:05.000Z",
  finishedAt: "2026-01-02T03:05:05.500Z",
  unfinished: true,
  title: 'People & "friends"',
  description: "Who knows whom.",
  license: "http://creativecommons.org/licenses/by/4.0/",
  citation: 'A. Author: "Who knows whom", 2026.',
  origin: "https://archive.example/people",
  triples: count(100),
  classes: count(2),
  properties: count(2, "claimed", 3),
  distinctSubjects: count(40, "lowerBound", 2),
  classPartitions: [
    {
      class: "http://xmlns.com/foaf/0.1/Person",
      status: "exact",
      record: 0,
      entities: count(10),
      triples: count(22, "lowerBound", 2),
      properties: [name, knows],
      propertiesComplete: true,
    },
    {
      class: "http://data.example/Größe(1)",
      status: "exact",
      record: 0,
      properties: [],
      propertiesComplete: false,
    },
  ],
  classesComplete: true,
  propertyPartitions: [name, { ...knows, triples: count(3, "exact", 1) }],
  propertiesComplete: true,
  languages: ["de", "en-gb"],
  namespaces: ["http://data.example/person(", "http://data.example/thing/"],
  graphs: ["http://data.example/graph"],
  linksets: [
    {
      property: "http://xmlns.com/foaf/0.1/knows",
      subjectClass: "http://xmlns.com/foaf/0.1/Person",
      objectClass: "http://xmlns.com/foaf/0.1/Person",
      triples: count(4, "lowerBound", 2),
      status: "exists",
      record: 2,
    },
    {
      property: "http://www.w3.org/2002/07/owl#sameAs",
      targetEndpoint: "wikidata",
      triples: count(7, "exact", 1),
      status: "exact",
      record: 1,
    },
  ],
  unknown: [
    { what: "distinct objects", why: "timeout", record: 2 },
    { what: "namespaces", why: "budget" },
  ],
  records: [
    {
      rung: 1,
      query: "SELECT (COUNT(*) AS ?n)\nWHERE { ?s ?p ?o }",
      httpStatus: 200,
      durationMs: 12.25,
      at: "2026-01-02T03:04:06.000Z",
      outcome: "ok",
    },
    { rung: 2, query: "SELECT 2", httpStatus: 200, durationMs: 3, at: "2026-01-02T03:04:07.000Z", outcome: "partial" },
    { rung: 4, query: 'SELECT "4"', durationMs: 5000, at: "2026-01-02T03:04:08.000Z", outcome: "timeout" },
    {
      rung: 0,
      query: "http://data.example/.well-known/void",
      httpStatus: 404,
      durationMs: 0,
      at: "2026-01-02T03:04:09.000Z",
      outcome: "refused",
    },
  ],
  cost: { requests: 4, bytes: 5_000_000_000, ms: 5015.5 },
};
