import { describe, expect, it } from "vitest";
import type { SparqlRequest } from "../../../src/outbound/sparql-client.ts";
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

describe("formats that an engine gets wrong", () => {
  it("are asked for once, and answered in another one", async () => {
    const client = setting.clientWith();
    const first = await read(client, setting.send("virtuoso", { accept: `${tsv}, ${json};q=0.9` }));
    expect(first.answer).toMatchObject({ mediaType: json, requests: 2 });
    expect(first.end.rows).toBe(3);
    const second = await read(client, setting.send("virtuoso", { accept: `text/csv, ${json};q=0.9` }));
    expect(second.answer).toMatchObject({ mediaType: json, requests: 1 });
    const third = await read(client, setting.send("virtuoso", graph));
    expect(third.answer).toMatchObject({ mediaType: ntriples, requests: 1 });
    expect(accepts("virtuoso")).toEqual([
      `${tsv}, ${json};q=0.9`,
      `${json};q=0.9`,
      `${json};q=0.9`,
      `${ntriples};q=0.9`,
    ]);
  });
  it("are never asked for once any answer has named the engine", async () => {
    const client = setting.clientWith();
    expect((await read(client, setting.send("virtuoso"))).answer.requests).toBe(1);
    expect((await read(client, setting.send("virtuoso", graph))).answer.requests).toBe(1);
    expect(accepts("virtuoso")).toEqual([json, `${ntriples};q=0.9`]);
  });
  it("are an error when the endpoint knows no other", async () => {
    const client = setting.clientWith();
    for (const requests of [2, 3]) {
      const error = await shouldFail(client, setting.send("virtuoso-tsv", { accept: tsv }), [
        "ENDPOINT_NOT_SPARQL",
        "wrong-media-type",
      ]);
      expect(error.message).toContain(tsv);
      expect(setting.server.requests("virtuoso-tsv")).toHaveLength(requests);
    }
  });
  it("are passed on by other engines, with one request", async () => {
    const { answer } = await read(setting.clientWith(), setting.send("tsv-by-virtue", { accept: tsv }));
    expect(answer).toMatchObject({ mediaType: tsv, requests: 1 });
    expect(accepts("tsv-by-virtue")).toEqual([tsv]);
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
