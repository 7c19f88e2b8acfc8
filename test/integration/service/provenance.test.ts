import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tableOf } from "../../support/table-rows.ts";
import { federationTurtle } from "../../support/catalog-folder.ts";
import { openService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

const data = [
  `<urn:a> <urn:left> "1" .\n<urn:b> <urn:left> "2" .`,
  `<urn:a> <urn:right> "3" .\n<urn:c> <urn:left> "4" .`,
  `<urn:b> <urn:right> "5" .\n<urn:c> <urn:right> "6" .`,
];

let servers: readonly SparqlTestServer[];
let service: { readonly url: string; close(): Promise<void> };

beforeAll(async () => {
  servers = await Promise.all(data.map((text) => startSparqlTestServer(text)));
  const urls = Object.fromEntries(servers.map(({ url }, at) => [`m${at}`, url]));
  // The data of m0 once more.
  urls["m0b"] = `${urls["m0"]}?again`;
  const files = { "all.ttl": federationTurtle("all", 'fedway:member "m0", "m1", "m2"') };
  const app = await openService(urls, {}, files);
  service = { url: await app.listen(), close: () => app.close() };
});

afterAll(async () => {
  await service?.close();
  await Promise.all(servers.map((server) => server.close()));
});

async function rows(query: string, more: object = {}) {
  const response = await fetch(`${service.url}/api/query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, provenance: true, terms: "ntriples", ...more }),
  });
  const { columns, rows: found } = tableOf(await response.text());
  return [
    columns.join(" "),
    ...found.map((row) => row.map((cell) => cell?.replaceAll('"', "") ?? "-").join(" ")).toSorted(),
  ];
}

const over = { federation: "all" };

describe("rows that say which endpoints they came from", () => {
  it("are those of a join over members", async () => {
    expect(await rows("SELECT ?l ?r { ?s <urn:left> ?l ; <urn:right> ?r }", over)).toEqual([
      "l r fedway_from",
      "1 3 m0 m1",
      "2 5 m0 m2",
      "4 6 m1 m2",
    ]);
  });

  it("are those of SERVICE clauses, also under OPTIONAL, UNION and DISTINCT", async () => {
    expect(
      await rows(`SELECT DISTINCT ?l ?r { { SERVICE <m0> { ?s <urn:left> ?l } } UNION { SERVICE <m1> { ?s <urn:left> ?l } }
        OPTIONAL { SERVICE <m2> { ?s <urn:right> ?r } } }`),
    ).toEqual(["l r fedway_from", "1 - m0", "2 5 m0 m2", "4 6 m1 m2"]);
  });

  it("pass a subquery and a limit", async () => {
    const query = "SELECT ?r { { SELECT ?s { ?s <urn:left> ?l } ORDER BY ?l LIMIT 1 } ?s <urn:right> ?r }";
    expect(await rows(query, over)).toEqual(["r fedway_from", "3 m0 m1"]);
  });

  it("are left open for aggregates", async () => {
    expect(await rows("SELECT (COUNT(*) AS ?n) { ?s <urn:left> ?l ; <urn:right> ?r }", over)).toEqual([
      "n fedway_from",
      "3^^<http://www.w3.org/2001/XMLSchema#integer> -",
    ]);
  });

  it("count once where COUNT(DISTINCT *) counts whole rows", async () => {
    const branch = (id: string): string => `{ SERVICE <${id}> { ?s <urn:left> ?l } }`;
    const query = `SELECT (COUNT(DISTINCT *) AS ?n) { ${branch("m0")} UNION ${branch("m0b")} }`;
    expect(await rows(query)).toEqual(["n fedway_from", "2^^<http://www.w3.org/2001/XMLSchema#integer> -"]);
  });

  it("name the one endpoint of a direct plan", async () => {
    expect(await rows("SELECT ?l { ?s <urn:left> ?l }", { endpoint: "m0" })).toEqual(["l fedway_from", "1 m0", "2 m0"]);
  });

  it("come in each format", async () => {
    const parameters = new URLSearchParams({
      query: "SELECT ?r { ?s <urn:left> '4' ; <urn:right> ?r }",
      provenance: "true",
    });
    const response = await fetch(`${service.url}/federations/all/sparql?${parameters.toString()}`, {
      headers: { accept: "text/csv" },
    });
    expect(await response.text()).toBe("r,fedway_from\r\n6,m1 m2\r\n");
  });

  it.each([
    ["a direct plan", "/endpoints/m0/sparql", "SELECT ?fedway_from { ?fedway_from <urn:left> ?l }"],
    ["a federated plan", "/federations/all/sparql", "SELECT * { ?s <urn:left> ?l ; <urn:right> ?fedway_from }"],
  ])("are refused where the query has their column itself: %s", async (_, path, query) => {
    const ask = async (provenance: string): Promise<Response> =>
      fetch(`${service.url}${path}?${new URLSearchParams({ query, provenance }).toString()}`);
    const refused = await ask("true");
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      {
        code: "REQUEST_INVALID",
        detail: "The query has a column fedway_from itself.",
        next: "Rename it, or leave out provenance.",
      },
    ]);
    expect((await ask("false")).status).toBe(200);
  });

  it("say nothing where that is not asked for", async () => {
    expect(await rows("SELECT ?l { SERVICE <m0> { ?s <urn:left> ?l } }", { provenance: false })).toEqual([
      "l",
      "1",
      "2",
    ]);
  });
});

it("marks cells for spreadsheets on request, whether the answer comes through or is written here", async () => {
  const query = 'SELECT ?c { VALUES ?c { "=1+1" "@x" -5 "-5 apples" } }';
  const asked = async (path: string, spreadsheet: string): Promise<string> => {
    const search = new URLSearchParams({ query, spreadsheet }).toString();
    return (await fetch(`${service.url}${path}?${search}`, { headers: { accept: "text/csv" } })).text();
  };
  for (const path of ["/endpoints/m0/sparql", "/sparql"]) {
    expect((await asked(path, "true")).split(/\r?\n/)).toEqual(["c", "'=1+1", "'@x", "-5", "'-5 apples", ""]);
    expect((await asked(path, "false")).split(/\r?\n/)).toEqual(["c", "=1+1", "@x", "-5", "-5 apples", ""]);
  }
});
