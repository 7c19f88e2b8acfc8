import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../../src/app.ts";
import { startEndpoints, type TestEndpoints } from "../../support/federation-harness.ts";
import { eventually } from "../../support/eventually.ts";
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
  const federation = `@prefix fedway: <https://w3id.org/fedway/ns#> . @prefix dcterms: <http://purl.org/dc/terms/> .
[] a fedway:Federation ; dcterms:identifier "both" ; dcterms:title "both" ; fedway:member "countries", "statistics" .`;
  app = await openService(endpoints.urls, {}, { "both.ttl": federation });
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

async function rows(query: string, federation?: string): Promise<{ rows: readonly object[]; notes: string }> {
  const { status, body } = await post("/api/query", { query: prefixes + query, federation });
  expect(status, JSON.stringify(body)).toBe(200);
  return { rows: body["rows"] ?? [], notes: JSON.stringify(body["notes"]) };
}

it("is a tool of agents only where the operator allows it", async () => {
  const names = (of: App): readonly string[] => of.toolbox("full").tools.map(({ name }) => name);
  expect(names(app)).not.toContain("accept_adapter");
  const other = await openService(endpoints.urls, { FEDWAY_ACCEPT_ADAPTERS: "on" });
  try {
    const given = { endpoint: "countries", key: "<http://v/code>", other: "statistics", other_key: "http://w/of" };
    const caller = { signal: new AbortController().signal, owner: "somebody" };
    const { text, problem } = await other.toolbox("full").call("accept_adapter", given, caller);
    expect({ text, problem }).toEqual({ text: expect.stringContaining("accepted: 3 values met"), problem: undefined });
  } finally {
    await other.close();
  }
});

it.each([
  ["on", "accept_adapter keeps it for all queries."],
  ["off", undefined],
])("is what a tool says of an empty answer where it is %s", async (setting, says) => {
  const other = await openService(endpoints.urls, { FEDWAY_ACCEPT_ADAPTERS: setting });
  try {
    const query = `${prefixes}SELECT * { SERVICE <countries> { ?c v:code ?k } SERVICE <statistics> { ?o w:of ?k ; w:value ?v } }`;
    const caller = { signal: new AbortController().signal, owner: "somebody" };
    const { text } = await other.toolbox("full").call("run_query", { query }, caller);
    expect(text).toContain("EMPTY_KEYS");
    expect(text.includes("accept_adapter")).toBe(says !== undefined);
    expect(text).toContain(says ?? "next: Take the repair");
    expect(text).not.toContain("POST");
  } finally {
    await other.close();
  }
});

describe("an accepted adapter", () => {
  it("joins the keys in all queries, in either order, and says so", async () => {
    const forward =
      "SELECT * { SERVICE <countries> { ?c v:code ?k ; v:name ?n } SERVICE <statistics> { ?o w:of ?k ; w:value ?v } }";
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
    const backward =
      "SELECT * { SERVICE <statistics> { ?o w:of ?k ; w:value ?v } SERVICE <countries> { ?c v:code ?k ; v:name ?n } }";
    expect((await rows(backward)).rows).toHaveLength(3);
    const optional =
      "SELECT * { SERVICE <countries> { ?c v:code ?k } OPTIONAL { SERVICE <statistics> { ?o w:of ?k ; w:value ?v FILTER(?v != 'v7') } } }";
    expect((await rows(optional)).rows).toHaveLength(3);
    const own =
      "SELECT * { SERVICE <countries> { ?c v:code ?k } BIND(STR(?k) AS ?j) SERVICE <statistics> { ?o w:of ?j } }";
    expect((await rows(own)).notes).not.toContain("KEYS_ADAPTED");
  });

  it.each([
    // Two-sided: both are made keys.
    ["mail", "mail", "?c v:mail ?k", "?o w:mail ?k", 3],
    // Literals and IRIs of things of a class.
    ["code", "Area", "?c v:code ?k", "?k a w:Area ; w:population ?p", 3],
    ["site", "site", "?c v:site ?k", "?o w:site ?k", 3],
  ])("makes %s and %s alike", async (key, otherKey, left, right, count) => {
    const query = `SELECT ?c ?k { SERVICE <statistics> { ${right} } SERVICE <countries> { ${left} } }`;
    expect((await rows(query)).rows).toEqual([]);
    expect((await accept(key, otherKey)).status).toBe(201);
    expect((await rows(query)).rows).toHaveLength(count);
  });

  it("joins patterns over a federation whose terms one member has", async () => {
    for (const id of Object.keys(endpoints.urls)) await post(`/api/endpoints/${id}/describe`, {});
    const query = "SELECT ?n ?v { ?o w:value ?v ; w:of ?k . ?c v:code ?k ; v:name ?n }";
    await eventually(async () => expect((await rows(query, "both")).rows).toHaveLength(3));
    const mails = await rows("SELECT ?c ?k ?o { ?c v:mail ?k OPTIONAL { ?o w:mail ?k } }", "both");
    expect(JSON.stringify(mails.rows)).toContain("http://s/obs/12");
  });

  it.each([
    ["nothing", "of", "statistics", 400, "neither a property nor a class that countries has"],
    ["name", "value", "statistics", 400, "No way was found to make them alike"],
    ["name", "name", "countries", 400, "both sides are the same"],
    ["name", "name", "nowhere", 404, "nowhere"],
  ])("is refused for %s and %s of %s", async (key, otherKey, other, status, reason) => {
    const answer = await accept(key, otherKey, other);
    expect({ status: answer.status, detail: answer.body["detail"] }).toEqual({
      status,
      detail: expect.stringContaining(reason),
    });
  });

  it("stays in the entry's document, which can be read and put again", async () => {
    const at = `${url}/api/endpoints/countries`;
    const turtle = await (await fetch(at, { headers: { accept: "text/turtle" } })).text();
    expect(turtle).toContain("keyAdapter");
    const headers = { "content-type": "text/turtle" };
    const put = await fetch(at, { method: "PUT", headers, body: turtle });
    expect(put.status).toBe(200);
    const query = "SELECT * { SERVICE <countries> { ?c v:mail ?k } SERVICE <statistics> { ?o w:mail ?k } }";
    expect((await rows(query)).rows).toHaveLength(3);
    const wrong = turtle.replaceAll('"padding"', '"stuffing"');
    const refused = await fetch(at, { method: "PUT", headers, body: wrong });
    expect({ status: refused.status, text: await refused.text() }).toMatchObject({
      status: 422,
      text: expect.stringContaining("stuffing"),
    });
  });
});
