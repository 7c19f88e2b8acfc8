import { describe, expect, it } from "vitest";
import type { QueryPlan } from "../../../src/plan/query-plan.ts";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import { testEngineOver, toBounds } from "../../support/engine-answer.ts";
import { createStoreClient } from "../../support/store-client.ts";
import { inFull, planFor, toCatalog, toEntry } from "../plan/plan-cases.ts";

const a = "{ SERVICE <a> { ?s <urn:p> ?o } }";
const b = "{ SERVICE <b> { ?s <urn:q> ?o } }";
const both = `{ ${a} UNION ${b} }`;
const any = "{ { SERVICE <a> { ?s ?p ?o } } UNION { SERVICE <b> { ?s ?p ?o FILTER(?o > 3) } } }";

const triple = (name: string) => `<urn:s> <urn:${name}> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .`;
const client = createStoreClient(
  Object.fromEntries(["a", "b"].map((id) => [toEntry(id).url, ["p", "q"].map(triple).join("\n")])),
);
const engine = testEngineOver(client);

/** What the endpoints are asked to count, and the answer. */
async function counted(plan: QueryPlan) {
  if (plan.kind !== "federated") throw new Error(`${plan.kind} plan`);
  client.requests.length = 0;
  const result = await engine.execute(plan, toBounds());
  if (result.kind !== "bindings") throw new Error(result.kind);
  const rows: string[] = [];
  for await (const row of result.rows) rows.push(result.variables.map((name) => row.get(name)?.value).join(" "));
  const asked = client.requests.flatMap(({ query }) =>
    query.includes("COUNT(") ? [query.replaceAll(/\s+/gu, " ")] : [],
  );
  return { asked, rows };
}
const asked = async (query: string): Promise<readonly string[]> => (await counted(planFor(query))).asked;

describe("COUNT over a UNION of SERVICE clauses is done by their endpoints", () => {
  it("as a sum of their counts", async () => {
    expect(await counted(planFor(`SELECT (COUNT(*) AS ?n) ${both}`))).toEqual({
      asked: ["p", "q"].map(
        (name) => `SELECT ?fedway_part0 WHERE { SELECT (COUNT(*) AS ?fedway_part0) WHERE { ?s <urn:${name}> ?o } }`,
      ),
      rows: ["2"],
    });
  });

  it("in HAVING, ORDER BY and expressions alike, once for each thing that is counted", async () => {
    const query = `SELECT ?p (COUNT(*) + COUNT(?x) AS ?n)
      { { SERVICE <a> { ?s ?p ?o } } UNION { SERVICE <b> { ?s ?p ?o OPTIONAL { ?o ?p ?x } } } }
      GROUP BY ?p HAVING (COUNT(?o) > 1) ORDER BY DESC(COUNT(*)) LIMIT 3`;
    expect(await asked(query.replace("?s ?p ?o }", "?s ?p ?o OPTIONAL { ?o ?p ?x } }"))).toContain(
      "SELECT ?p ?fedway_part0 ?fedway_part1 WHERE { SELECT ?p (COUNT(*) AS ?fedway_part0) (COUNT(?x) AS ?fedway_part1) WHERE { ?s ?p ?o OPTIONAL { ?o ?p ?x } } GROUP BY ?p }",
    );
  });

  it("of a subselect", async () => {
    const { rows } = await counted(
      planFor(`SELECT * { { SELECT (COUNT(*) AS ?n) ${both} } SERVICE <a> { ?s ?p ?o } }`),
    );
    expect(rows).toHaveLength(2);
    expect(client.requests.filter(({ query }) => query.includes("COUNT("))).toHaveLength(2);
  });

  it.each([
    `SELECT ?p (COUNT(?o) AS ?n) ${any} GROUP BY ?p`,
    `SELECT (COUNT(*) AS ?n) { ${a} UNION ${b} } VALUES ?s { <urn:x> }`,
    `SELECT (COUNT(?o) AS ?n) { ${a} UNION { ${a} UNION ${b} } }`,
    "SELECT (COUNT(?x) AS ?n) { { SERVICE <a> { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z } } } UNION { SERVICE <b> { SELECT DISTINCT ?x { ?x <urn:p> ?y } } } }",
    "SELECT ?p (COUNT(*) AS ?n) { { SERVICE <a> { ?x ?p ?y FILTER(?y > 3) } } UNION { SERVICE <b> { ?y ?p ?x } } } GROUP BY ?p",
  ])("%s", async (query) => expect((await asked(query)).length).toBeGreaterThan(1));
});

