import { expect, it } from "vitest";
import { routedUrl } from "../../../src/http/sparql-routes.ts";

it.each([
  ["/sparql?query=ASK%7B%7D", "/sparql"],
  ["/sparql/?query=ASK%7B%7D", "/sparql/"],
  ["/endpoints/alpha/sparql?query=a?b", "/endpoints/alpha/sparql"],
  ["/hosted/alpha/sparql?", "/hosted/alpha/sparql"],
  ["/federations/alpha/sparql?query=x", "/federations/alpha/sparql"],
  ["/registry/sparql?query=x", "/registry/sparql"],
])("%s is routed without its query part, as %s", (url, expected) => {
  expect(routedUrl(url)).toBe(expected);
});

it.each([
  "/sparql",
  "/api/endpoints?q=sparql",
  "/endpoints/a/b/sparql?query=x",
  "/endpoints/alpha?next=/sparql?x",
  "/sparqlx?query=x",
  "/api/query?path=/sparql?",
  "",
])("%s is routed as it is", (url) => {
  expect(routedUrl(url)).toBe(url);
});
