import { describe, expect, it } from "vitest";
import type { SparqlRequest } from "../../../src/outbound/sparql-request.ts";
import { hostileSetting, read, shouldFail } from "../../support/hostile-client.ts";

const json = "application/sparql-results+json";
const tsv = "text/tab-separated-values";
const ntriples = "application/n-triples";
const setting = hostileSetting();

const graph: Partial<SparqlRequest> = {
  kind: "quads",
  query: "CONSTRUCT WHERE { ?s ?p ?o }",
  accept: `text/turtle, ${ntriples};q=0.9`,
};
const accepts = (caseName: string): readonly (string | undefined)[] =>
  setting.server.requests(caseName).map(({ headers }) => headers.accept);

const turtle = "text/turtle";

describe("formats that an engine may get wrong", () => {
  it("are asked for last, so that a healthy endpoint gets one request", async () => {
    const client = setting.clientWith();
    for (const accept of [`${tsv}, ${json};q=0.9`, `text/csv, ${json};q=0.9`]) {
      const { answer, end } = await read(client, setting.send("virtuoso", { accept }));
      expect(answer).toMatchObject({ mediaType: json, requests: 1 });
      expect(end.rows).toBe(3);
    }
    expect((await read(client, setting.send("virtuoso", graph))).answer).toMatchObject({
      mediaType: ntriples,
      requests: 1,
    });
    expect(accepts("virtuoso")).toEqual([
      `${json};q=0.9, ${tsv};q=0.1`,
      `${json};q=0.9, text/csv;q=0.1`,
      `${ntriples};q=0.9, ${turtle};q=0.1`,
    ]);
  });
  it("are asked for first where a probe has found them right", async () => {
    const client = setting.clientWith();
    const endpoint = { id: "hostile", url: setting.server.url("whole-tsv"), formats: [json, tsv] };
    const { answer } = await read(client, setting.send("whole-tsv", { accept: `${tsv}, ${json};q=0.9`, endpoint }));
    expect(answer).toMatchObject({ mediaType: tsv, requests: 1 });
    expect(accepts("whole-tsv")).toEqual([`${tsv}, ${json};q=0.9`]);
  });
  it.each([
    ["virtuoso-tsv", tsv, 1],
    // A bare quote breaks the answer: the terms without it are asked for, too.
    ["qlever-tsv", tsv, 2],
    ["spaces-tsv", tsv, 1],
    ["fuseki-csv", "text/csv", 1],
  ])("are an error when the endpoint knows no other and changes known terms: %s", async (name, format, questions) => {
    const client = setting.clientWith();
    for (const requests of [1 + questions, 2 + questions]) {
      const error = await shouldFail(client, setting.send(name, { accept: `${json}, ${format};q=0.9` }), [
        "ENDPOINT_NOT_SPARQL",
        "wrong-media-type",
      ]);
      expect(error.message).toContain(format);
      expect(setting.server.requests(name)).toHaveLength(requests);
    }
  });
  it.each(["tabs-tsv", "lines-tsv"])("are an error when known terms end their line: %s", async (name) => {
    await shouldFail(setting.clientWith(), setting.send(name), ["ENDPOINT_NOT_SPARQL", "wrong-media-type"]);
  });
  it("are an error when a probe has found them wrong", async () => {
    const client = setting.clientWith();
    const endpoint = { id: "hostile", url: setting.server.url("virtuoso-tsv"), formats: [json] };
    await shouldFail(client, setting.send("virtuoso-tsv", { endpoint }), ["ENDPOINT_NOT_SPARQL", "wrong-media-type"]);
  });
  it.each(["whole-tsv", "silent-tsv"])("pass where known terms are not changed, asked once: %s", async (name) => {
    const client = setting.clientWith();
    for (const requests of [2, 1, 1]) {
      const { answer, end } = await read(client, setting.send(name));
      expect(answer).toMatchObject({ mediaType: tsv, requests });
      expect(end.rows).toBe(1);
    }
    expect(accepts(name)).toEqual([json, tsv, json, json]);
  });
  it("are asked about beside a query that has the endpoint's only slot", async () => {
    const client = setting.clientWith({ endpointConcurrency: 1 });
    expect((await read(client, setting.send("chunked-tsv"))).answer.requests).toBe(2);
  });
});

describe("graphs of an endpoint that caps rows", () => {
  const capped = { query: "SELECT ?capped WHERE { ?capped ?p ?o }", acceptPartial: true };

  it("are partial once the cap is known", async () => {
    const client = setting.clientWith();
    expect((await read(client, setting.send("virtuoso", graph))).end).toMatchObject({ rows: 4 });
    expect((await read(client, setting.send("virtuoso", capped))).end.partial?.how).toBe("virtuoso-maxrows");
    const error = await shouldFail(client, setting.send("virtuoso", graph), ["ENDPOINT_PARTIAL", "partial"]);
    expect(error.message).toMatch(/3 rows .*4 rows or triples may lack some/u);
    const { answer, end } = await read(client, setting.send("virtuoso", { ...graph, acceptPartial: true }));
    expect(answer.partial?.how).toBe("row-cap");
    expect(end).toMatchObject({ rows: 4, partial: { how: "row-cap" } });
  });
  it("are trusted again when an answer has outrun the cap", async () => {
    const client = setting.clientWith();
    await read(client, setting.send("virtuoso", capped));
    const raised = { query: "SELECT ?raised WHERE { ?raised ?p ?o }" };
    expect((await read(client, setting.send("virtuoso", raised))).end.rows).toBe(3000);
    expect((await read(client, setting.send("virtuoso", graph))).end.partial).toBeUndefined();
  });
});