describe("solutions are counted here", () => {
  const silent = "{ SERVICE SILENT <b> { ?s <urn:q> ?o } }";
  it.each([
    ["distinct ones", `SELECT (COUNT(DISTINCT ?s) AS ?n) ${both}`],
    ["with other aggregates", `SELECT (COUNT(*) AS ?n) (MAX(?o) AS ?m) ${both}`],
    ["with other aggregates in ORDER BY", `SELECT ?p (COUNT(*) AS ?n) ${any} GROUP BY ?p ORDER BY MAX(?o)`],
    ["of an expression", `SELECT (COUNT(?o + 1) AS ?n) ${both}`],
    ["of a silent clause", `SELECT (COUNT(*) AS ?n) { ${a} UNION ${silent} }`],
    ["that are joined", "SELECT (COUNT(*) AS ?n) { SERVICE <a> { ?s <urn:p> ?o } SERVICE <b> { ?s <urn:q> ?o } }"],
    ["that are tested", `SELECT (COUNT(*) AS ?n) { ${a} UNION ${b} FILTER(?o > 3) }`],
    ["beside a branch without a clause", `SELECT (COUNT(*) AS ?n) { ${a} UNION ${b} UNION { BIND(1 AS ?s) } }`],
    ["where a clause lacks the variable", `SELECT (COUNT(?x) AS ?n) { ${a} UNION { SERVICE <b> { ?x <urn:p> ?s } } }`],
    ["in groups that may be literals", `SELECT ?o (COUNT(*) AS ?n) ${any} GROUP BY ?o`],
    ["in groups that may be many", `SELECT ?s (COUNT(*) AS ?n) ${any} GROUP BY ?s`],
    [
      "in groups by what is a predicate in one clause only",
      "SELECT ?p (COUNT(*) AS ?n) { { SERVICE <a> { ?s ?p ?o } } UNION { SERVICE <b> { ?s <urn:p> ?p } } } GROUP BY ?p",
    ],
    [
      "in groups without a predicate in each solution",
      "SELECT ?p (COUNT(*) AS ?n) { { SERVICE <a> { ?s ?q ?o OPTIONAL { ?o ?p ?x } } } UNION { SERVICE <b> { ?s ?p ?o } } } GROUP BY ?p",
    ],
    ["in groups by an expression", `SELECT ?t (COUNT(*) AS ?n) ${any} GROUP BY (STR(?p) AS ?t)`],
  ])("%s", async (_, query) => expect(await asked(query)).toEqual([]));
});

describe("endpoints that cannot count", () => {
  async function counts(text: string, lacking: readonly string[]): Promise<boolean> {
    const planner = createPlanner({
      catalog: toCatalog([toEntry("a"), toEntry("b")]),
      egress: "catalog",
      publicUrl: "http://fedway.example",
      capabilities: { version: 1, view: (id) => (id === "b" ? { lacks: new Set(lacking) } : undefined) },
    });
    const { plan } = planner.plan({ text: inFull(text), strict: false, defaultGraphs: [], namedGraphs: [] });
    return (await counted(plan)).asked.length > 0;
  }
  const ungrouped = `SELECT (COUNT(*) AS ?n) ${both}`;
  const grouped = `SELECT ?p (COUNT(*) AS ?n) ${any} GROUP BY ?p`;
  it.each(["subquery", "aggregates", "aggregateTruth"])("as they lack %s", async (lack) => {
    expect(await counts(ungrouped, [lack])).toBe(false);
  });
  it("as they lack groups", async () => expect(await counts(grouped, ["groupHaving"])).toBe(false));
  it("though they lack something else", async () => expect(await counts(grouped, ["minus"])).toBe(true));
});
