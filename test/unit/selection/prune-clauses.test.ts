import { describe, expect, it } from "vitest";
import { described, type KnownMembers, planWithFacts } from "../../support/described-members.ts";
import { summary } from "../plan/plan-cases.ts";

const url = /<http:\/\/(people|books|other)\.example\/sparql>/g;

function planned(text: string, known: KnownMembers): string {
  const full = text.replaceAll(/SERVICE (SILENT )?<(people|books|other)>/g, "SERVICE $1<http://$2.example/sparql>");
  return summary(planWithFacts(full, known)).replace("PREFIX : <http://x.example/> ", "").replaceAll(url, "<$1>");
}

const shouldPlan = (text: string, expected: string, known: KnownMembers = {}): void => {
  it(text, () => expect(planned(text, known)).toBe(expected));
};
const left = "[CLAUSES_LEFT_OUT]";

describe("a UNION over everybody", () => {
  const body = "{ ?s :name ?n }";
  const everybody = `{ SERVICE <books> ${body} } UNION { SERVICE <people> ${body} } UNION { SERVICE <other> ${body} }`;
  shouldPlan(
    `SELECT * { ${everybody} }`,
    `fed people+other: SELECT * { { SERVICE <people> ${body} } UNION { SERVICE <other> ${body} } } ${left}`,
  );
  shouldPlan(
    `SELECT * { { SERVICE <books> ${body} } UNION { SERVICE <people> ${body} } }`,
    `people: SELECT * { { ${body} } } ${left}`,
  );
  shouldPlan(
    `SELECT * { { SERVICE <people> ${body} } UNION { SERVICE <books> ${body} } }`,
    `people: SELECT * { { ${body} } } ${left}`,
  );
  shouldPlan(
    "SELECT ?n { { SERVICE <people> { ?s :name ?n } } UNION { SERVICE <books> { ?b :name ?n } } }",
    `people: SELECT ?n { { { ?s :name ?n } } } ${left}`,
  );
  shouldPlan(
    "SELECT * { { SERVICE <people> { ?s :name ?n } } UNION { SERVICE <books> { ?b :name ?n } } }",
    `people: SELECT * { { { ?s :name ?n } } UNION { VALUES (?b ?n) { (UNDEF UNDEF) } FILTER(1 = 0) } } ${left}`,
  );
  shouldPlan(
    "SELECT ?a { { SERVICE <people> { ?b :author ?a } } UNION { SERVICE <books> { ?b :author ?a } } { SERVICE <people> { ?a :name ?n } } UNION { SERVICE <books> { ?a :name ?n } } }",
    `fed books+people: SELECT ?a { { SERVICE <books> { ?b :author ?a } } { SERVICE <people> { ?a :name ?n } } } ${left}`,
  );
});

it("the note says what each endpoint lacks", () => {
  const at = (id: string, body: string): string => `{ SERVICE <http://${id}.example/sparql> { ${body} } }`;
  const notes = (...branches: readonly string[]): readonly string[] => {
    const plan = planWithFacts(`SELECT ?s { ${branches.join(" UNION ")} }`);
    return plan.kind === "rejected" ? [plan.reason.code] : plan.notes.map(({ message }) => message);
  };
  expect(notes(at("books", "?s :name ?n"), at("people", "?s :name ?n"))).toEqual([
    "Not asked: 1 of 2 SERVICE clauses, as `books` lacks its property. (`prune=false` asks anyway.)",
  ]);
  const twice = [at("books", "?s :name ?n"), at("books", "?s :name ?n FILTER(?n > 1)"), at("people", "?s a :Book")];
  expect(notes(...twice, at("people", "?s :name ?n"))).toEqual([
    "Not asked: 3 of 4 SERVICE clauses, as `books` lacks its property, `people` lacks its class. (`prune=false` asks anyway.)",
  ]);
});

it("the note says what may have been meant, unless another endpoint of the query has the term", () => {
  const at = (id: string, body: string): string => `{ SERVICE <http://${id}.example/sparql> { ${body} } }`;
  const note = (...branches: readonly string[]): string => {
    const plan = planWithFacts(`SELECT ?s { ${branches.join(" UNION ")} }`, { terms: true });
    return plan.kind === "rejected" ? plan.reason.code : (plan.notes[0]?.message ?? "");
  };
  expect(note(at("people", "?s :nam ?n"), at("other", "?s :nam ?n"))).toBe(
    "Not asked: 1 of 2 SERVICE clauses, as `people` has no :nam. Did you mean :name? (`prune=false` asks anyway.)",
  );
  expect(note(at("books", "?s a :Book ; :nme ?n"), at("people", "?s :nme ?n"))).toBe(
    "Not asked: 2 of 2 SERVICE clauses, as `books` has no :nme, `people` has no :nme. Did you mean :name? (`prune=false` asks anyway.)",
  );
  expect(note(at("books", "?s :name ?n"), at("people", "?s :name ?n"))).toBe(
    "Not asked: 1 of 2 SERVICE clauses, as `books` has no :name. (`prune=false` asks anyway.)",
  );
});

