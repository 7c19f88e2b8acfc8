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

const wrong = (pattern: string, fault: string): string =>
  `PATTERN_INVALID The pattern ${JSON.stringify(pattern)} fails for every text. ${fault}`;
const open = wrong("a[", 'Not a regular expression: "]" is missing at character 3.');

describe("constant patterns of what is evaluated here are expressions of XPath", () => {
  it.each([
    ["FILTER", `SELECT * { ${two} FILTER(REGEX(STR(?o), "a[")) }`],
    ["BIND", `SELECT * { ${two} BIND(REPLACE(?o, "a[", "") AS ?z) }`],
    ["a projection", `SELECT (IF(REGEX(?o, "a["), 1, 2) AS ?z) { ${two} }`],
    ["an aggregate", `SELECT (SUM(STRLEN(REPLACE(?o, "a[", "b"))) AS ?z) { ${two} }`],
    ["HAVING", `SELECT ?s { ${two} } GROUP BY ?s HAVING (REGEX(MAX(?o), "a["))`],
    ["EXISTS", `SELECT ?s { ${two} FILTER EXISTS { SERVICE <a> { ?s ?p2 ?o2 } FILTER(!REGEX(?o2, "a[")) } }`],
    ["a subquery", `SELECT ?s { ${two} { SELECT ?s { VALUES ?s { "1" } FILTER(REGEX(?s, "a[")) } } }`],
    ["no SERVICE", 'ASK { FILTER(REGEX("a", "a[")) }'],
    [
      "the SERVICE of a file",
      'SELECT * { SERVICE <file> { ?s ?p ?o FILTER(REGEX(?o, "a[")) } SERVICE <a> { ?s ?q ?x } }',
    ],
  ])("in %s", (_, query) => {
    expect(planned(query)).toBe(open);
  });

  it.each([
    ['REGEX("a", "b", "g")', wrong("b", "The flags of a regular expression are i, m, s, x and q.")],
    [
      String.raw`REPLACE("a", "\\w*", "")`,
      wrong(String.raw`\w*`, "REPLACE takes no pattern that matches the empty text."),
    ],
    ['REPLACE("a", "a", "$x")', wrong("a", 'In a replacement, "$" needs a digit behind it, or a "\\" before it.')],
    [String.raw`REGEX("a", "(.)\\1[\\w-[\\d]]\\p{IsGreek}", "imsx")`, "federated"],
    ['REGEX("a", "a[", "q")', "federated"],
    ['REGEX("a", STR("a["))', "federated"],
    ['COALESCE(REGEX("a", "a["), 1 = 2)', "federated"],
  ])("%s", (call, outcome) => {
    expect(planned(`SELECT (${call} AS ?z) {}`)).toBe(outcome);
  });

  it("beyond the bounds they are refused as too large", () => {
    const text = `SELECT (REGEX("a", "(?:a{500}){500}") AS ?z) {}`;
    const { plan } = planner.plan({ text, strict: false, defaultGraphs: [], namedGraphs: [] });
    expect(plan).toMatchObject({ kind: "rejected", reason: { code: "EVALUATION_TOO_LARGE" } });
    expect(plan).toMatchObject({ reason: { message: expect.stringContaining("(?:a{500}){500}") } });
  });

  it.each([
    ["in a query for one endpoint", 'SELECT * { SERVICE <a> { ?s ?p ?o } FILTER(REGEX(?o, "a[")) }', "direct"],
    [
      "in a clause",
      'SELECT * { SERVICE <a> { ?s ?p ?o FILTER(REGEX(?o, "a[")) } SERVICE <b> { ?s ?q ?x } }',
      "federated",
    ],
  ])("an endpoint gets them with a note: %s", (_, query, kind) => {
    const text = query.replaceAll(/<(a|b)>/g, "<http://$1.example/sparql>");
    const { plan } = planner.plan({ text, strict: false, defaultGraphs: [], namedGraphs: [] });
    const message = expect.stringContaining('The pattern "a[" fails for every text.');
    expect(plan).toMatchObject({ kind, notes: [{ code: "PATTERN_DOUBTFUL", message }] });
  });
});
