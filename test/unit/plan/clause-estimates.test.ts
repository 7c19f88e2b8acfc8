import { describe, expect, it } from "vitest";
import { described, type KnownMembers, planWithFacts } from "../../support/described-members.ts";

/** What is expected of the clause at `people`, whose truth is three triples: one type and two names. */
function expected(body: string, known: KnownMembers = {}, id = "people"): number | undefined {
  const text = `SELECT * { SERVICE <http://${id}.example/sparql> { ${body} } SERVICE <http://other.example/sparql> { ?s ?q ?r } }`;
  const plan = planWithFacts(text, { members: ["people", "books", "other", "fourth"], ...known });
  if (plan.kind !== "federated") throw new Error(`${plan.kind} plan`);
  return plan.clauses.find(({ endpoint }) => endpoint.id === id)?.estimate;
}

describe("as many solutions are expected of a SERVICE clause as its pattern with the fewest matches has", () => {
  it.each([
    ["?s :name ?n", 2],
    ["?s a :Person", 1],
    ["?s a :Person ; :name ?n", 1],
    ["{ ?s :name ?n } ?s ?p ?o", 2],
    [":ann :name ?n", 1],
  ])("%s", (body, count) => expect(expected(body)).toBe(count));
});

describe("nothing is expected", () => {
  it.each([
    "?s ?p ?o",
    "?s :name* ?n",
    "?s :name ?n FILTER(?n > 1)",
    "?s :name ?n OPTIONAL { ?s a ?c }",
    "{ ?s :name ?n } UNION { ?s a ?n }",
    "GRAPH ?g { ?s :name ?n }",
    "SELECT ?s { ?s :name ?n }",
  ])("of %s", (body) => expect(expected(body)).toBeUndefined());

  it("of an endpoint of which nothing is known, or nothing certain", () => {
    expect(expected("?s :name ?n", {}, "fourth")).toBeUndefined();
    const partial = described("people", { propertiesComplete: false, classesComplete: false });
    expect(expected("?s :name ?n", { descriptions: { people: partial } })).toBeUndefined();
    expect(expected("?s :name ?n", { hours: 25 })).toBeUndefined();
    expect(expected("?s :name ?n", { prune: false })).toBeUndefined();
  });
});
