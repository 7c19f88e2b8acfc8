import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EndpointPool } from "../../../src/hosting/endpoint-pool.ts";
import { type HostedEndpoint, HostedJob, type HostedQuery } from "../../../src/hosting/hosted-endpoint.ts";
import { StoreRunner } from "../../../src/hosting/store-runner.ts";
import { limits, queryOf } from "../../support/endpoint-under-test.ts";

// Oxigraph stores literals by value: "01" comes back as 1, and two spellings of a value are one triple.
const xsd = "http://www.w3.org/2001/XMLSchema#";
const typed = (text: string, name: string): string => `"${text}"^^<${xsd}${name}>`;
const objects = [
  typed("01", "integer"),
  typed("1", "integer"),
  typed("1", "int"),
  typed("1.0", "decimal"),
  typed("P1Y23M", "duration"),
  typed("P2Y11M", "duration"),
  typed("2020-01-01T24:00:00", "dateTime"),
  typed("2020-01-02T00:00:00", "dateTime"),
  typed("1", "boolean"),
  typed("true", "boolean"),
  '"say \\"01\\"^^<http://www.w3.org/2001/XMLSchema#integer>"',
  '"y"@en',
  "<urn:i>",
];
const data = `${objects.map((object, at) => `<urn:s${at}> <urn:p> ${object} .`).join("\n")}
<urn:a> <urn:q> ${typed("5", "integer")} .
_:b\t<urn:q>\t${typed("05", "integer")} .
<urn:g> <urn:r> ${typed("1.50", "decimal")} <urn:graph> .
`;

const patient = { ...limits, timeoutMs: 60_000 };
let endpoint: HostedEndpoint;
beforeAll(() => {
  endpoint = new EndpointPool(patient).endpoint({ id: "alpha", source: { kind: "text", text: data }, memoryMb: 64 });
});
afterAll(() => endpoint.close());

async function answerOf(query: string, more: Partial<HostedQuery> = {}): Promise<string> {
  const asked = queryOf(`PREFIX xsd: <${xsd}> ${query}`, {
    accept: "text/tab-separated-values",
    timeoutMs: 60_000,
    ...more,
  });
  return (await endpoint.query(asked)).body.toString().trim();
}
/** Rows as the columns after the name of each, with prefixes. */
const shouldBe = (query: string, ...rows: readonly string[]): void =>
  it(query, async () => {
    const [, ...found] = (await answerOf(query)).replaceAll(`<${xsd}`, "<xsd:").split("\n");
    const sorted = query.includes("ORDER BY") ? found : found.toSorted();
    expect(sorted).toEqual(query.includes("ORDER BY") ? rows : rows.toSorted());
  });
const [one, short, point] = ['"01"^^<xsd:integer>', '"1"^^<xsd:int>', '"1.0"^^<xsd:decimal>'];
const ones = [one, "1", short, point];
const numeric = "?s <urn:p> ?o FILTER(isNumeric(?o))";

it("terms come back as they were spelled", async () => {
  const found = await answerOf("CONSTRUCT WHERE { ?s <urn:p> ?o }", { kind: "quads", accept: "application/n-triples" });
  const lines = data.split("\n").filter((line) => line.includes("<urn:p>"));
  expect(found.split("\n").toSorted()).toEqual(lines.toSorted());
});

it.each([
  ["application/sparql-results+json", `"value":"01","datatype":"${xsd}integer"`],
  ["application/sparql-results+xml", `<literal datatype="${xsd}integer">01</literal>`],
  ["text/csv", "\r\n1.0\r\n"],
])("in %s", async (accept, text) => expect(await answerOf("SELECT ?o { ?s <urn:p> ?o }", { accept })).toContain(text));

it("in large answers", async () => {
  const query = "SELECT ?a ?b ?c { ?x <urn:p> ?a . ?y <urn:p> ?b . ?z <urn:p> ?c }";
  const rows = (await answerOf(query)).split("\n");
  expect(rows).toHaveLength(objects.length ** 3 + 1);
  expect(rows.filter((row) => row === [0, 0, 0].map(() => objects[0]).join("\t"))).toHaveLength(1);
  expect(new Set(rows.flatMap((row) => row.split("\t"))).size).toBe(objects.length + 3);
});

describe("patterns go by terms", () => {
  shouldBe("SELECT ?s { ?s <urn:p> 01 }", "<urn:s0>");
  shouldBe("SELECT ?s { ?s <urn:p> 1 }", "<urn:s1>");
  shouldBe("SELECT ?s { ?s <urn:p> '1'^^xsd:int }", "<urn:s2>");
  shouldBe("SELECT ?s { ?s <urn:p> 1.0 }", "<urn:s3>");
  shouldBe("SELECT ?s { ?s <urn:p> +1 }");
  shouldBe("SELECT ?s { ?s <urn:q> 5.0 }");
  shouldBe("SELECT ?s { GRAPH ?g { ?s <urn:r> 1.50 } }", "<urn:g>");
  shouldBe(
    'SELECT ?s ?o { VALUES ?o { 01 "P1Y23M"^^xsd:duration true } ?s <urn:p> ?o }',
    `<urn:s0>\t${one}`,
    '<urn:s4>\t"P1Y23M"^^<xsd:duration>',
    "<urn:s9>\ttrue",
  );
  shouldBe("SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s <urn:p> ?o }", `${objects.length}`);
  shouldBe("SELECT ?n { ?s <urn:q> ?o MINUS { ?s <urn:q> 05 } BIND(?o AS ?n) }", "5");
  shouldBe("SELECT ?s { ?s <urn:p> ?o FILTER(sameTerm(?o, 01)) }", "<urn:s0>");
  shouldBe("SELECT ?s { ?s (<urn:p>|<urn:q>) 05 FILTER(isBlank(?s) || true) }", expect.stringMatching(/^_:/) as never);
});

