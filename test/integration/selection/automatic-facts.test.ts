import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "../../../src/app.ts";
import { planText } from "../../../src/views/plan-view.ts";
import { generateShop } from "../../bench/federation/shop/generate.ts";
import { shopQueries } from "../../bench/federation/shop/queries.ts";
import { eventually } from "../../support/eventually.ts";
import { openService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

/** Requests to 20 undescribed members, and to those whose triples are known (`unit/engine/shop-requests.test.ts`). */
const asked = { q01: { before: 20, after: 5 }, q03: { before: 20, after: 5 }, q08: { before: 20, after: 5 } };
const servers: SparqlTestServer[] = [];
let ids: readonly string[];
let app: App;

beforeAll(async () => {
  const shop = generateShop(20);
  ids = Object.keys(shop).map((id) => id.toLowerCase());
  for (const triples of Object.values(shop)) servers.push(await startSparqlTestServer(triples));
  const urls = Object.fromEntries(ids.map((id, at) => [id, servers[at]?.url ?? ""]));
  const federation = `@prefix fedway: <https://w3id.org/fedway/ns#> . @prefix dcterms: <http://purl.org/dc/terms/> .
    [] a fedway:Federation ; dcterms:identifier "shop" ; dcterms:title "Shop" ;
      fedway:member ${ids.map((id) => `"${id}"`).join(", ")} .`;
  const on = { FEDWAY_FACTS: "on", FEDWAY_MONITOR: "on", FEDWAY_HARVEST_ROWS: "0" };
  app = await openService(urls, on, { "shop.ttl": federation });
});

afterAll(async () => {
  await app.close();
  await Promise.all(servers.map((server) => server.close()));
});

function requestOf(name: string) {
  const { text = "" } = shopQueries.find((query) => query.name === name) ?? {};
  return { text, federationId: "shop", strict: false, partial: false, defaultGraphs: [], namedGraphs: [] };
}

/** Rows and requests of a query over the shop. */
async function ask(name: string) {
  const { signal } = new AbortController();
  const { rows, status, run, facts } = await app.queries.table({ ...requestOf(name), signal, maxRows: 10_000 });
  expect(status).toBe("ok");
  const { sources, facts: kept } = (await app.queries.runRecord(run)) ?? {};
  expect(kept?.known).toEqual(facts?.known);
  const requests = (sources ?? []).reduce((sum, source) => sum + source.requests, 0);
  return { rows: rows.map((row) => row.join(" ")).toSorted(), requests, known: facts?.known };
}

it("a federation that nobody has described needs the requests of a described one once the service has run for a while", async () => {
  const names = Object.keys(asked);
  const first = new Map<string, Awaited<ReturnType<typeof ask>>>();
  // Before the service listens it does nothing in the background.
  for (const name of names) first.set(name, await ask(name));
  for (const { known } of first.values()) expect(known).toEqual({ known: 0, members: 20 });
  const url = await app.listen();
  await eventually(async () => {
    for (const name of names) {
      const { rows, requests } = await ask(name);
      expect(rows).toEqual(first.get(name)?.rows);
      expect(requests).toBeLessThanOrEqual(asked[name as keyof typeof asked].after);
    }
  });
  const headers = new Map<string, string | null>();
  for (const prune of ["true", "false"]) {
    const body = new URLSearchParams({ query: requestOf("q01").text, prune });
    const response = await fetch(`${url}/federations/shop/sparql`, { method: "POST", body });
    await response.text();
    headers.set(prune, response.headers.get("Fedway-Facts"));
  }
  expect(headers.get("true")).toMatch(/^sources chosen by facts of .*; facts of 20 of 20 members$/u);
  expect(headers.get("false")).toBeNull();
  const plan = app.queries.explain(requestOf("q01"));
  expect(plan.facts).toEqual({ known: 20, members: 20 });
  expect(planText(plan)).toContain("facts of 20 of 20 members");
  for (const [name, { before }] of Object.entries(asked)) {
    expect(first.get(name)?.requests).toBeGreaterThanOrEqual(before);
    expect(first.get(name)?.rows.length).toBeGreaterThan(0);
  }
});
