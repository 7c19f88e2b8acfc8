import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningService, startService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

let servers: readonly SparqlTestServer[];
let service: RunningService;

beforeAll(async () => {
  servers = await Promise.all(
    ["alpha", "beta"].map((id) => startSparqlTestServer(`<urn:${id}:1> <urn:x:name> "${id}" .`)),
  );
  const [alpha, beta] = servers;
  service = await startService({ alpha: alpha?.url ?? "", beta: beta?.url ?? "" });
});
afterAll(async () => {
  await service.close();
  await Promise.all(servers.map((each) => each.close()));
});

const prefixes = "PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dcterms: <http://purl.org/dc/terms/> ";

async function rows(query: string, path = "/sparql"): Promise<readonly string[]> {
  const answer = await service.query(prefixes + query, { path, accept: "text/csv" });
  const text = await answer.text();
  expect([answer.status, answer.status === 200 ? "" : text]).toEqual([200, ""]);
  return text.trim().split(/\r?\n/u).slice(1).toSorted();
}

describe("the registry as an endpoint", () => {
  it("names the endpoints that the same query goes on to ask", async () => {
    const query = `SELECT ?id ?name { SERVICE <registry> { ?s dcat:endpointURL ?e ; dcterms:identifier ?id }
      SERVICE ?e { ?x <urn:x:name> ?name } }`;
    expect(await rows(query)).toEqual(["alpha,alpha", "beta,beta"]);
  });

  it("answers the example of the console", async () => {
    const example = readFileSync(new URL("../../../catalog/examples/queries/4-registry.rq", import.meta.url), "utf8");
    // Nothing is probed in this test, so that nothing is known to be up.
    expect(await rows(example.replace("# Which", "\n# Which"))).toEqual([]);
    expect(await rows(example.replace('"up"', '"unknown"').replace("# Which", "\n# Which"))).toEqual([
      "alpha,,",
      "beta,,",
    ]);
  });

  it("is asked by its id, its URL, and the route of any endpoint", async () => {
    const pattern = "?s a dcat:DataService ; dcterms:identifier ?id";
    expect(await rows(`SELECT ?id { ${pattern} }`, "/registry/sparql")).toEqual(["alpha", "beta"]);
    expect(await rows(`SELECT ?id { ${pattern} }`, "/endpoints/registry/sparql")).toEqual(["alpha", "beta"]);
    const url = new URL("/registry/sparql", service.app.catalog.byId("registry")?.url).href;
    expect(await rows(`SELECT ?id { SERVICE <${url}> { ${pattern} } }`)).toEqual(["alpha", "beta"]);
  });

  it("answers from the graphs that FROM names, and from no others", async () => {
    const graph = new URL("/api/endpoints/alpha", service.app.catalog.byId("registry")?.url).href;
    const query = (clause: string): string => `SELECT ?id ${clause} { ?s a dcat:DataService ; dcterms:identifier ?id }`;
    expect(await rows(query(`FROM <${graph}>`), "/registry/sparql")).toEqual(["alpha"]);
    expect(await rows(query("FROM <urn:none>"), "/registry/sparql")).toEqual([]);
    expect(await rows(query(`FROM NAMED <${graph}>`), "/registry/sparql")).toEqual([]);
    expect(await rows(query(""), "/registry/sparql")).toEqual(["alpha", "beta"]);
  });

  it("belongs to a federation that names it, and to no other", async () => {
    const body = { id: "both", title: "Both", members: ["alpha", "registry"] };
    const created = await fetch(`${service.url}/api/federations`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(created.status).toBe(201);
    const query = `SELECT ?name { { ?s dcat:endpointURL ?e ; dcterms:identifier ?name } UNION { ?x <urn:x:name> ?name } }`;
    expect(await rows(query, "/federations/both/sparql")).toEqual(["alpha", "alpha", "beta"]);
    // Their own members are part of the registry at once.
    expect(
      await rows('SELECT ?m { ?f dcterms:identifier "both" ; dcterms:hasPart ?m }', "/registry/sparql"),
    ).toHaveLength(2);
    const listed = await fetch(`${service.url}/api/endpoints`);
    expect(JSON.stringify(await listed.json())).not.toContain("The registry itself");
  });

  it("shows a change of the catalogue with the next query", async () => {
    await fetch(`${service.url}/api/endpoints`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "gamma", title: "Gamma", url: "http://127.0.0.1:9/sparql" }),
    });
    const query = "SELECT ?title { ?s dcterms:identifier 'gamma' ; dcterms:title ?title }";
    expect(await rows(query, "/registry/sparql")).toEqual(["Gamma"]);
    await fetch(`${service.url}/api/endpoints/gamma`, { method: "DELETE" });
    expect(await rows(query, "/registry/sparql")).toEqual([]);
  });

  it.each([
    ["INSERT DATA { <urn:x:s> <urn:x:p> 1 }", "UPDATE_REFUSED"],
    ["SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }", "ENDPOINT_REJECTED_QUERY"],
    ["SELECT * { ?s ?p ?o", "QUERY_SYNTAX"],
  ])("refuses %s", async (query, code) => {
    const answer = await service.query(query, { path: "/registry/sparql" });
    expect(await answer.json()).toMatchObject({ code });
  });

  it("cannot be removed", async () => {
    const removed = await fetch(`${service.url}/api/endpoints/registry`, { method: "DELETE" });
    expect([removed.status, await removed.json()]).toMatchObject([409, { code: "ENTRY_CONFLICT" }]);
  });

  it("has a page, and a service description with its dataset", async () => {
    const page = await fetch(`${service.url}/endpoints/registry`, { headers: { accept: "text/html" } });
    expect([page.status, await page.text()]).toMatchObject([200, expect.stringContaining("The registry itself")]);
    const description = await fetch(`${service.url}/registry/sparql`, { headers: { accept: "text/turtle" } });
    expect(await description.text()).toContain(`sd:defaultDataset <${service.url}/registry>`);
    const terms = await fetch(`${service.url}/registry/vocabulary?format=ntriples`);
    expect(await terms.text()).toContain("<https://w3id.org/fedway/ns#uptime24h>");
  });
});
