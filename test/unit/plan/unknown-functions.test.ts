import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createPlanner, type PlanRequest } from "../../../src/plan/create-planner.ts";
import { toCatalog, toEntry } from "./plan-cases.ts";

const catalog = toCatalog([toEntry("a"), toEntry("b"), toEntry("file", { interface: "file" })]);
const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example" });

/** The kind of the plan; of a rejected one its code and message. */
function planned(text: string, options: Partial<PlanRequest> = {}): string {
  const full = text.replaceAll(/<(a|b|file)>/g, "<http://$1.example/sparql>");
  const { plan } = planner.plan({ text: full, strict: false, defaultGraphs: [], namedGraphs: [], ...options });
  if (plan.kind !== "rejected") return plan.kind;
  expect(plan.reason).toBeInstanceOf(FedwayError);
  expect(plan.reason.kind.status).toBe(400);
  return `${plan.reason.code} ${plan.reason.message}`;
}

const two = "SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?s ?q ?x }";
const unknown = (name: string): string => `FUNCTION_UNKNOWN The function <${name}> is not known.`;
const prologue = "PREFIX f: <http://f.example/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>";

describe("what is evaluated here calls functions of SPARQL 1.1 only", () => {
  it.each([
    ["FILTER", `SELECT * { ${two} FILTER(f:near(?o, ?x)) }`],
    ["BIND", `SELECT * { ${two} BIND(1 + f:near(?o) AS ?z) }`],
    ["a projection", `SELECT (f:near(?o) AS ?z) { ${two} }`],
    ["an aggregate", `SELECT (SUM(f:near(?o)) AS ?z) { ${two} }`],
    ["an aggregate of its own", `SELECT (f:near(DISTINCT ?o) AS ?z) { ${two} }`],
    ["HAVING", `SELECT ?s { ${two} } GROUP BY ?s HAVING (f:near(MAX(?o)))`],
    ["ORDER BY", `SELECT ?s { ${two} } ORDER BY f:near(?o)`],
    ["EXISTS", `SELECT ?s { ${two} FILTER EXISTS { SERVICE <a> { ?s ?p2 ?o2 } FILTER(f:near(?o2)) } }`],
    ["a subquery", `SELECT ?s { ${two} { SELECT ?s { VALUES ?s { 1 } FILTER(f:near(?s)) } } }`],
    ["no SERVICE", "SELECT (f:near(1) AS ?z) {}"],
    ["the SERVICE of a file", "SELECT * { SERVICE <file> { ?s ?p ?o FILTER(f:near(?o)) } SERVICE <a> { ?s ?q ?x } }"],
  ])("in %s", (_, query) => {
    expect(planned(`${prologue} ${query}`)).toBe(unknown("http://f.example/near"));
  });

  it("and casts by their names and with one argument", () => {
    const cast = (call: string): string => planned(`${prologue} SELECT (${call} AS ?z) {}`);
    expect(cast("xsd:integer('1')")).toBe("federated");
    expect(cast("xsd:date('2020-01-01')")).toBe("federated");
    expect(cast("xsd:int('1')")).toBe(unknown("http://www.w3.org/2001/XMLSchema#int"));
    expect(cast("xsd:integer()")).toMatch(/^FUNCTION_UNKNOWN .*#integer> has one argument, not 0\./);
    expect(cast("xsd:integer(1, 2)")).toMatch(/has one argument, not 2\./);
  });

  it("and built-in functions with as many arguments as they have", () => {
    const call = (text: string): string => planned(`SELECT (${text} AS ?z) {}`);
    expect(call("SUBSTR('a')")).toBe("FUNCTION_UNKNOWN The function SUBSTR has 2 or 3 arguments, not 1.");
    expect(call("REGEX('a', 'b', 'i', 'x')")).toMatch(/REGEX has 2 or 3 arguments, not 4/);
    expect(call("REPLACE('a', 'b')")).toMatch(/REPLACE has 3 or 4 arguments, not 2/);
  });
});

describe("endpoints may have functions of their own", () => {
  it.each([
    ["in a query for one endpoint", "SELECT * { SERVICE <a> { ?s ?p ?o } FILTER(f:near(?o)) }", "direct"],
    [
      "in a SERVICE clause",
      "SELECT * { SERVICE <a> { ?s ?p ?o FILTER(f:near(?o)) } SERVICE <b> { ?s ?q ?x } }",
      "federated",
    ],
  ])("%s", (_, query, kind) => {
    expect(planned(`${prologue} ${query}`)).toBe(kind);
  });
  it("on the endpoint's route", () => {
    expect(planned(`${prologue} SELECT (f:near(?o) AS ?z) { ?s ?p ?o }`, { endpointId: "a" })).toBe("direct");
  });
});
