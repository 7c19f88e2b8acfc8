import { describe, expect, it } from "vitest";
import { createTestedEngine } from "../../support/tested-engine.ts";
import { engineAnswer } from "../../support/engine-answer.ts";
import { createStoreClient } from "../../support/store-client.ts";

const [a, b, c] = ["http://a.example/sparql", "http://b.example/sparql", "http://c.example/sparql"];
const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n");

/** A new engine over 6,007 items at A and B and a few at C; it has learned nothing yet. */
function start() {
  const client = createStoreClient({
    [a]: lines(6_007, (i) => `<x:${i}> <x:p> <x:o${i % 3}> .`),
    [b]: lines(6_007, (i) => `<x:${i}> <x:q> "${i}" .`),
    [c]: lines(20, (i) => `<x:${i * 300}> <x:r> "${i}" .`),
  });
  const engine = createTestedEngine({ client, maxSolutions: 500_000, now: () => performance.now() });
  const services = (text: string): string =>
    text.replaceAll(/\b([ABC]) \{/gu, (_, name) => `SERVICE <${{ A: a, B: b, C: c }[String(name)]}> {`);
  return {
    answer: (text: string) => engineAnswer(services(text), engine),
    /** Keys in each request to an endpoint. */
    keys: (url: string): number[] =>
      client.requests
        .filter(({ endpoint }) => endpoint.url === url)
        .map(({ query }) => [...(/VALUES [^{]*\{(.*?)\} /u.exec(query)?.[1] ?? "").matchAll(/\(/gu)].length),
  };
}

const five = "VALUES ?i { <x:1> <x:2> <x:3> <x:4> <x:5> }";
const both = "A { ?i <x:p> ?o } B { ?i <x:q> ?n }";

describe("keys reach every clause of an operand", () => {
  const shouldAsk = (body: string, rows: number) =>
    it(body, async () => {
      const { answer, keys } = start();
      expect(await answer(`SELECT * { ${five} ${body} }`)).toHaveLength(rows);
      expect([keys(a), keys(b)]).toEqual([[5], [5]]);
    });
  shouldAsk("{ A { ?i <x:p> ?o } } UNION { B { ?i <x:q> ?n } }", 10);
  shouldAsk("{ A { ?i <x:p> ?o } B { ?i <x:q> ?n } }", 5);
  shouldAsk(`OPTIONAL { ${both} }`, 5);
  shouldAsk(`OPTIONAL { ${both} FILTER(STR(?n) = "3") }`, 5);
  shouldAsk(`MINUS { ${both} FILTER(?n = STR("3")) }`, 4);
  shouldAsk(`{ SELECT ?i ?n { ${both} } }`, 5);
  shouldAsk(`{ SELECT DISTINCT ?i { ${both} } }`, 5);
  shouldAsk(`{ SELECT ?i (COUNT(*) AS ?k) { ${both} } GROUP BY ?i HAVING(COUNT(*) = 1) }`, 5);
  shouldAsk("{ A { ?i <x:p> ?o } OPTIONAL { B { ?i <x:q> ?n } } }", 5);
  shouldAsk('{ A { ?i <x:p> ?o } MINUS { B { ?i <x:q> "3" } } }', 4);
  shouldAsk("{ A { ?i <x:p> ?o } FILTER EXISTS { B { ?i <x:q> ?n } } }", 5);
});

describe("an operand is taken in whole", () => {
  const shouldTake = (title: string, body: string, rows: number) =>
    it(title, async () => {
      const { answer, keys } = start();
      expect(await answer(`SELECT * { ${five} ${body} }`)).toHaveLength(rows);
      expect(keys(a)).toEqual([0]);
    });
  shouldTake("that chooses among its solutions", "{ SELECT ?i { A { ?i <x:p> ?o } } ORDER BY ?i LIMIT 3 }", 1);
  shouldTake(
    "that gathers them by something else",
    "{ SELECT ?o (MIN(?i) AS ?m) { A { ?i <x:p> ?o } } GROUP BY ?o }",
    15,
  );
  shouldTake("that makes new values", "{ A { ?i <x:p> ?o } BIND(UUID() AS ?u) }", 5);
  it("when there are more keys", async () => {
    const { answer, keys } = start();
    const union = "{ A { ?i <x:p> ?o } } UNION { C { ?i <x:r> ?n } }";
    expect(await answer(`SELECT (COUNT(*) AS ?k) { B { ?i <x:q> ?m } OPTIONAL { ${union} } }`)).toEqual([
      '"6027"^^<http://www.w3.org/2001/XMLSchema#integer>',
    ]);
    expect(keys(c).toSorted((one, other) => one - other)).toEqual([0, 256, 990, 990, 990]);
  });
  it("when it is known to have fewer solutions than there are keys", async () => {
    const { answer, keys } = start();
    await answer("SELECT ?n { C { ?i <x:r> ?n } }");
    expect(await answer("SELECT * { A { ?i <x:p> ?o } OPTIONAL { C { ?i <x:r> ?n } } }")).toHaveLength(6_007);
    expect(keys(c)).toEqual([0, 0]);
  });
});

describe("blocks of keys", () => {
  it("are larger once an endpoint has answered, for MINUS and EXISTS too", async () => {
    for (const body of ["MINUS { B { ?i <x:q> ?n } }", "FILTER EXISTS { B { ?i <x:q> ?n } }"]) {
      const { answer, keys } = start();
      await answer(`SELECT * { A { ?i <x:p> <x:o1> } ${body} }`);
      expect(keys(b)).toEqual([256, 990, 756]);
    }
  });
  it("are small where few solutions are wanted", async () => {
    const { answer, keys } = start();
    expect(await answer("SELECT * { A { ?i <x:p> ?o } B { ?i <x:q> ?n } } LIMIT 5")).toHaveLength(5);
    expect(keys(b)).toEqual([16]);
  });
});

describe("the clause that had fewer solutions is asked first", () => {
  it("once they are known", async () => {
    const { answer, keys } = start();
    await answer("SELECT * { C { ?i <x:r> ?n } }");
    expect(await answer("SELECT * { A { ?i <x:p> ?o } C { ?i <x:r> ?n } }")).toHaveLength(20);
    expect(keys(a)).toEqual([20]);
  });
});
