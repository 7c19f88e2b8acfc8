import { describe, expect, it } from "vitest";
import { createTestedEngine } from "../../support/tested-engine.ts";
import { termToText } from "../../../src/results/terms.ts";
import { toFederatedPlan, toBounds } from "../../support/engine-answer.ts";
import { createStoreClient } from "../../support/store-client.ts";

const people = "http://people.example/sparql";
const homes = "http://homes.example/sparql";
const many = Array.from({ length: 300 }, (_, i) => i);
const client = createStoreClient({
  [people]: many.map((i) => `<x:${i}> <x:name> "${i}" .`).join("\n"),
  // The addresses of 300 people are two nodes; some people have an IRI beside them.
  [homes]: `${many.map((i) => `<x:${i}> <x:home> _:h${i % 2} .`).join("\n")}
    <x:1> <x:home> <x:castle> .
    _:h0 <x:city> "Ulm" .
    _:h1 <x:city> "Ulm" .`,
});
async function run(query: string, estimate?: number): Promise<string[]> {
  client.requests.length = 0;
  // A new engine: it learns how many keys may be sent at once, and begins with 256.
  const engine = createTestedEngine({ client, maxSolutions: 10_000, now: () => performance.now() });
  const text = query.replaceAll("PEOPLE", `SERVICE <${people}>`).replaceAll("HOMES", `SERVICE <${homes}>`);
  const plan = toFederatedPlan(text);
  const clauses = plan.clauses.map((clause) => ({ ...clause, estimate }));
  const result = await engine.execute({ ...plan, clauses }, toBounds());
  if (result.kind !== "bindings") throw new Error("Not a SELECT");
  const lines: string[] = [];
  for await (const row of result.rows) {
    const cells = result.variables.map((name) => row.get(name));
    lines.push(cells.map((term) => (term ? termToText(term).replace(/^"(\d+)".*$|^(_):.*$/u, "$1$2") : "")).join(" "));
  }
  return lines.toSorted();
}

const requestsTo = (url: string): number => client.requests.filter(({ endpoint }) => endpoint.url === url).length;

const shouldAnswer = (query: string, rows: readonly string[], requests: number): void => {
  it(`${query}: ${requests} requests`, async () => {
    expect(await run(query)).toEqual(rows);
    expect(requestsTo(homes)).toBe(requests);
  });
};

describe("blank nodes of one endpoint in several answers", () => {
  const both = "PEOPLE { ?p <x:name> ?n } HOMES { ?p <x:home> ?h }";
  shouldAnswer(`SELECT (COUNT(DISTINCT ?h) AS ?c) { ${both} }`, ["3"], 3);
  shouldAnswer(`SELECT (COUNT(*) AS ?c) { SELECT DISTINCT ?h { ${both} } }`, ["3"], 3);
  shouldAnswer(`SELECT (COUNT(?p) AS ?c) { ${both} } GROUP BY ?h`, ["1", "150", "150"], 3);
  shouldAnswer(
    `SELECT (COUNT(DISTINCT ?h) AS ?c) { PEOPLE { ?p <x:name> ?n } OPTIONAL { HOMES { ?p <x:home> ?h } } }`,
    ["3"],
    3,
  );
  shouldAnswer(`SELECT (COUNT(DISTINCT *) AS ?c) { ${both} }`, ["301"], 3);
});

describe("blank nodes of an operand that is asked with keys and without", () => {
  it("have one label", async () => {
    // Rows of the UNION's first branch bind no ?p; what is known of sizes has the UNION asked first.
    const query = `SELECT (COUNT(*) AS ?c) { HOMES { ?p <x:home> ?h } OPTIONAL { HOMES { ?p <x:city> ?z } }
      { PEOPLE { ?x <x:name> "7" } } UNION { PEOPLE { ?p <x:name> "2" } } PEOPLE { ?p <x:name> ?n } } GROUP BY ?h`;
    expect(await run(query, 1)).toEqual(["1", "150", "151"]);
  });
});

describe("blank nodes that nothing tells apart", () => {
  const city = "HOMES { ?p <x:home> ?h . ?h <x:city> ?c }";
  shouldAnswer(`SELECT (COUNT(?h) AS ?c) { PEOPLE { ?p <x:name> ?n } HOMES { ?p <x:home> ?h } }`, ["301"], 3);
  shouldAnswer(`SELECT DISTINCT ?c { PEOPLE { ?p <x:name> ?n } ${city} }`, ['"Ulm"'], 2);
  shouldAnswer(`SELECT DISTINCT ?h { PEOPLE { ?p <x:name> ?n FILTER(?n IN ("2", "4")) } ${city} }`, ["_"], 1);
});
