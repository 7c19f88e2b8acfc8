import { expect, it } from "vitest";
import { isSystemGraph } from "../../../../../src/registry/descriptions/compute/probing.ts";

it.each([
  ["http://www.openlinksw.com/schemas/virtrdf#", true],
  ["http://localhost:8890/DAV/", true],
  ["http://localhost:8890/sparql", true],
  ["http://www.w3.org/2002/07/owl#", true],
  ["http://www.w3.org/ns/ldp#", true],
  ["urn:activitystreams-owl:map", true],
  ["urn:core:services:sparql", true],
  ["http://dbpedia.org", false],
  ["http://data.example/graph", false],
  ["http://data.example/sparql/results", false],
  ["http://www.w3.org/2002/07/owl-test", false],
])("the graph %s is Virtuoso's own: %s", (graph, expected) => {
  expect(isSystemGraph(graph)).toBe(expected);
});
