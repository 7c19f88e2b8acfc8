import { describe, expect, it } from "vitest";
import { engineAnswer, testEngineOver } from "../../support/engine-answer.ts";
import { createStoreClient } from "../../support/store-client.ts";

const facts = ["d", "e", "p"].map(
  (name) => `<urn:d:x> <urn:d:${name}> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .`,
);
const client = createStoreClient({ "urn:a": facts.join("\n"), "urn:b": facts.join("\n") });
const engine = testEngineOver(client);
const keys = /\{ VALUES \([^)]*\) \{ (?:\([^)]*\) )*\} (\{.*\}) \}/u;

/** What the endpoints of a query's clauses are asked first, without keys, in the order of the clauses. */
async function asked(text: string): Promise<string[]> {
  client.requests.length = 0;
  await engineAnswer(`PREFIX : <urn:d:> ${text.replaceAll("SERVICE <", "SERVICE <urn:")}`, engine);
  const services = [...text.matchAll(/SERVICE <(\w)>/gu)].map(([, id]) => `urn:${id}`);
  return services.flatMap((url) => {
    const query = client.requests.find(({ endpoint }) => endpoint.url === url)?.query ?? "";
    return query
      .replace(/PREFIX : <urn:d:>/u, "")
      .replaceAll(/"(\d+)"\^\^<[^>]*>/gu, "$1")
      .replaceAll("<urn:d:x>", ":x")
      .replaceAll(/\s+/gu, " ")
      .replace(keys, "$1")
      .trim();
  });
}

/** One case: the first clauses are sent as these. */
function shouldAsk(text: string, ...expected: readonly string[]): void {
  it(text, async () => expect((await asked(text)).slice(0, expected.length)).toEqual(expected));
}

const other = "SERVICE <b> { ?s :p ?z }";

describe("a FILTER goes where the clause binds its variables, and no further", () => {
  shouldAsk(
    `SELECT * { SERVICE <a> { ?s :d ?d } ${other} FILTER(?d = 1 && ?z = 2 && ?d != ?z) }`,
    "SELECT ?s ?d WHERE { ?s :d ?d FILTER(?d = 1) }",
    "SELECT ?s ?z WHERE { ?s :p ?z FILTER(?z = 2) }",
  );
  shouldAsk(
    `SELECT * { SERVICE <a> { ?s :e ?e OPTIONAL { ?s :d ?d } } ${other} FILTER(?d = 1) }`,
    "SELECT ?s ?e ?d WHERE { ?s :e ?e OPTIONAL { ?s :d ?d } }",
  );
  shouldAsk(
    `SELECT * { SERVICE <a> { ?s :d ?d VALUES ?d { UNDEF 1 } } ${other} FILTER(?d = 1) }`,
    "SELECT ?s ?d WHERE { ?s :d ?d VALUES ?d { UNDEF 1 } }",
  );
  shouldAsk(
    `SELECT * { ${other} OPTIONAL { SERVICE <a> { ?s :d ?d } } FILTER(?d = 1) }`,
    "SELECT ?s ?z WHERE { ?s :p ?z }",
    "SELECT ?s ?d WHERE { ?s :d ?d }",
  );
  shouldAsk(
    `SELECT * { ${other} OPTIONAL { SERVICE <a> { ?s :d ?d } FILTER(?d = 1 && ?z = 2) } }`,
    "SELECT ?s ?z WHERE { ?s :p ?z }",
    "SELECT ?s ?d WHERE { ?s :d ?d FILTER(?d = 1) }",
  );
  shouldAsk(
    `SELECT * { ${other} MINUS { SERVICE <a> { ?s :d ?d } FILTER(?d = 1) } FILTER(?s = :x) }`,
    "SELECT ?s ?z WHERE { ?s :p ?z FILTER(?s = :x) }",
    "SELECT ?s ?d WHERE { ?s :d ?d FILTER(?d = 1) }",
  );
  shouldAsk(
    "SELECT * { { SERVICE <a> { ?s :d ?d } } UNION { SERVICE <b> { ?s :p ?z } } FILTER(?d = 1) }",
    "SELECT ?s ?d WHERE { ?s :d ?d FILTER(?d = 1) }",
    "SELECT ?s ?z WHERE { ?s :p ?z }",
  );
  shouldAsk(
    `SELECT * { { SELECT ?s ?d { SERVICE <a> { ?s :d ?d } } } ${other} FILTER(?d = 1) }`,
    "SELECT ?s ?d WHERE { ?s :d ?d FILTER(?d = 1) }",
  );
  shouldAsk(
    `SELECT * { { SELECT ?s (?e AS ?d) { SERVICE <a> { ?s :d ?e } } } ${other} FILTER(?d = 1) }`,
    "SELECT ?s ?e WHERE { ?s :d ?e }",
  );
  shouldAsk(
    `SELECT * { { SELECT ?s ?d { SERVICE <a> { ?s :d ?d } } LIMIT 5 } ${other} FILTER(?d = 1) }`,
    "SELECT ?s ?d WHERE { ?s :d ?d } LIMIT 5",
  );
  shouldAsk(
    `SELECT * { SERVICE <a> { SELECT ?s ?d { ?s :d ?d } } ${other} FILTER(?d = 1) }`,
    "SELECT ?s ?d WHERE {{ SELECT ?s ?d { ?s :d ?d } } FILTER(?d = 1) }",
  );
});

