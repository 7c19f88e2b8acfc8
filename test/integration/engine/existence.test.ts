import { describe, expect, it } from "vitest";
import { createTestedEngine } from "../../support/tested-engine.ts";
import { bindingsAnswer, canonicalRow, canonicalTerm } from "../../support/canonical-answer.ts";
import { toFederatedPlan, toBounds } from "../../support/engine-answer.ts";
import { createOracle } from "../../support/oracle.ts";
import { createStoreClient } from "../../support/store-client.ts";

const integer = "<http://www.w3.org/2001/XMLSchema#integer>";
const urls = { A: "http://a.example/sparql", B: "http://b.example/sparql", C: "http://c.example/sparql" };
// A thousand rows would be taken for an answer that was cut.
const count = 1_010;

function lines(line: (i: number) => string, step = 1): string {
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => line(i * step)).join("\n");
}

/** Each third subject of A has a `q` in B that is larger than its `n` when it is even; each fifth has an `r` in C. */
const data = {
  [urls.A]: lines((i) => `<x:${i}> <x:n> "${i}"^^${integer} .${i % 2 === 0 ? `\n<x:${i}> <x:even> <x:yes> .` : ""}`),
  [urls.B]: lines((i) => `<x:${i}> <x:q> "${i % 2 === 0 ? i + 1 : 0}"^^${integer} .`, 3),
  [urls.C]: lines((i) => `<x:${i}> <x:r> <x:c${i % 7}> .`, 5),
};

