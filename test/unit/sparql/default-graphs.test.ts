import { expect, it } from "vitest";
import { parseQuery } from "../../../src/sparql/query.ts";

it.each([
  "SELECT ?s { ?s ?p ?o }",
  "PREFIX a: <urn:a:>\nSELECT (COUNT(*) AS ?n) WHERE { ?s a:p ?o } # how many",
  "ASK { ?s ?p ?o }",
  "CONSTRUCT { ?s ?p 1 } WHERE { ?s ?p ?o }",
  "CONSTRUCT WHERE { ?s ?p ?o }",
  "SELECT ?s { { SELECT ?s { ?s ?p ?o } LIMIT 1 } }",
  "DESCRIBE <urn:x>",
])("a query over other graphs: %s", (text) => {
  const { ast } = parseQuery(parseQuery(text).withDefaultGraphs(["urn:g:1", "urn:g:2"]));
  expect(ast.from?.default.map(({ value }) => value)).toEqual(["urn:g:1", "urn:g:2"]);
  expect({ ...ast, from: undefined }).toEqual({ ...parseQuery(text).ast, from: undefined });
});