describe("a clause is asked for the variables that the rest of the query looks at", () => {
  // Names that two branches of a UNION share are not compared.
  shouldAsk(
    "SELECT ?s { { SERVICE <a> { ?s :d ?o } } UNION { SERVICE <b> { ?s :p ?o } } }",
    "SELECT ?s WHERE { ?s :d ?o }",
    "SELECT ?s WHERE { ?s :p ?o }",
  );
  shouldAsk(
    "SELECT ?s { { SERVICE <a> { ?s :d ?o } } UNION { SERVICE <b> { ?s :p ?o } } FILTER(ISIRI(?o) || RAND() < 2) }",
    "SELECT ?s ?o WHERE { ?s :d ?o }",
    "SELECT ?s ?o WHERE { ?s :p ?o }",
  );
  shouldAsk(
    "SELECT ?x { SERVICE <a> { ?s :d ?d ; :e ?x } SERVICE <b> { ?s :p ?o } }",
    "SELECT ?s ?x WHERE { ?s :d ?d ; :e ?x }",
    "SELECT ?s WHERE { ?s :p ?o }",
  );
  shouldAsk(
    "SELECT * { SERVICE <a> { ?s :d ?d } MINUS { SERVICE <b> { ?s :p ?o } } }",
    "SELECT ?s ?d WHERE { ?s :d ?d }",
    "SELECT DISTINCT ?s WHERE { ?s :p ?o }",
  );
  shouldAsk(
    "SELECT (COUNT(*) AS ?n) { SERVICE <a> { ?s :d ?d } SERVICE <b> { ?s :p ?o } }",
    "SELECT ?s WHERE { ?s :d ?d }",
    "SELECT ?s WHERE { ?s :p ?o }",
  );
  shouldAsk(
    "SELECT (COUNT(DISTINCT *) AS ?n) { SERVICE <a> { ?s :d ?d } SERVICE <b> { ?s :p ?o } }",
    "SELECT ?s ?d WHERE { ?s :d ?d }",
  );
});

describe("a solution is asked for once, or only some, where more make no difference", () => {
  shouldAsk(
    "SELECT DISTINCT ?x { SERVICE <a> { ?s :d ?d ; :e ?x } SERVICE <b> { ?s :p ?o } }",
    "SELECT DISTINCT ?s ?x WHERE { ?s :d ?d ; :e ?x }",
    "SELECT DISTINCT ?s WHERE { ?s :p ?o }",
  );
  shouldAsk(
    "SELECT DISTINCT ?x (UUID() AS ?u) { SERVICE <a> { ?s :d ?d ; :e ?x } SERVICE <b> { ?s :p ?o } }",
    "SELECT ?s ?x WHERE { ?s :d ?d ; :e ?x }",
  );
  shouldAsk(
    "ASK { SERVICE <a> { ?s :d ?d } SERVICE <b> { ?x :p ?o } }",
    "SELECT (1 AS ?fedway_solution) WHERE { ?s :d ?d } LIMIT 1",
  );
  shouldAsk(
    "SELECT * { { SERVICE <a> { ?s :d ?d } } UNION { SERVICE <b> { ?s :p ?o } } } LIMIT 5 OFFSET 2",
    "SELECT ?s ?d WHERE { ?s :d ?d } LIMIT 7",
    "SELECT ?s ?o WHERE { ?s :p ?o } LIMIT 7",
  );
  shouldAsk(
    "SELECT DISTINCT ?s { { SERVICE <a> { ?s :d ?d } } UNION { SERVICE <b> { ?s :p ?o } } } LIMIT 5",
    "SELECT DISTINCT ?s WHERE { ?s :d ?d } LIMIT 5",
  );
  shouldAsk(
    "SELECT DISTINCT (STR(?s) AS ?t) { { SERVICE <a> { ?s :d ?d } } UNION { SERVICE <b> { ?s :p ?o } } } LIMIT 5",
    "SELECT DISTINCT ?s WHERE { ?s :d ?d } LIMIT 80",
  );
  shouldAsk(
    "SELECT * { { SERVICE <a> { ?s :d ?d } } UNION { SERVICE <b> { ?s :p ?o } } } ORDER BY ?s LIMIT 5",
    "SELECT ?s ?d WHERE { ?s :d ?d }",
  );
  shouldAsk(
    "SELECT * { { SERVICE <a> { ?s :d ?d } } UNION { SERVICE <b> { ?s :p ?o } } FILTER(?s = :x) } LIMIT 5",
    "SELECT ?s ?d WHERE { ?s :d ?d FILTER(?s = :x) } LIMIT 80",
  );
  shouldAsk(
    "SELECT * { SERVICE <a> { ?s :d ?few } SERVICE <b> { ?s :p ?few2 } } LIMIT 5",
    "SELECT ?s ?few WHERE { ?s :d ?few } LIMIT 80",
    "SELECT ?s ?few2 WHERE { ?s :p ?few2 }",
  );
  shouldAsk(`SELECT * { SERVICE <a> { ?s :d ?d } ${other} } ORDER BY ?d LIMIT 5`, "SELECT ?s ?d WHERE { ?s :d ?d }");
  shouldAsk(`ASK { SERVICE <a> { ?s :d ?d } ${other} }`, "SELECT DISTINCT ?s WHERE { ?s :d ?d } LIMIT 64");
});