/** The text with each name's URL; `keyword` is SERVICE, or GRAPH for the oracle. */
function spelled(query: string, keyword: "SERVICE" | "GRAPH"): string {
  return query.replaceAll(/\b([ABC]) \{/gu, (_, name: keyof typeof urls) => `${keyword} <${urls[name]}> {`);
}

const client = createStoreClient(data);
const oracle = createOracle(new Map(Object.entries(data)));

/** Each query has an engine of its own: none knows yet how many keys the endpoints take. */
async function answer(query: string) {
  client.requests.length = 0;
  const engine = createTestedEngine({ client, maxSolutions: 1_000_000, now: () => performance.now() });
  const result = await engine.execute(toFederatedPlan(spelled(query, "SERVICE")), toBounds());
  if (result.kind !== "bindings") throw new Error("Only SELECT is asked here");
  const rows: string[] = [];
  for await (const row of result.rows) {
    rows.push(canonicalRow([...row].map(([name, term]) => [name, canonicalTerm(term as never)])));
  }
  return { rows: bindingsAnswer(rows, false), requests: client.requests.length };
}

/** Sixteen keys are asked for at first, and twice as many each time: six blocks for a thousand, and one for the left side. */
const blocks = 7;
/** Of two clauses; how many keys the second one takes is learned while several of its requests are under way. */
const blocksOfTwo = 30;

const left = "A { ?s <x:n> ?n }";
const forms: readonly (readonly [string, string, number])[] = [
  ["FILTER EXISTS", `SELECT ?s { ${left} FILTER EXISTS { B { ?s <x:q> ?t } } }`, blocks],
  ["FILTER NOT EXISTS", `SELECT ?s { ${left} FILTER NOT EXISTS { B { ?s <x:q> ?t } } }`, blocks],
  ["a FILTER beside the clause", `SELECT ?s { ${left} FILTER EXISTS { B { ?s <x:q> ?t } FILTER(?t > ?n) } }`, blocks],
  ["a FILTER in the clause", `SELECT ?s { ${left} FILTER EXISTS { B { ?s <x:q> ?t FILTER(?t > ?n) } } }`, blocks],
  [
    "a FILTER in a group of the clause",
    `SELECT ?s { ${left} FILTER NOT EXISTS { B { ?s <x:q> ?u { ?s <x:q> ?t FILTER(?t > ?n) } } } }`,
    blocks,
  ],
  ["BIND", `SELECT ?s ?e { ${left} BIND(EXISTS { B { ?s <x:q> ?t } } AS ?e) }`, blocks],
  ["SELECT expression", `SELECT ?s (IF(EXISTS { B { ?s <x:q> ?t } }, "y", "n") AS ?e) { ${left} }`, blocks],
  ["||", `SELECT ?s { ${left} FILTER(?n = 1 || EXISTS { B { ?s <x:q> ?t } }) }`, blocks],
  ["two EXISTS", `SELECT ?s { ${left} FILTER(EXISTS { B { ?s <x:q> ?t } } || EXISTS { C { ?s <x:r> ?t } }) }`, 13],
  ["two clauses", `SELECT ?s { ${left} FILTER EXISTS { B { ?s <x:q> ?t } C { ?s <x:r> ?u } } }`, blocksOfTwo],
  ["UNION", `SELECT ?s { ${left} FILTER EXISTS { { B { ?s <x:q> ?t } } UNION { C { ?s <x:r> ?t } } } }`, blocksOfTwo],
  [
    "OPTIONAL inside",
    `SELECT ?s { ${left} FILTER EXISTS { B { ?s <x:q> ?t } OPTIONAL { C { ?s <x:r> ?u } } FILTER(!bound(?u)) } }`,
    blocksOfTwo,
  ],
  [
    "MINUS inside",
    `SELECT ?s { ${left} FILTER EXISTS { B { ?s <x:q> ?t } MINUS { C { ?s <x:r> ?u } } } }`,
    blocksOfTwo,
  ],
  [
    "MINUS inside, on a variable of the outermost group",
    `SELECT ?s { ${left} FILTER EXISTS { B { ?s <x:q> ?t } MINUS { C { ?s <x:r> ?n } } } }`,
    blocksOfTwo,
  ],
  [
    "EXISTS inside",
    `SELECT ?s { ${left} FILTER EXISTS { B { ?s <x:q> ?t } FILTER NOT EXISTS { C { ?s <x:r> ?u } } } }`,
    blocksOfTwo,
  ],
  [
    "EXISTS inside, on a variable of the outermost group",
    `SELECT ?s { ${left} FILTER EXISTS { C { ?s <x:r> ?u } FILTER EXISTS { B { ?s <x:q> ?t FILTER(?t > ?n) } } } }`,
    blocksOfTwo,
  ],
  ["aggregate", `SELECT (SUM(IF(EXISTS { B { ?s <x:q> ?t } }, 1, 0)) AS ?e) { ${left} }`, blocks],
  ["HAVING", `SELECT ?s (COUNT(*) AS ?c) { ${left} } GROUP BY ?s HAVING EXISTS { B { ?s <x:q> ?t } }`, blocks],
  ["ORDER BY", `SELECT ?s { ${left} } ORDER BY EXISTS { B { ?s <x:q> ?t } } ?n`, blocks],
  [
    "condition of OPTIONAL",
    `SELECT ?s ?u { ${left} OPTIONAL { C { ?s <x:r> ?u } FILTER(EXISTS { B { ?s <x:q> ?t } }) } }`,
    blocksOfTwo,
  ],
  [
    "condition of OPTIONAL over a subselect",
    `SELECT ?s ?u { ${left} OPTIONAL { { SELECT ?s ?u { C { ?s <x:r> ?u } } } FILTER(EXISTS { B { ?s <x:q> ?t } }) } }`,
    blocksOfTwo,
  ],
  [
    "a variable that may be unbound",
    `SELECT ?n ?s { A { ?x <x:n> ?n OPTIONAL { ?x <x:even> ?e . BIND(?x AS ?s) } } FILTER EXISTS { B { ?s <x:q> ?t } } }`,
    8,
  ],
  [
    "a variable that only FILTER mentions and that may be unbound",
    `SELECT ?s ?m { A { ?s <x:n> ?n OPTIONAL { ?s <x:even> ?e . BIND(?n AS ?m) } } FILTER NOT EXISTS { B { ?s <x:q> ?t FILTER(?t > ?m) } } }`,
    14,
  ],
  ["few keys in many rows", `SELECT ?s ?k { ${left} BIND(?n - ?n AS ?k) FILTER EXISTS { B { ?z <x:q> ?k } } }`, 2],
  ["subselect", `SELECT ?s { ${left} FILTER EXISTS { { SELECT ?s { B { ?s <x:q> ?t } } } FILTER(?n > 5) } }`, blocks],
  [
    "aggregate inside",
    `SELECT ?s { ${left} FILTER EXISTS { { SELECT ?s (COUNT(*) AS ?c) { B { ?s <x:q> ?t } } GROUP BY ?s } FILTER(?c < ?n) } }`,
    blocks,
  ],
  [
    "BIND inside",
    `SELECT ?s { ${left} FILTER EXISTS { B { ?s <x:q> ?t BIND(?t - ?n AS ?d) FILTER(?d = 1) } } }`,
    blocks,
  ],
  [
    "BIND beside a clause",
    `SELECT ?s { ${left} FILTER EXISTS { B { ?s <x:q> ?t } BIND(?t - ?n AS ?d) FILTER(?d = 1) } }`,
    blocks,
  ],
  [
    "OPTIONAL in a clause",
    `SELECT ?s { ${left} FILTER EXISTS { B { ?s <x:q> ?u OPTIONAL { ?s <x:q> ?t FILTER(?t > ?n) } FILTER(!bound(?t)) } } }`,
    blocks,
  ],
  [
    "a FILTER that is all that joins",
    `SELECT ?s { ${left} FILTER EXISTS { { SELECT ?t { B { ?x <x:q> ?t } } } FILTER(?n IN (?t)) } }`,
    blocks,
  ],
  ["no clause", `SELECT ?s { ${left} FILTER EXISTS { FILTER(?n > 900) } }`, 1],
];

describe("EXISTS over a thousand rows is asked in blocks of distinct keys", () => {
  it.each(forms)("%s", async (_, query, most) => {
    const { rows, requests } = await answer(query);
    expect(rows).toEqual(oracle.answer(spelled(query, "GRAPH")));
    expect(requests).toBeLessThanOrEqual(most);
  });
});
