import { describe, expect, it } from "vitest";
import { createTestedEngine } from "../../support/tested-engine.ts";
import { toBounds, toFederatedPlan } from "../../support/engine-answer.ts";
import { createStoreClient } from "../../support/store-client.ts";

const [json, csv] = ["http://json.example/sparql", "http://csv.example/sparql"];
const typed = (value: string): string => `"${value}"^^<http://www.w3.org/2001/XMLSchema#integer>`;
const stores = createStoreClient({
  [json]: `<urn:x:a> <urn:x:p> ${typed("5")} .\n<urn:x:a> <urn:x:q> <urn:x:b> .`,
  [csv]: `<urn:x:b> <urn:x:n> ${typed("5")} .\n<urn:x:b> <urn:x:l> "five"@en .\n<urn:x:b> <urn:x:e> "" .`,
});

/** One of the endpoints answers in CSV. */
const engine = createTestedEngine({
  client: {
    async query(request) {
      const answer = await stores.query(request);
      if (request.endpoint.url === json) return answer;
      const { head, results } = JSON.parse((answer.body as Buffer).toString()) as {
        head: { vars: string[] };
        results: { bindings: Record<string, { value: string }>[] };
      };
      const rows = results.bindings.map((row) => head.vars.map((name) => row[name]?.value ?? "").join(","));
      return { ...answer, mediaType: "text/csv", body: Buffer.from([head.vars.join(","), ...rows, ""].join("\r\n")) };
    },
  },
  maxSolutions: 1_000,
  now: () => performance.now(),
});
const over = { federation: "f", members: [{ url: json }, { url: csv }] };

async function run(query: string): Promise<string[]> {
  const plan = toFederatedPlan(query);
  const result = await engine.execute(plan.clauses.length > 0 ? plan : { ...plan, over }, toBounds());
  const rows: string[] = [];
  if (result.kind === "bindings") for await (const row of result.rows) rows.push(row.get("x")?.value ?? "-");
  return rows;
}

const values = `SERVICE <${csv}> { ?s <urn:x:n> ?x }`;

describe("values of an endpoint that answers in CSV", () => {
  it.each([
    ["joined", `SELECT * { SERVICE <${json}> { ?a <urn:x:p> ?x } ${values} }`],
    ["compared", `SELECT * { SERVICE <${json}> { ?a <urn:x:q> ?s } ${values} FILTER(?x + 0 > 4) }`],
    ["added up", `SELECT (SUM(?x) AS ?y) { SERVICE <${json}> { ?a <urn:x:q> ?s } ${values} }`],
    ["told apart", `SELECT DISTINCT ?x { SERVICE <${json}> { ?a <urn:x:q> ?s } ${values} }`],
    ["joined over members", "SELECT * { ?a <urn:x:p> ?x . ?b <urn:x:n> ?x }"],
    ["compared over members", "SELECT * { ?b <urn:x:n> ?x FILTER(?x + 0 > 4) }"],
  ])("are refused where they are %s", async (_, query) => {
    await expect(run(query)).rejects.toMatchObject({
      code: "ENDPOINT_NOT_SPARQL",
      message: expect.stringContaining("neither datatypes nor languages") as string,
    });
  });

  it.each([
    ["shown", `SELECT * { SERVICE <${json}> { ?a <urn:x:q> ?s } ${values} }`, ["5"]],
    [
      "compared by the endpoint",
      `SELECT * { SERVICE <${json}> { ?a <urn:x:q> ?s } SERVICE <${csv}> { ?s <urn:x:n> ?x FILTER(?x > 4) } }`,
      ["5"],
    ],
    [
      "IRIs",
      `SELECT * { SERVICE <${json}> { ?a <urn:x:q> ?s } SERVICE <${csv}> { ?s ?x ?o } } ORDER BY ?x`,
      ["urn:x:e", "urn:x:l", "urn:x:n"],
    ],
    ["empty texts, which are not unbound", "SELECT * { ?a <urn:x:q> ?s . ?s <urn:x:e> ?x }", [""]],
    ["shown over members", "SELECT * { ?a <urn:x:q> ?s . ?s <urn:x:l> ?x }", ["five"]],
  ])("are taken where they are %s", async (_, query, expected) => {
    expect(await run(query)).toEqual(expected);
  });
});
