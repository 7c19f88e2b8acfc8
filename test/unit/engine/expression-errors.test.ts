import { describe, expect, it } from "vitest";
import { engineAnswer, testEngine } from "../../support/engine-answer.ts";

const endpoint = "http://a.example/sparql";
const data = `
<http://ex.org/s1> <http://ex.org/p> "2009-02-30"^^<http://www.w3.org/2001/XMLSchema#date> .
<http://ex.org/s2> <http://ex.org/p> "2009-02-28"^^<http://www.w3.org/2001/XMLSchema#date> .
<http://ex.org/s3> <http://ex.org/p> "2009-02-27"^^<http://www.w3.org/2001/XMLSchema#date> .
`;
const engine = testEngine({ [endpoint]: data });
const answer = (query: string): Promise<string[]> => engineAnswer(query, engine);

const three = "VALUES ?a { 1 2 3 }";
const bad = `IRI("a b")`;
const integer = (digits: string) => `"${digits}"^^<http://www.w3.org/2001/XMLSchema#integer>`;
const numbers = ["1", "2", "3"].map(integer);

describe("a function that fails is an error of its expression", () => {
  const shouldAnswer = (name: string, query: string, expected: readonly string[]) =>
    it(name, async () => {
      expect((await answer(query)).toSorted()).toEqual(expected.toSorted());
    });

  shouldAnswer("in a projection", `SELECT (${bad} AS ?z) { ${three} }`, ["-", "-", "-"]);
  shouldAnswer(
    "in BIND",
    `SELECT ?a ?z { ${three} BIND(${bad} AS ?z) }`,
    numbers.map((n) => `${n} -`),
  );
  shouldAnswer("in FILTER", `SELECT ?a { ${three} FILTER(${bad} = ?a) }`, []);
  shouldAnswer("in ORDER BY", `SELECT ?a { ${three} } ORDER BY ${bad}`, numbers);
  shouldAnswer("in GROUP BY", `SELECT ?z (COUNT(*) AS ?n) { ${three} } GROUP BY (${bad} AS ?z)`, [`- ${integer("3")}`]);
  shouldAnswer("in HAVING", `SELECT ?a { ${three} } GROUP BY ?a HAVING (${bad} = ?a)`, []);
  shouldAnswer("in an aggregate", `SELECT (SUM(${bad}) AS ?z) { ${three} }`, ["-"]);
  shouldAnswer(
    "in a template",
    `CONSTRUCT { ?z <p:p> ?a . <s:s> <p:q> ?a } { ${three} BIND(${bad} AS ?z) }`,
    numbers.map((n) => `<s:s> <p:q> ${n}`),
  );
  shouldAnswer("in COALESCE", `SELECT (COALESCE(${bad}, ?a) AS ?z) { ${three} }`, numbers);
  shouldAnswer("in IF", `SELECT (IF(?a = 1, ?a, ${bad}) AS ?z) { ${three} }`, [integer("1"), "-", "-"]);
  shouldAnswer("in IN", `SELECT ?a { ${three} FILTER(?a IN (${bad}, 2)) }`, [integer("2")]);
  shouldAnswer("under ||", `SELECT ?a { ${three} FILTER(${bad} = 1 || ?a = 2) }`, [integer("2")]);
  shouldAnswer("under &&", `SELECT ?a { ${three} FILTER(!(${bad} = 1 && ?a = 2)) }`, [integer("1"), integer("3")]);
  shouldAnswer(
    "in OPTIONAL's condition",
    `SELECT ?a ?b { ${three} OPTIONAL { VALUES ?b { 1 } FILTER(${bad} = ?a) } }`,
    numbers.map((n) => `${n} -`),
  );
  shouldAnswer(
    "in EXISTS",
    `SELECT ?a { ${three} FILTER(EXISTS { VALUES ?b { 1 2 } FILTER(${bad} = ?b) } || ?a = 2) }`,
    [integer("2")],
  );
});

describe("terms that no order is defined for", () => {
  it("are sorted all the same", async () => {
    const dates = `VALUES ?a { ${["30", "28", "27"].map((day) => `"2009-02-${day}"^^<http://www.w3.org/2001/XMLSchema#date>`).join(" ")} }`;
    expect(await answer(`SELECT ?a { ${dates} } ORDER BY ?a`)).toHaveLength(3);
    expect(await answer(`SELECT (MAX(?a) AS ?z) { ${dates} }`)).toHaveLength(1);
  });

  it("also when they come from an endpoint", async () => {
    const lines = await answer(`SELECT ?s ?o { SERVICE <${endpoint}> { ?s ?p ?o } } ORDER BY DESC(?o)`);
    expect(lines).toHaveLength(3);
  });
});