describe("operators go by values", () => {
  shouldBe("SELECT ?o { ?s <urn:p> ?o FILTER(?o = 1) }", ...ones);
  shouldBe(`SELECT ?o { ${numeric} }`, ...ones);
  shouldBe("SELECT ?o { ?s <urn:p> ?o FILTER(?o IN (<urn:i>, 1.00)) }", "<urn:i>", ...ones);
  shouldBe("SELECT ?o { ?s <urn:q> ?o FILTER(?o < 9.50 && ?o + ?o = 10) }", "5", '"05"^^<xsd:integer>');
  shouldBe(
    'SELECT ?o { ?s <urn:p> ?o FILTER(?o > "2020-01-01T12:00:00"^^xsd:dateTime) }',
    '"2020-01-01T24:00:00"^^<xsd:dateTime>',
    '"2020-01-02T00:00:00"^^<xsd:dateTime>',
  );
  shouldBe(
    "SELECT ?o (DATATYPE(?o) AS ?d) (STR(?o) AS ?t) (xsd:integer(?o) * 2 AS ?n) { ?s <urn:p> ?o FILTER(DATATYPE(?o) = xsd:int || sameTerm(?o, 01)) }",
    `${one}\t<xsd:integer>\t"01"\t2`,
    `${short}\t<xsd:int>\t"1"\t2`,
  );
  shouldBe("SELECT ?x { ?s <urn:p> ?o BIND(IF(isNumeric(?o), ?o, 0) AS ?x) FILTER(?x >= 1) }", ...ones);
  shouldBe("SELECT ?x { BIND(01 AS ?x) FILTER(?x = 1) }", one);
  shouldBe("SELECT ?o { VALUES ?o { 01 02 } FILTER EXISTS { ?s <urn:p> ?p FILTER(?p = $o && COALESCE(?o, 0)) } }", one);
  shouldBe("SELECT (SUM(?o) AS ?n) (COUNT(?o) AS ?c) { ?s <urn:q> ?o }", "10\t2");
  shouldBe(
    "SELECT ?d (COUNT(*) AS ?n) { ?s <urn:p> ?o FILTER(isNumeric(?o)) BIND(DATATYPE(?o) AS ?d) } GROUP BY ?d",
    "<xsd:integer>\t2",
    "<xsd:int>\t1",
    "<xsd:decimal>\t1",
  );
  shouldBe(
    "SELECT ?x { { ?s <urn:q> ?x } UNION { GRAPH ?g { ?s <urn:r> ?x } } } ORDER BY DESC(?x) ASC(STR(?x))",
    '"05"^^<xsd:integer>',
    "5",
    '"1.50"^^<xsd:decimal>',
  );
});

describe("the least and the greatest value are terms of the data", () => {
  shouldBe(
    "SELECT ?s { { SELECT (MAX(?o) AS ?m) { GRAPH ?g { ?s <urn:r> ?o } } } GRAPH ?g { ?s <urn:r> ?m } }",
    "<urn:g>",
  );
  shouldBe(
    "SELECT ?s (MIN(?o) AS ?m) (?m + 1 AS ?n) { ?s <urn:p> ?o FILTER(?o = 1) } GROUP BY ?s HAVING(MAX(?o) = 1) ORDER BY ?s",
    `<urn:s0>\t${one}\t2`,
    "<urn:s1>\t1\t2",
    `<urn:s2>\t${short}\t2`,
    `<urn:s3>\t${point}\t"2"^^<xsd:decimal>`,
  );
  shouldBe("SELECT (BOUND(?m) AS ?b) { { SELECT (MAX(?o) AS ?m) { ?s <urn:q> ?o FILTER(?o > 9) } } }", "false");
  shouldBe("SELECT (MIN(?o) AS ?m) { ?s <urn:p> ?o FILTER(isIRI(?o)) }", "<urn:i>");
});

it("updates of a live source keep their spelling, too", async () => {
  const updates = async function* () {
    yield { graph: "urn:g", quads: `<urn:s> <urn:p> ${typed("007", "integer")} <urn:g> .` };
  };
  const live = new EndpointPool(patient).endpoint({
    id: "live",
    source: { kind: "live", updates, asOfMs: () => 0 },
    memoryMb: 64,
  });
  const answer = await live.query(queryOf("SELECT ?o { ?s ?p ?o FILTER(?o = 7) }", { timeoutMs: 60_000 }));
  expect(answer.body.toString()).toBe("o\r\n007\r\n");
  await live.close();
});

it("takes at most half as much memory again", async () => {
  const memoryOf = async (fraction: string): Promise<number> => {
    const text = Array.from(
      { length: 50_000 },
      (_, n) => `<urn:s:${n}> <urn:p> ${typed(`${n}.${fraction}`, "decimal")} .`,
    );
    const source = { kind: "text", text: text.join("\n") } as const;
    const runner = new StoreRunner({ id: "alpha", source, memoryMb: 512, maxAnswerBytes: 1_000_000 });
    const request = { query: "ASK {}", signal: new AbortController().signal, timeoutMs: 60_000 };
    const job = new HostedJob({ endpointId: "alpha", request, mediaType: "text/csv", runLimitMs: 60_000 });
    await runner.run(job);
    const { memoryBytes } = runner;
    await runner.close();
    expect(memoryBytes).toBeGreaterThan(text.join("\n").length);
    return memoryBytes;
  };
  expect(await memoryOf("50")).toBeLessThan((await memoryOf("5")) * 1.5);
});
