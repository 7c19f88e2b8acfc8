import { describe, expect, it } from "vitest";
import { withAbsoluteIris } from "../../../src/sparql/query.ts";

const shouldGive = (query: string, expected: string): void => {
  it(`${query} becomes ${expected}`, () => {
    const shown = (text: string): string => text.replaceAll(/\s+/gu, " ").trim();
    expect(shown(withAbsoluteIris(query))).toBe(expected);
  });
};

describe("withAbsoluteIris", () => {
  shouldGive(
    "PREFIX : <urn:x/> SELECT * { ?s :city\\#name ?o ; :plain :a }",
    "PREFIX : <urn:x/> SELECT * { ?s <urn:x/city#name> ?o ; :plain :a }",
  );
  shouldGive(
    "PREFIX p: <urn:x/> ASK { ?s p:a\\/b\\.c|^p:d\\~e ?o FILTER(?o<p:f\\-g) }",
    "PREFIX p: <urn:x/> ASK { ?s <urn:x/a/b.c> |^ <urn:x/d~e> ?o FILTER(?o< <urn:x/f-g> ) }",
  );
  shouldGive(
    "BASE <http://e.org/a/> PREFIX p: <../b/> ASK { ?s p:c\\,d <./e/../f> }",
    "BASE <http://e.org/a/> PREFIX p: <../b/> ASK { ?s <http://e.org/b/c,d> <http://e.org/a/f> }",
  );
  shouldGive(
    "PREFIX p: <urn:x/> ASK { ?s p:a 'p:b\\\\#c' } # p:d\\#e",
    "PREFIX p: <urn:x/> ASK { ?s p:a 'p:b\\\\#c' } # p:d\\#e",
  );
  shouldGive(
    "BASE <http://e.org/a/> PREFIX p: <b/> PREFIX q: <urn:q/> SELECT * { <> p:x q:y . <urn:z> a 'base' }",
    "BASE <http://e.org/a/> PREFIX p: <b/> PREFIX q: <urn:q/> SELECT * { <http://e.org/a/> <http://e.org/a/b/x> q:y . <urn:z> a 'base' }",
  );

  it("leaves a query that needs nothing as it is", () => {
    const query = "PREFIX p: <urn:x/> ASK { ?s p:a%20b <urn:base> }";
    expect(withAbsoluteIris(query)).toBe(query);
  });
});
