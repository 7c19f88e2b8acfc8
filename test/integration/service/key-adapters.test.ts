import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../../src/app.ts";
import { startEndpoints, type TestEndpoints } from "../../support/federation-harness.ts";
import { openService } from "../../support/running-service.ts";

// Keys that two endpoints write in different ways are joined by an adapter that was accepted once.

const countries = ["007", "012", "140"].map(
  (code) => `<http://c/${code}> <http://v/code> "C-${code}" . <http://c/${code}> <http://v/name> "country ${code}" .
<http://c/${code}> <http://v/site> <http://site.example/${code}> . <http://c/${code}> <http://v/mail> "  Mail${code}@x " .`,
);
const statistics = ["7", "12", "140"].map(
  (code) => `<http://s/area/${code}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://w/Area> .
<http://s/area/${code}> <http://w/population> "${code}00"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://s/obs/${code}> <http://w/of> "${code}" . <http://s/obs/${code}> <http://w/value> "v${code}" .
<http://s/obs/${code}> <http://w/site> <https://site.example/0${code}> .
<http://s/obs/${code}> <http://w/mail> "mail${code.padStart(3, "0")}@X" .`,
);
/** One triple a line. */
const lines = (texts: readonly string[]): string => texts.join("\n").replaceAll(" . <", " .\n<");
const prefixes = "PREFIX v: <http://v/> PREFIX w: <http://w/>\n";

let endpoints: TestEndpoints;
let app: App;
let url: string;
beforeAll(async () => {
  endpoints = await startEndpoints({ countries: lines(countries), statistics: lines(statistics) });
  app = await openService(endpoints.urls, { FEDWAY_ADMIN_TOKEN: "off" });
  url = await app.listen();
});
afterAll(async () => {
  await app?.close();
  await endpoints?.close();
});

async function post(path: string, body: object) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

const accept = (key: string, otherKey: string, other = "statistics") =>
  post("/api/endpoints/countries/adapters", { key: `http://v/${key}`, other, otherKey: `http://w/${otherKey}` });

async function rows(query: string): Promise<{ rows: readonly object[]; notes: string }> {
  const { status, body } = await post("/api/query", { query: prefixes + query });
  expect(status, JSON.stringify(body)).toBe(200);
  return { rows: body["rows"] ?? [], notes: JSON.stringify(body["notes"]) };
}

describe("an accepted adapter", () => {
  it("joins the keys in all queries, in either order, and says so", async () => {
    const forward = "SELECT * { SERVICE <countries> { ?c v:code ?k ; v:name ?n } SERVICE <statistics> { ?o w:of ?k ; w:value ?v } }";
    expect((await rows(forward)).rows).toEqual([]);
    const accepted = await accept("code", "of");
    expect(accepted).toMatchObject({
      status: 201,
      body: { here: { property: "http://v/code" }, otherEndpoint: "statistics", matches: 3, rule: { prefix: "C-" } },
    });
    const answer = await rows(`${forward} ORDER BY ?k`);
    expect(answer.rows.map((row) => JSON.stringify(row))).toHaveLength(3);
    expect(JSON.stringify(answer.rows[0])).toContain("C-007");
    expect(JSON.stringify(answer.rows[0])).toContain("v7");
    expect(JSON.stringify(answer.rows)).not.toContain("k_key");
    expect(answer.notes).toContain("KEYS_ADAPTED");
    const backward = "SELECT * { SERVICE <statistics> { ?o w:of ?k ; w:value ?v } SERVICE <countries> { ?c v:code ?k ; v:name ?n } }";
    expect((await rows(backward)).rows).toHaveLength(3);
    const optional = "SELECT * { SERVICE <countries> { ?c v:code ?k } OPTIONAL { SERVICE <statistics> { ?o w:of ?k ; w:value ?v FILTER(?v != 'v7') } } }";
    expect((await rows(optional)).rows).toHaveLength(3);
    const own = "SELECT * { SERVICE <countries> { ?c v:code ?k } BIND(STR(?k) AS ?j) SERVICE <statistics> { ?o w:of ?j } }";
    expect((await rows(own)).notes).not.toContain("KEYS_ADAPTED");
  });
});