describe("clauses without solutions elsewhere", () => {
  const none = "{ VALUES (?n ?s) { (UNDEF UNDEF) } FILTER(1 = 0) }";
  const asked = "SERVICE <people> { ?s a :Person }";
  const dead = "SERVICE <books> { ?s :name ?n }";
  shouldPlan(`SELECT * { ${dead} }`, "books: SELECT * { ?s :name ?n }");
  shouldPlan(`SELECT ?s { ${dead} }`, `fed here: SELECT ?s { ${none} } [CLAUSES_LEFT_OUT]`, {
    prune: "trust",
  });
  shouldPlan(
    `SELECT * { ${asked} OPTIONAL { ${dead} } }`,
    `people: SELECT * { { ?s a :Person } OPTIONAL { ${none} } } ${left}`,
  );
  shouldPlan(
    `SELECT * { ${asked} MINUS { ${dead} } }`,
    `people: SELECT * { { ?s a :Person } MINUS { ${none} } } ${left}`,
  );
  shouldPlan(
    `SELECT * { ${asked} FILTER NOT EXISTS { ${dead} } }`,
    `people: SELECT * { { ?s a :Person } FILTER NOT EXISTS { ${none} } } ${left}`,
  );
  shouldPlan(
    `SELECT * { ${asked} SERVICE SILENT <books> { ?s :name ?n } }`,
    `people: SELECT * { { ?s a :Person } ${none} } ${left}`,
  );
  shouldPlan(
    "SELECT (COUNT(*) AS ?c) { SERVICE <books> { ?s :name ?n } }",
    `fed here: SELECT (COUNT(*) AS ?c) { ${none} } [CLAUSES_LEFT_OUT]`,
    { prune: "trust" },
  );
});

describe("clauses that may have solutions", () => {
  const kept = (body: string, known: KnownMembers = {}): void => {
    it(`${body} ${Object.keys(known).join()}`, () => {
      const plan = planned(`SELECT * { SERVICE <people> { ?s a :Person } SERVICE <books> { ${body} } }`, known);
      expect(plan).toMatch(/^fed people\+books: .*\}$/);
    });
  };
  kept("?s :author ?n");
  kept("OPTIONAL { ?s :name ?n }");
  kept("?s :author ?a MINUS { ?s :name ?n }");
  kept("?s :name* ?n");
  kept("?s :author|:name ?n");
  kept("?s ?p ?n");
  kept("?s !:author ?n");
  kept("GRAPH ?g { ?s :name ?n }");
  kept("SELECT (COUNT(*) AS ?c) { ?s :name ?n }");
  kept("SELECT * { { ?s :author ?a } UNION { ?s :name ?n } }");
  kept("?s :name ?n . ?n <bif:contains> 1");
  kept("?s <http://jena.apache.org/text#query> (:name 1)");
  kept("?s :name ?n FILTER EXISTS { ?n <http://www.bigdata.com/rdf/search#search> 1 }");
  kept("?s :name/<http://www.w3.org/2000/01/rdf-schema#member> ?n");
  kept("?s :name ?n", { prune: false });
  kept("?s :name ?n", { hours: 25 });
  kept("?s :name ?n", { descriptions: { books: described("books", { propertiesComplete: false }) } });
  shouldPlan("DESCRIBE :ann { SERVICE <people> { ?x :nope ?y } }", "people: DESCRIBE :ann { ?x :nope ?y }");
  it("with patterns outside, which would be sent on", () => {
    const text = "SELECT * { ?s :name ?n SERVICE <people> { ?s a :Person } SERVICE <books> { ?s :name ?n } }";
    expect(planned(text, {})).toBe("PATTERN_OUTSIDE_SERVICE");
  });
});

describe("clauses that cannot", () => {
  const empty = (body: string): void => {
    it(body, () => {
      const plan = planned(`SELECT ?s { SERVICE <people> { ?s a :Person } SERVICE <books> { ${body} } }`, {});
      expect(plan).toMatch(/^people: .* \[CLAUSES_LEFT_OUT\]$/);
    });
  };
  empty("?s a :Person");
  empty("?s :author/:name ?n");
  empty("?s (:name|:nobodyHas) ?n");
  empty("?s ^:name ?n");
  empty("?s :name+ ?n");
  empty("?s :author ?a { ?a :name ?n }");
  empty("?s :author ?a OPTIONAL { ?s :author ?b } ?a :name ?n");
  empty("{ ?s :name ?n } UNION { ?s :nobodyHas ?n }");
  empty("{ SELECT ?s (COUNT(*) AS ?c) { ?s :name ?n } GROUP BY ?s }");
});
