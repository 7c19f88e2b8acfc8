import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type Federation,
  startEndpoints,
  startFederation,
  type TestEndpoints,
} from "../../support/federation-harness.ts";

let endpoints: TestEndpoints;
let federation: Federation;
beforeAll(async () => {
  endpoints = await startEndpoints({
    a: `<urn:s1> <urn:p> "1" .
<urn:s2> <urn:p> "2" .
<urn:s1> <urn:p> "g1" <urn:g> .
<urn:s2> <urn:p> "g2" <urn:h> .
`,
    b: `<urn:s1> <urn:q> <urn:o1> .
<urn:s2> <urn:q> <urn:o2> .
<urn:s1> <urn:q> <urn:none> <urn:g> .
`,
  });
  federation = await startFederation(endpoints.urls);
});
afterAll(async () => {
  await federation?.close();
  await endpoints?.close();
});

const remote = "SERVICE <b> { ?s <urn:q> ?o }";

// A GRAPH is that of the endpoint whose route is asked; SERVICE inside of it reads the default graph of its own endpoint.
it.each([
  [`GRAPH ?g { ?s <urn:p> ?v . ${remote} BIND(STR(?o) AS ?x) }`, ['g s1 "urn:o1"', 'h s2 "urn:o2"']],
  [`GRAPH ?g { BIND(1 + 1 AS ?x) ?s <urn:p> ?v . ${remote} }`, ["g s1 2", "h s2 2"]],
  [`GRAPH ?g { ${remote} BIND("x" AS ?x) }`, ['g s1 "x"', 'g s2 "x"', 'h s1 "x"', 'h s2 "x"']],
  [`GRAPH <urn:g> { ${remote} }`, ["- s1 -", "- s2 -"]],
  [`GRAPH <urn:none> { ${remote} }`, []],
  [
    `GRAPH ?g { ?s <urn:p> ?v OPTIONAL { ${remote} FILTER(?v != "g2") } BIND(STR(?o) AS ?x) }`,
    ['g s1 "urn:o1"', "h s2 -"],
  ],
  [
    `GRAPH ?g { { ${remote} BIND(?o AS ?x) } UNION { ?s <urn:p> ?x } }`,
    ['g s1 "g1"', "g s1 o1", "g s2 o2", "h s1 o1", 'h s2 "g2"', "h s2 o2"],
  ],
  [`GRAPH ?g { ?s <urn:p> ?v SERVICE <a> { ?s <urn:p> ?x } }`, ['g s1 "1"', 'h s2 "2"']],
])("%s", async (where, expected) => {
  const { rows } = await federation.table(`SELECT ?g ?s ?x { ${where} }`, { endpointId: "a" });
  const short = (cell: string | null): string =>
    cell?.replace(/^<urn:(.*)>$|\^\^.*$/u, "$1").replace(/^"(\d)"$/u, "$1") ?? "-";
  const wanted = expected.map((row) => row.replaceAll(/"(\d)"/gu, "$1"));
  expect(rows.map((row) => row.map(short).join(" ")).toSorted()).toEqual(wanted.toSorted());
});
