import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type Federation,
  startEndpoints,
  startFederation,
  type TestEndpoints,
} from "../../support/federation-harness.ts";

const numbers = [...Array.from({ length: 1_990 }).keys()];
const facts = (...predicates: readonly string[]): string =>
  numbers.map((n) => `<urn:s${n}> <urn:${predicates[n % predicates.length]}> <urn:o${n}> .`).join("\n");

let endpoints: TestEndpoints;
let federation: Federation;
beforeAll(async () => {
  endpoints = await startEndpoints({ a: facts("p"), b: facts("p", "q") });
  federation = await startFederation(endpoints.urls);
});
beforeEach(() => {
  endpoints.setFault("b", undefined);
  endpoints.clearRequests();
});
afterAll(async () => {
  await federation?.close();
  await endpoints?.close();
});

const a = (body: string): string => `{ SERVICE <${endpoints.url("a")}> { ${body} } }`;
const b = (body: string): string => `{ SERVICE <${endpoints.url("b")}> { ${body} } }`;
const integer = (count: number): string => `"${count}"^^<http://www.w3.org/2001/XMLSchema#integer>`;

/** Bytes that both endpoints sent, in one answer each. */
function bytesSent(): number {
  const sent = ["a", "b"].flatMap((id) => endpoints.requests(id));
  expect(sent).toHaveLength(2);
  return sent.reduce((sum, { answerBytes }) => sum + answerBytes, 0);
}

describe("solutions of several endpoints", () => {
  it("are counted there, in a request and a row each", async () => {
    const union = `{ ${a("?s <urn:p> ?o")} UNION ${b("?s <urn:p> ?o")} }`;
    expect((await federation.table(`SELECT (COUNT(*) AS ?n) ${union}`)).rows).toEqual([[integer(2_985)]]);
    expect(bytesSent()).toBeLessThan(1_000);
  });

  it("are counted as 0 where there are none", async () => {
    const union = `{ ${a("?s <urn:nobody> ?o")} UNION ${b("?s <urn:nobody> ?o")} }`;
    expect((await federation.table(`SELECT (COUNT(?o) AS ?n) ${union}`)).rows).toEqual([[integer(0)]]);
    expect((await federation.table(`SELECT ?s (COUNT(?o) AS ?n) ${union} GROUP BY ?s`)).rows).toEqual([]);
  });

  it("are counted in groups, of which each endpoint may have a part", async () => {
    const union = `{ ${a("?s ?p ?o")} UNION ${b("?s ?p ?o")} }`;
    const query = `SELECT ?p (COUNT(*) AS ?n) ${union} GROUP BY ?p HAVING (COUNT(?o) > 1) ORDER BY DESC(COUNT(*))`;
    expect((await federation.table(query)).rows).toEqual([
      ["<urn:p>", integer(2_985)],
      ["<urn:q>", integer(995)],
    ]);
    expect(bytesSent()).toBeLessThan(1_000);
  });

  it("are sent where they must be told apart here", async () => {
    const union = `{ ${a("?s <urn:p> ?o")} UNION ${b("?s <urn:p> ?o")} }`;
    expect((await federation.table(`SELECT (COUNT(DISTINCT ?s) AS ?n) ${union}`)).rows).toEqual([[integer(1_990)]]);
    expect(bytesSent()).toBeGreaterThan(100_000);
  });
});

describe("a count of an endpoint", () => {
  const counted = (term: object): string =>
    JSON.stringify({ head: { vars: ["fedway_part0"] }, results: { bindings: [{ fedway_part0: term }] } });
  const query = (): string => `SELECT (COUNT(*) AS ?n) { ${a("?s <urn:p> ?o")} UNION ${b("?s <urn:p> ?o")} }`;
  const answersWith = (term: object): void => {
    const headers = { "content-type": "application/sparql-results+json" };
    endpoints.setFault("b", { kind: "body", body: counted(term), headers });
  };

  it.each(["int", "nonNegativeInteger", "decimal", "string"])("may be of type %s", async (type) => {
    answersWith({ type: "literal", value: "7", datatype: `http://www.w3.org/2001/XMLSchema#${type}` });
    expect((await federation.table(query())).rows).toEqual([[integer(1_997)]]);
  });

  it("that is no number ends the query", async () => {
    answersWith({ type: "literal", value: "many" });
    expect(await federation.table(query())).toMatchObject({
      status: "failed",
      diagnosis: { code: "ENDPOINT_MALFORMED", where: { endpoint: "b" } },
    });
  });

  it("that fails leaves an error, or a count that is uncertain", async () => {
    endpoints.setFault("b", { kind: "status", status: 500 });
    expect(await federation.table(query())).toMatchObject({
      status: "failed",
      diagnosis: { where: { endpoint: "b" } },
    });
    const partial = await federation.table(query(), { partial: true });
    expect(partial).toMatchObject({ status: "partial", partial: "uncertain", rows: [[integer(1_990)]] });
  });
});
