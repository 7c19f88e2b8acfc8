import { Store } from "oxigraph";
import { describe, expect, it } from "vitest";
import { parseQuery } from "../../../../src/sparql/query.ts";
import { uncutQuery } from "../../../../shards/src/verify/uncut-query.ts";

const prologue = "PREFIX : <urn:x/> ";
const store = new Store();
store.load('<urn:x/a> <urn:x/p> 1, 2 . <urn:x/b> <urn:x/p> 2, "3" .', { format: "text/turtle" });

const uncutOf = (text: string): string | undefined =>
  uncutQuery(parseQuery(prologue + text))
    ?.slice(prologue.length)
    .replaceAll(/\s+/gu, " ")
    .trim();

describe("the rows that LIMIT and OFFSET choose from", () => {
  const shouldBecome = (text: string, uncut: string): void =>
    it(text, () => {
      expect(uncutOf(text)).toBe(uncut);
      expect(parseQuery(prologue + uncut).form).toBe("SELECT");
      expect(store.query(prologue + uncut)).not.toStrictEqual([]);
    });

  shouldBecome("SELECT ?s { ?s :p ?o } LIMIT 1", "SELECT ?s { ?s :p ?o }");
  shouldBecome("SELECT ?s { ?s :p ?o } OFFSET 1 LIMIT 1", "SELECT ?s { ?s :p ?o }");
  shouldBecome("SELECT ?s ?o { ?s :p ?o } ORDER BY ?o LIMIT 1", "SELECT ?s ?o { ?s :p ?o } ORDER BY ?o");
  shouldBecome("SELECT ?s { ?s :p ?o } ORDER BY ?o LIMIT 1", "SELECT ?s (?o AS ?key1) { ?s :p ?o } ORDER BY ?o");
  shouldBecome(
    "SELECT ?s { ?s :p ?o } ORDER BY DESC(?o) ?s ASC((STR(?s))) LIMIT 2",
    "SELECT ?s ((?o) AS ?key1) (((STR(?s))) AS ?key2) { ?s :p ?o } ORDER BY DESC(?o) ?s ASC((STR(?s)))",
  );
  shouldBecome(
    "SELECT DISTINCT ?s { ?s :p ?o } ORDER BY DESC(?s) OFFSET 1",
    "SELECT DISTINCT ?s { ?s :p ?o } ORDER BY DESC(?s)",
  );
  shouldBecome("SELECT * { ?s :p ?o } ORDER BY ?o LIMIT 1", "SELECT * { ?s :p ?o } ORDER BY ?o");
  shouldBecome(
    "SELECT ?s { ?s :p ?o } GROUP BY ?s HAVING (COUNT(*) > 1) ORDER BY COUNT(DISTINCT ?o) LIMIT 1",
    "SELECT ?s (COUNT(DISTINCT ?o) AS ?key1) { ?s :p ?o } GROUP BY ?s HAVING (COUNT(*) > 1) ORDER BY COUNT(DISTINCT ?o)",
  );
  shouldBecome(
    "SELECT ?s (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY ?s ORDER BY ?n LIMIT 1 VALUES ?o { 2 }",
    "SELECT ?s (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY ?s ORDER BY ?n VALUES ?o { 2 }",
  );
  shouldBecome(
    "SELECT (?o AS ?key1) WHERE { ?s :p ?o { SELECT ?s { ?s :p ?o } LIMIT 9 } } ORDER BY <http://www.w3.org/2001/XMLSchema#string>(?s) LIMIT 1",
    "SELECT (?o AS ?key1) (<http://www.w3.org/2001/XMLSchema#string>(?s) AS ?key2) WHERE { ?s :p ?o { SELECT ?s { ?s :p ?o } LIMIT 9 } } ORDER BY <http://www.w3.org/2001/XMLSchema#string>(?s)",
  );
});

describe("are not known", () => {
  it.each([
    "SELECT ?s { ?s :p ?o } ORDER BY ?o",
    "ASK { ?s :p ?o } LIMIT 1",
    "CONSTRUCT { ?s :p ?o } WHERE { ?s :p ?o } LIMIT 1",
    "SELECT DISTINCT ?s { ?s :p ?o } ORDER BY ?o LIMIT 1",
    "SELECT REDUCED ?s { ?s :p ?o } ORDER BY ?o LIMIT 1",
    "SELECT * { ?s :p ?o } ORDER BY STR(?o) LIMIT 1",
    "SELECT ?s { ?s :p ?o } ORDER BY (EXISTS { ?o :p ?s }) LIMIT 1",
  ])("of %s", (text) => {
    expect(uncutOf(text)).toBeUndefined();
  });
});
