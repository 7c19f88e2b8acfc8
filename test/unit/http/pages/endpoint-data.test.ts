import { expect, it } from "vitest";
import { dataBody } from "../../../../src/http/pages/endpoint-data.ts";
import { sampleDescription } from "../../../support/sample-description.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const bodyOf = (description: VoidDescription): string =>
  dataBody(
    { description, freshness: { state: "fresh" }, parts: [], published: undefined },
    { id: "people", endpointApi: "/api/endpoints/people", mayAsk: false },
  ).html;

it("says whether the figures are those of the default graph or of all named graphs together", () => {
  const triples = { value: 70, status: "exact", record: 0 } as const;
  const list = [{ graph: "http://data.example/g1", status: "exact", record: 0, triples }] as const;
  const text = bodyOf({ ...sampleDescription, namedGraphs: { list, complete: true } });
  expect(text).toContain("The default graph is empty: these figures are of all named graphs together.");
  expect(text).toContain('<th scope="row">named graphs</th><td class="n">1</td>');
  expect(text).toContain("<dt>Graphs</dt><dd>http://data.example/g1 (70)</dd>");
  expect(bodyOf(sampleDescription)).not.toContain("named graphs");
});
