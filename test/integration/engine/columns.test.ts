import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEndpoints, type TestEndpoints } from "../../support/federation-harness.ts";
import { type RunningService, startService } from "../../support/running-service.ts";

let endpoints: TestEndpoints;
let service: RunningService;

beforeAll(async () => {
  endpoints = await startEndpoints({ left: "<x:s> <x:p> <x:o> .", right: "<x:o> <x:q> <x:z> ." });
  service = await startService(endpoints.urls);
});
afterAll(async () => {
  await service.app.close();
  await endpoints.close();
});

const left = "SERVICE <left> { ?z <x:p> ?a }";
const right = "SERVICE <right> { ?a <x:q> ?m }";

// [the query, its columns]
const queries: readonly (readonly [string, string])[] = [
  [`SELECT * { ${left} ${right} }`, "z a m"],
  [`SELECT * { ${right} ${left} }`, "a m z"],
  [`SELECT * { BIND(1 AS ?k) ${right} VALUES ?c { 1 } OPTIONAL { ${left} } BIND(2 AS ?b) }`, "k a m c z b"],
  [`SELECT * { { SELECT ?m ?a { ${right} } } ${left} }`, "m a z"],
  [`SELECT * { FILTER(?m != 3) ${left} MINUS { ${right} } ${right} } VALUES (?y ?a) { (1 <x:o>) }`, "z a m y"],
  [`SELECT * { { ${left} } UNION { ${right} } }`, "z a m"],
  [`SELECT ?m ?a { ${left} ${right} }`, "m a"],
];

/** The header of the answer in each format, as names with a space between. */
const formats: readonly (readonly [string, (body: string) => string])[] = [
  ["application/sparql-results+json", (body) => (JSON.parse(body) as { head: { vars: string[] } }).head.vars.join(" ")],
  [
    "application/sparql-results+xml",
    (body) => Array.from(body.matchAll(/<variable name="(\w+)"/gu), ([, name]) => name).join(" "),
  ],
  ["text/csv", (body) => (body.split("\r\n")[0] ?? "").replaceAll(",", " ")],
  ["text/tab-separated-values", (body) => (body.split("\n")[0] ?? "").replaceAll("\t", " ").replaceAll("?", "")],
];

/** Of `/api/query`, which tools for agents show too. */
async function tableColumns(asked: Readonly<Record<string, string>>): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${service.url}/api/query`, { method: "POST", headers, body: JSON.stringify(asked) });
  return ((await response.json()) as { columns: string[] }).columns.join(" ");
}

describe("SELECT * has its columns in the order of appearance", () => {
  it.each(queries)("%s", async (query, expected) => {
    for (const [accept, columnsOf] of formats) {
      const answer = await service.query(query, { accept });
      expect([accept, columnsOf(await answer.text())]).toEqual([accept, expected]);
    }
    expect(await tableColumns({ query })).toEqual(expected);
  });

  it("also where one endpoint answers and its answer is read", async () => {
    expect(await tableColumns({ query: "SELECT * { ?z <x:p> ?a }", endpoint: "left" })).toBe("z a");
  });
});
