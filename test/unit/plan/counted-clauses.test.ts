import { describe, expect, it } from "vitest";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import { inFull, planFor, toCatalog, toEntry } from "./plan-cases.ts";

const a = "{ SERVICE <a> { ?s <urn:p> ?o } }";
const b = "{ SERVICE <b> { ?s <urn:q> ?o } }";
const both = `{ ${a} UNION ${b} }`;
const any = "{ { SERVICE <a> { ?s ?p ?o } } UNION { SERVICE <b> { ?s ?p ?o FILTER(?o > 3) } } }";
const sum = "SUM(<http://www.w3.org/2001/XMLSchema#integer>(?fedway_count0))";

/** What the endpoints are asked for; nothing when they are asked for the solutions themselves. */
function asked(query: string): readonly string[] {
  const plan = planFor(query);
  if (plan.kind !== "federated") throw new Error(`${plan.kind} plan`);
  return plan.clauses.flatMap(({ pattern }) => (pattern.includes("fedway_count") ? [pattern] : []));
}

describe("COUNT over a UNION of SERVICE clauses is done by their endpoints", () => {
  it("as a sum of their counts", () => {
    const plan = planFor(`SELECT (COUNT(*) AS ?n) ${both}`);
    expect(plan).toMatchObject({
      skeleton: expect.stringMatching(/^SELECT \(SUM\(\S+integer>\(\?fedway_count0\)\) AS \?n\) /u),
      clauses: [
        { pattern: "{ SELECT (COUNT(*) AS ?fedway_count0) WHERE { ?s <urn:p> ?o } }", nonMonotone: "place" },
        { pattern: "{ SELECT (COUNT(*) AS ?fedway_count0) WHERE { ?s <urn:q> ?o } }", nonMonotone: "place" },
      ],
    });
    expect(plan).toMatchObject({ clauses: [{ distinct: undefined, limit: undefined }, { distinct: undefined }] });
  });

  it("in HAVING, ORDER BY and expressions alike, once for each thing that is counted", () => {
    const query = `SELECT ?p (COUNT(*) + COUNT(?o) AS ?n) ${any} GROUP BY ?p HAVING (COUNT(?o) > 1) ORDER BY DESC(COUNT(*)) LIMIT 3`;
    const plan = planFor(query);
    const counts = "(COUNT(*) AS ?fedway_count0) (COUNT(?o) AS ?fedway_count1)";
    expect(asked(query)[0]).toBe(`{ SELECT ?p ${counts} WHERE { ?s ?p ?o } GROUP BY ?p }`);
    if (plan.kind !== "federated") throw new Error(plan.kind);
    expect(plan.query).toContain(`ORDER BY DESC(${sum}) LIMIT 3`);
    expect(plan.query).not.toContain("COUNT(?o) > 1");
  });

  it.each([
    `SELECT ?p (COUNT(?o) AS ?n) ${any} GROUP BY ?p`,
    `SELECT (COUNT(?o) AS ?n) { ${a} UNION { ${a} UNION ${b} } }`,
    "SELECT (COUNT(?x) AS ?n) { { SERVICE <a> { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z } } } UNION { SERVICE <b> { SELECT DISTINCT ?x { ?x <urn:p> ?y } } } }",
    "SELECT ?p (COUNT(*) AS ?n) { { SERVICE <a> { ?x ?p ?y FILTER(?y > 3) } } UNION { SERVICE <b> { ?y ?p ?x } } } GROUP BY ?p",
  ])("%s", (query) => expect(asked(query).length).toBeGreaterThan(1));
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
    ["of a subselect", `SELECT * { { SELECT (COUNT(*) AS ?n) ${both} } }`],
    ["beside VALUES", `SELECT (COUNT(*) AS ?n) { ${a} UNION ${b} } VALUES ?s { <urn:x> }`],
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
  ])("%s", (_, query) => expect(asked(query)).toEqual([]));
});

describe("endpoints that cannot count", () => {
  const query = (text: string): string => inFull(text).replaceAll("<data>", "<http://data.example/data>");
  function counts(text: string, lacking: readonly string[]): boolean {
    const planner = createPlanner({
      catalog: toCatalog([
        toEntry("a"),
        toEntry("b"),
        toEntry("data", { interface: "tpf", url: "http://data.example/data" }),
      ]),
      egress: "catalog",
      publicUrl: "http://fedway.example",
      capabilities: { version: 1, view: (id) => (id === "b" ? { lacks: new Set(lacking) } : undefined) },
    });
    const { plan } = planner.plan({ text: query(text), strict: false, defaultGraphs: [], namedGraphs: [] });
    return plan.kind === "federated" && plan.query.includes("fedway_count");
  }
  const ungrouped = `SELECT (COUNT(*) AS ?n) ${both}`;
  const grouped = `SELECT ?p (COUNT(*) AS ?n) ${any} GROUP BY ?p`;
  it.each(["subquery", "aggregates", "aggregateTruth"])("as they lack %s", (lack) => {
    expect(counts(ungrouped, [lack])).toBe(false);
  });
  it("as they lack groups", () => {
    expect([counts(ungrouped, ["groupHaving"]), counts(grouped, ["groupHaving"])]).toEqual([true, false]);
  });
  it("though they lack something else", () => expect(counts(grouped, ["minus", "values"])).toBe(true));
  it("as they do not speak SPARQL", () => {
    expect(counts(`SELECT (COUNT(*) AS ?n) { ${a} UNION { SERVICE <data> { ?s <urn:q> ?o } } }`, [])).toBe(false);
  });
});
