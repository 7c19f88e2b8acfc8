import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../support/eventually.ts";
import { startService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

// One server in the catalogue three times: as it is, with one of its graphs as default graph, and with two.

const quads = [
  '<urn:a> <urn:p> "own" .',
  '<urn:a> <urn:p> "one" <urn:g:1> .',
  '<urn:a> <urn:p> "two" <urn:g:2> .',
  '<urn:b> <urn:q> "two" <urn:g:2> .',
].join("\n");
let server: SparqlTestServer;
let service: Awaited<ReturnType<typeof startService>>;

const entry = (id: string, ...graphs: readonly string[]): string =>
  `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dcterms: <http://purl.org/dc/terms/> .
  @prefix fedway: <https://w3id.org/fedway/ns#> .
  [] a dcat:DataService ; dcterms:identifier "${id}" ; dcterms:title "${id}" ; dcat:endpointURL <${server.url}> ;
    fedway:defaultGraph ${graphs.map((graph) => `<${graph}>`).join(", ")} .`;

beforeAll(async () => {
  server = await startSparqlTestServer(quads);
  const files = { "one.ttl": entry("one", "urn:g:1"), "both.ttl": entry("both", "urn:g:1", "urn:g:2") };
  service = await startService({ plain: server.url }, { FEDWAY_MONITOR: "on" }, files);
});
afterAll(async () => {
  await service.close();
  await server.close();
});
beforeEach(() => server.clearRequests());

const rows = async (response: Response): Promise<readonly string[]> => {
  expect(response.status).toBe(200);
  return (await response.text()).trim().split("\r\n").slice(1).toSorted();
};
const ask = async (id: string, query: string, parameters = {}): Promise<readonly string[]> =>
  rows(await service.query(query, { path: `/endpoints/${id}/sparql`, accept: "text/csv", parameters }));
const read = async (path: string): Promise<string> => (await fetch(service.url + path)).text();

const objects = "SELECT ?o { <urn:a> <urn:p> ?o }";

describe("default graphs of an endpoint", () => {
  it("are asked by direct queries, beside the same endpoint without them", async () => {
    expect(await ask("plain", objects)).toEqual(["own"]);
    expect(await ask("one", objects)).toEqual(["one"]);
    expect(await ask("both", objects)).toEqual(["one", "two"]);
  });
  it("are asked by each way of sending a query", async () => {
    for (const method of ["get", "post-direct", "post-form"]) {
      const body = JSON.stringify({ method });
      const headers = { "content-type": "application/merge-patch+json" };
      const changed = await fetch(`${service.url}/api/endpoints/one`, { method: "PATCH", headers, body });
      expect(changed.status, await changed.text()).toBe(200);
      expect(await ask("one", `${objects} # ${method}`)).toEqual(["one"]);
    }
  });
  it("are asked by federated queries, whose cache keeps the three apart", async () => {
    const clauses = ["plain", "one", "both"].map(
      (id) => `{ SERVICE <${id}> { <urn:a> <urn:p> ?o } BIND("${id}" AS ?e) }`,
    );
    for (let time = 0; time < 2; time += 1) {
      const response = await service.query(`SELECT ?e ?o { ${clauses.join(" UNION ")} }`, { accept: "text/csv" });
      expect(await rows(response)).toEqual(["both,one", "both,two", "one,one", "plain,own"]);
    }
    const join = "SELECT ?o { SERVICE <one> { ?s <urn:p> ?o } SERVICE <both> { ?s <urn:p> ?o } }";
    expect(await rows(await service.query(join, { accept: "text/csv" }))).toEqual(["one"]);
  });
  it("give way to the graphs that a query names", async () => {
    expect(await ask("one", objects.replace("{", "FROM <urn:g:2> {"))).toEqual(["two"]);
    expect(await ask("one", objects, { "default-graph-uri": "urn:g:2" })).toEqual(["two"]);
    expect(await ask("one", "SELECT ?o FROM NAMED <urn:g:2> { GRAPH ?g { <urn:a> <urn:p> ?o } }")).toEqual(["two"]);
  });
  it("are what a description is about", async () => {
    for (const id of ["one", "both"]) {
      const started = await fetch(`${service.url}/api/endpoints/${id}/describe`, { method: "POST" });
      const { id: job }: { id: string } = JSON.parse(await started.text());
      await until(async () => ((await read(`/api/jobs/${job}`)).includes('"state":"done"') ? true : undefined));
    }
    expect(await read("/api/endpoints/one/void")).not.toContain("urn:q");
    expect(await read("/api/endpoints/both/void")).toContain("urn:q");
  });
  it("are shown on the page, in the API and to agents", async () => {
    expect(await read("/endpoints/both")).toMatch(/Default graph.*urn:g:1.*urn:g:2/su);
    const { endpoint }: { endpoint: object } = JSON.parse(`{"endpoint":${await read("/api/endpoints/both")}}`);
    expect(endpoint).toMatchObject({ defaultGraphs: ["urn:g:1", "urn:g:2"] });
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ endpoint: "one" });
    const told = await fetch(`${service.url}/api/tools/describe_endpoint`, { method: "POST", headers, body });
    expect(await told.text()).toContain("default graph: <urn:g:1>");
  });
});
