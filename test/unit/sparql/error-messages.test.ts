import * as fc from "fast-check";
import { expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import { tokenize } from "../../../src/sparql/query.ts";
import { catalogEntry, createCatalog } from "../../support/catalog-entry.ts";

const publicUrl = "http://fedway.example";
const catalog = createCatalog([catalogEntry("a"), catalogEntry("b")], [], { publicUrl });
const planner = createPlanner({ catalog, egress: "catalog", publicUrl });

const pattern = `[] :p [ :q ?x ; :r ( 1 -3e0 ) ] . ?s :p+|^a/!(:q|^:r)* "a"@en , 'b'^^:t , .5 FILTER NOT EXISTS { ?s :p _:b }
  OPTIONAL { ?x :q ?y FILTER(?y IN (1, :a) && REGEX(STR(?y), "a", "i")) } { BIND(IF(?x < 1, 2, \\u0031) AS ?z) } UNION
  { VALUES (?z ?w) { (1 UNDEF) (:a "b") } } MINUS { GRAPH ?g { ?x ?y ?z } } VALUES ?v { 1 true }`;
const forms = [
  `SELECT DISTINCT * { SERVICE <http://a.example/sparql> { ${pattern} } }`,
  `SELECT (COUNT(DISTINCT ?x) AS ?n) ?s { ${pattern} } GROUP BY ?s (STR(?x) AS ?t) HAVING(SUM(?x) > 1) ORDER BY DESC(?n) ?s LIMIT 5 OFFSET 1`,
  `CONSTRUCT { [ :p ?x ] . (?x 1) . ?s ?p ?o } { { SELECT REDUCED ?s { ${pattern} } } }`,
  `CONSTRUCT WHERE { ?s ?p ?o . [ :q ?x ] }`,
  `DESCRIBE ?s :x FROM :g FROM NAMED <http://n> { SERVICE SILENT ?s { ${pattern} } } VALUES ?s { <http://b.example/sparql> }`,
  `ASK { SERVICE <http://a.example/sparql> { ${pattern} } SERVICE <http://b.example/sparql> { ?s :p ?o } }`,
].map((query) => `BASE <http://b/> PREFIX : <http://t/> ${query}`);
const texts = forms.map((query) => tokenize(query).map(({ start, end }) => query.slice(start, end)));
const pool = [...new Set(texts.flat()), "?__proto__", "constructor:x", "?constructor", '"\\uD800"', "\\u0041"];

/** Replaces, inserts, doubles, swaps or drops a token. */
const edit = fc.record({
  kind: fc.constantFrom("replace", "insert", "double", "swap", "drop"),
  at: fc.nat(10_000),
  other: fc.nat(10_000),
});
const edited = (tokens: readonly string[], edits: readonly { kind: string; at: number; other: number }[]): string => {
  const list = [...tokens];
  for (const { kind, at: place, other } of edits) {
    const at = place % list.length;
    const [here, there] = [list[at] ?? "", list[other % list.length] ?? ""];
    if (kind === "replace") list[at] = pool[other % pool.length] ?? "";
    if (kind === "insert") list.splice(at, 0, pool[other % pool.length] ?? "");
    if (kind === "double") list.splice(at, 0, here);
    if (kind === "swap") [list[at], list[other % list.length]] = [there, here];
    if (kind === "drop") list.splice(at, 1);
  }
  return list.join(" ");
};
const queries = fc
  .tuple(fc.constantFrom(...texts), fc.array(edit, { maxLength: 3 }))
  .map(([tokens, edits]) => edited(tokens, edits));

/** What JavaScript says of its own failures. */
const foreign =
  /cannot read|is not a function|is not iterable|undefined|\[object|\bNaN\b|call stack|The parser fails|unexpected error/i;

it("an error of a query is ours, and has a line and a column where its text is at fault", () => {
  fc.assert(
    fc.property(queries, (text) => {
      try {
        const { plan } = planner.plan({ text, strict: false, defaultGraphs: [], namedGraphs: [] });
        if (plan.kind === "rejected") expect(plan.reason.message).not.toMatch(foreign);
      } catch (error) {
        if (!(error instanceof FedwayError)) throw error;
        expect(error.message).not.toMatch(foreign);
        if (error.code === "QUERY_SYNTAX") expect(error.details.where).toMatchObject({ line: 1 });
      }
    }),
    { numRuns: 300, seed: 7 },
  );
});
