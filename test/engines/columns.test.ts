import { afterAll, beforeAll, expect, it } from "vitest";
import type { Engine } from "../support/engines/engine.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { startVirtuoso } from "../support/engines/virtuoso.ts";
import { prefixes, termSamples, virtuosoGraph } from "./data.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";

// The columns of every answer are compared with its query, so what real engines make of legal queries has to pass.

/** Formats, and how each names its columns. */
const formats: Readonly<Record<string, (text: string) => readonly string[]>> = {
  "application/sparql-results+json": (text) => JSON.parse(text).head.vars,
  "application/sparql-results+xml": (text) =>
    [...text.matchAll(/<variable\s+name="([^"]*)"/gu)].map(([, name = ""]) => name),
  "text/csv": (text) => text.split(/\r?\n/u, 1).flatMap((line) => line.replaceAll('"', "").split(",")),
  "text/tab-separated-values": (text) =>
    text.split(/\r?\n/u, 1).flatMap((line) => line.replaceAll("?", "").split("\t")),
};

type Case = readonly [title: string, columns: string, query: string];

const cases: readonly Case[] = [
  ["two variables", "p o", "SELECT ?p ?o { ex:sample ?p ?o }"],
  ["in another order than they appear", "o p", "SELECT ?o ?p { ex:sample ?p ?o }"],
  ["no solution", "p o", "SELECT ?p ?o { ex:nothing ?p ?o }"],
  ["LIMIT 0", "p o", "SELECT ?p ?o { ex:sample ?p ?o } LIMIT 0"],
  ["a variable written with $", "p o", "SELECT $p ?o { ex:sample ?p $o }"],
  ["a variable that occurs nowhere", "p never", "SELECT ?p ?never { ex:sample ?p ?o }"],
  ["a variable that is never bound", "p x", "SELECT ?p ?x { ex:sample ?p ?o OPTIONAL { ?o ex:never ?x } }"],
  ["names that differ in case", "p P", "SELECT ?p ?P { ex:sample ?p ?P }"],
  ["names with digits and underscores", "1 _x a_1", "SELECT ?1 ?_x ?a_1 { ?1 ?_x ?a_1 . ?1 a ex:Sample }"],
  ["a name beyond ASCII", "größe o", "SELECT ?größe ?o { ex:sample ?größe ?o }"],
  ["a number", "n", "SELECT (COUNT(*) AS ?n) { ex:sample ?p ?o }"],
  ["a number of nothing", "n", "SELECT (COUNT(*) AS ?n) { ex:nothing ?p ?o }"],
  ["groups", "t n", "SELECT ?t (COUNT(?p) AS ?n) { ?s a ?t ; ?p ?o } GROUP BY ?t"],
  ["groups of an expression", "t n", "SELECT ?t (COUNT(?p) AS ?n) { ?s ?p ?o } GROUP BY (STR(?s) AS ?t)"],
  ["an expression", "p text", "SELECT ?p (STR(?o) AS ?text) { ex:sample ?p ?o }"],
  ["DISTINCT", "s", "SELECT DISTINCT ?s { ?s ex:integer ?o }"],
  ["REDUCED", "s", "SELECT REDUCED ?s { ?s ex:integer ?o }"],
  ["sorted by another", "p", "SELECT ?p { ex:sample ?p ?o } ORDER BY ?o"],
  ["*", "p o", "SELECT * { ex:sample ?p ?o }"],
  ["* without a solution", "p o", "SELECT * { ex:nothing ?p ?o }"],
  ["* of OPTIONAL", "o x", "SELECT * { ex:sample ex:link ?o OPTIONAL { ?o ex:never ?x } }"],
  ["* of UNION", "a b", "SELECT * { { ex:sample ex:link ?a } UNION { ex:sample ex:plain ?b } }"],
  ["* of a blank node", "text", "SELECT * { ex:holder ex:part [ ex:inside ?text ] }"],
  ["* of a named blank node", "text", "SELECT * { ex:holder ex:part _:b . _:b ex:inside ?text }"],
  ["* of a subquery", "p", "SELECT * { { SELECT ?p { ex:sample ?p ?o } } }"],
  ["* of a number in a subquery", "n", "SELECT * { { SELECT (COUNT(?o) AS ?n) { ex:sample ?p ?o } } }"],
  ["* of FILTER", "o", "SELECT * { ex:sample ex:integer ?o FILTER(?o > 1) }"],
  ["* of EXISTS", "s o", "SELECT * { ?s ex:integer ?o FILTER EXISTS { ?s ex:plain ?x } }"],
  ["* of MINUS", "s o", "SELECT * { ?s ex:integer ?o MINUS { ?s ex:never ?x } }"],
  ["* of BIND", "o next", "SELECT * { ex:sample ex:integer ?o BIND(?o + 1 AS ?next) }"],
  ["* of VALUES", "p o", "SELECT * { VALUES ?p { ex:integer ex:plain } ex:sample ?p ?o }"],
  ["* of VALUES behind it", "p o", "SELECT * { ex:sample ?p ?o } VALUES ?p { ex:integer ex:plain }"],
  ["* of GRAPH", "g o", "SELECT * { GRAPH ?g { ex:sample ex:integer ?o } }"],
  ["* of a path", "s text", "SELECT * { ?s ex:part/ex:inside ?text }"],
];

let engines: Readonly<Record<string, Engine>>;
let fedway: Fedway;

beforeAll(async () => {
  const [virtuoso, fuseki] = await Promise.all([
    startVirtuoso({ graphs: { [virtuosoGraph]: termSamples } }),
    startFuseki({ data: termSamples }),
  ]);
  engines = { virtuoso, fuseki };
  fedway = await startFedway({ virtuoso: virtuoso.url, fuseki: fuseki.url });
});

afterAll(async () => {
  await fedway?.close();
  await Promise.all(Object.values(engines ?? {}).map((engine) => engine.stop()));
});

it.each(cases)("%s", async (_, columns, query) => {
  const shown: Record<string, string> = {};
  const expected: Record<string, string> = {};
  for (const engine of Object.keys(engines)) {
    for (const [accept, columnsIn] of Object.entries(formats)) {
      const response = await fedway.sparql(`/endpoints/${engine}/sparql`, { query: prefixes + query, accept });
      const text = await response.text();
      const way = `${engine} as ${accept}`;
      // The bytes of an answer pass through: where they are the endpoint's, so is the order of the columns of SELECT *.
      const inOrder = (names: readonly string[]) => (query.startsWith("SELECT *") ? names.toSorted() : names).join(" ");
      shown[way] = response.status === 200 ? inOrder(columnsIn(text)) : text;
      expected[way] = inOrder(columns.split(" "));
    }
  }
  expect(shown).toEqual(expected);
});
