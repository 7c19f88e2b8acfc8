import oxigraph from "oxigraph";
import { describe, expect, it } from "vitest";
import { readQuery } from "../../support/simulated-engine/cost.ts";

// 100 triples: 40 things with a class, 20 of them with three more triples each.
const store = new oxigraph.Store();
for (let index = 0; index < 40; index++) {
  const subject = oxigraph.namedNode(`http://data.example/${index}`);
  const add = (predicate: string, object: string): void =>
    store.add(oxigraph.quad(subject, oxigraph.namedNode(predicate), oxigraph.namedNode(object)));
  add("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "http://data.example/C");
  const values = index < 20 ? ["a", "b", "c"] : [];
  for (const value of values) add("http://data.example/p", `http://data.example/${value}`);
}

function count(group: string): number {
  const [row] = store.query(`SELECT (COUNT(*) AS ?n) WHERE ${group}`) as Map<string, oxigraph.Term>[];
  return Number(row?.get("n")?.value);
}

const shouldCost = (query: string, work: number): void => {
  it(`${query} costs ${work}`, () => expect(readQuery(query).cost(count)).toBeCloseTo(work));
};

describe("the work of a query", () => {
  shouldCost("SELECT * { ?s ?p ?o }", 100);
  shouldCost("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", 100);
  shouldCost("SELECT (COUNT(*) AS ?n) { ?s a ?c ; ?p ?o }", 100);
  shouldCost("SELECT * { ?s ?p ?o } LIMIT 10", 10);
  shouldCost("SELECT * { ?s ?p ?o } LIMIT 10 OFFSET 20", 30);
  shouldCost("SELECT DISTINCT ?p { ?s ?p ?o } LIMIT 10", 100);
  shouldCost("SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p LIMIT 1", 100);
  shouldCost("SELECT * { ?s ?p ?o } ORDER BY ?s LIMIT 1", 100);
  shouldCost("SELECT * { ?s a ?c FILTER(?s = <http://data.example/1>) }", 0.2 * 40 + 0.8);
  shouldCost("SELECT (COUNT(*) AS ?n) { { SELECT ?s { ?s ?p ?o } LIMIT 10 } }", 20);
  shouldCost("ASK { ?s ?p ?o }", 1);
  shouldCost("ASK { ?s a <http://data.example/D> }", 0);
  shouldCost("SELECT * { VALUES ?x { 1 2 3 } VALUES ?y { 1 2 3 } }", 0);
});

describe("what a query uses", () => {
  const uses = (query: string) => {
    const { form, usesAggregates, usesValues } = readQuery(query);
    return { form, usesAggregates, usesValues };
  };

  it("tells aggregates and VALUES", () => {
    const plain = { form: "select", usesAggregates: false, usesValues: false };
    expect(uses("SELECT * { ?s ?p ?o }")).toEqual(plain);
    expect(uses("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")).toEqual({ ...plain, usesAggregates: true });
    expect(uses("SELECT * { { SELECT (MAX(?o) AS ?m) { ?s ?p ?o } } }")).toEqual({ ...plain, usesAggregates: true });
    expect(uses("SELECT * { VALUES ?s { <urn:x> } ?s ?p ?o }")).toEqual({ ...plain, usesValues: true });
    expect(uses("SELECT * { ?s ?p ?o } VALUES ?s { <urn:x> }")).toEqual({ ...plain, usesValues: true });
    expect(uses('ASK { ?s <urn:VALUES> "COUNT(" }')).toEqual({ ...plain, form: "ask" });
  });

  it.each(["CONSTRUCT WHERE { ?s ?p ?o }", "DESCRIBE <urn:x>", "CLEAR ALL", "nonsense"])("refuses %s", (query) => {
    expect(() => readQuery(query)).toThrow(/./u);
  });
});
