import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../src/errors/codes.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { SparqlClient } from "../../../src/outbound/sparql-request.ts";
import { createTestedEngine } from "../../support/tested-engine.ts";
import { termToText } from "../../../src/results/terms.ts";
import { toFederatedPlan, toBounds } from "../../support/engine-answer.ts";
import { createStoreClient } from "../../support/store-client.ts";

const people = "http://people.example/sparql";
const homes = "http://homes.example/sparql";
const many = Array.from({ length: 300 }, (_, i) => i);
const store = createStoreClient({
  // One who has a post is a node, and no key.
  [people]: `${many.map((i) => `<x:${i}> <x:name> "${i}" .`).join("\n")}
    ${many.map((i) => `<x:${i}> <x:post> "${i}" .`).join("\n")}
    _:p <x:post> "vacant" .`,
  // The addresses of 300 people are two nodes; some people have an IRI beside them.
  [homes]: `${many.map((i) => `<x:${i}> <x:home> _:h${i % 2} .`).join("\n")}
    ${many.flatMap((i) => many.slice(0, 12).map((n) => `<x:${i}> <x:stay> _:s${n} .`)).join("\n")}
    <x:1> <x:home> <x:castle> .
    _:h0 <x:city> "Ulm" .
    _:h1 <x:city> "Ulm" .`,
});
/** The stores, as endpoints that refuse queries with more keys than this. */
const refusing = (mostKeys: number, refusal: FedwayError): SparqlClient => ({
  ...store,
  query: async (request) => {
    if ((request.query.match(/\(</gu)?.length ?? 0) > mostKeys) throw refusal;
    return store.query(request);
  },
});

interface Planned {
  /** Solutions of the clauses, in their order. */
  readonly estimates?: readonly number[];
  readonly maxValuesRows?: number;
}

async function run(
  query: string,
  { estimates, maxValuesRows }: Planned = {},
  client: SparqlClient = store,
): Promise<string[]> {
  store.requests.length = 0;
  // A new engine: it learns how many keys may be sent at once, and begins with 256.
  const engine = createTestedEngine({ client, maxSolutions: 10_000, now: () => performance.now() });
  const text = query.replaceAll("PEOPLE", `SERVICE <${people}>`).replaceAll("HOMES", `SERVICE <${homes}>`);
  const plan = toFederatedPlan(text);
  const clauses = plan.clauses.map((clause, at) => ({
    ...clause,
    estimate: estimates?.[at],
    endpoint: { ...clause.endpoint, maxValuesRows },
  }));
  const result = await engine.execute({ ...plan, clauses }, toBounds());
  if (result.kind !== "bindings") throw new Error("Not a SELECT");
  const lines: string[] = [];
  for await (const row of result.rows) {
    const cells = result.variables.map((name) => row.get(name));
    lines.push(cells.map((term) => (term ? termToText(term).replace(/^"(\d+)".*$|^(_):.*$/u, "$1$2") : "")).join(" "));
  }
  return lines.toSorted();
}

const requestsTo = (url: string): number => store.requests.filter(({ endpoint }) => endpoint.url === url).length;

const shouldAnswer = (query: string, rows: readonly string[], requests: number, planned?: Planned): void => {
  it(`${query}: ${requests} requests`, async () => {
    expect(await run(query, planned)).toEqual(rows);
    expect(requestsTo(homes)).toBe(requests);
  });
};

describe("blank nodes of one endpoint in several answers", () => {
  const both = "PEOPLE { ?p <x:name> ?n } HOMES { ?p <x:home> ?h }";
  shouldAnswer(`SELECT (COUNT(DISTINCT ?h) AS ?c) { ${both} }`, ["3"], 3);
  shouldAnswer(`SELECT (COUNT(*) AS ?c) { SELECT DISTINCT ?h { ${both} } }`, ["3"], 3);
  shouldAnswer(`SELECT (COUNT(?p) AS ?c) { ${both} } GROUP BY ?h`, ["1", "150", "150"], 3);
  shouldAnswer(
    `SELECT (COUNT(DISTINCT ?h) AS ?c) { PEOPLE { ?p <x:name> ?n } OPTIONAL { HOMES { ?p <x:home> ?h } } }`,
    ["3"],
    3,
  );
  shouldAnswer(`SELECT (COUNT(DISTINCT *) AS ?c) { ${both} }`, ["301"], 3);
});

describe("blank nodes of one endpoint in a block of 90 keys", () => {
  const query = `SELECT (COUNT(?p) AS ?c) { PEOPLE { ?p <x:name> ?n FILTER(STRLEN(?n) = 2) } HOMES { ?p <x:home> ?h } }
    GROUP BY ?h`;
  const refusal = (code: ErrorCode, upstreamStatus: number) =>
    refusing(40, new FedwayError(code, "too long", { fault: "http-4xx", upstreamStatus }));
  it.each<[string, number, Planned, SparqlClient]>([
    ["it takes them", 1, {}, store],
    ["it is known to take 40", 5, { maxValuesRows: 40 }, store],
    ["it refuses with 413", 5, {}, refusal("ENDPOINT_REFUSED", 413)],
    ["it refuses with 414", 5, {}, refusal("ENDPOINT_REFUSED", 414)],
    ["it refuses with 400, which 16 keys in a FILTER do not have", 3, {}, refusal("ENDPOINT_REJECTED_QUERY", 400)],
    ["it refuses with 503, which 16 keys do not have", 6, {}, refusal("ENDPOINT_FAILED", 503)],
  ])("have one label where %s: %d answers", async (_, answers, planned, client) => {
    expect(await run(query, planned, client)).toEqual(["45", "45"]);
    expect(requestsTo(homes)).toBe(answers);
  });
});

describe("blank nodes of a part whose first block is joined alone", () => {
  const joined = (first: string, part: string) =>
    `SELECT (COUNT(DISTINCT ?h) AS ?c) { PEOPLE { ${first} } HOMES { ${part} } PEOPLE { ?p <x:name> ?m } }`;
  shouldAnswer(joined("?p <x:name> ?n", "?p <x:home> ?h"), ["3"], 3);
  // Twelve a key are more than expected: the solutions behind the block are joined in another order, and ask both again.
  const stays = `SELECT (COUNT(DISTINCT ?s) AS ?c) (COUNT(DISTINCT ?h) AS ?d)
    { PEOPLE { ?p <x:name> ?n } HOMES { ?p <x:stay> ?s } HOMES { ?p <x:home> ?h } }`;
  shouldAnswer(stays, ["12 3"], 6, { estimates: [300, 700, 800] });
  // A row without a key makes the first block smaller.
  shouldAnswer(joined("?p <x:post> ?n", "?p <x:home> ?h"), ["3"], 3);
});

describe("blank nodes of an operand that is asked with keys and without", () => {
  it("have one label", async () => {
    // Rows of the UNION's first branch bind no ?p; what is known of sizes has the UNION asked first.
    const query = `SELECT (COUNT(*) AS ?c) { HOMES { ?p <x:home> ?h } OPTIONAL { HOMES { ?p <x:city> ?z } }
      { PEOPLE { ?x <x:name> "7" } } UNION { PEOPLE { ?p <x:name> "2" } } PEOPLE { ?p <x:name> ?n } } GROUP BY ?h`;
    expect(await run(query, { estimates: [1, 1, 1, 1, 1] })).toEqual(["1", "150", "151"]);
  });
});

describe("blank nodes that nothing tells apart", () => {
  const city = "HOMES { ?p <x:home> ?h . ?h <x:city> ?c }";
  shouldAnswer(`SELECT (COUNT(?h) AS ?c) { PEOPLE { ?p <x:name> ?n } HOMES { ?p <x:home> ?h } }`, ["301"], 3);
  shouldAnswer(`SELECT DISTINCT ?c { PEOPLE { ?p <x:name> ?n } ${city} }`, ['"Ulm"'], 2);
  shouldAnswer(`SELECT DISTINCT ?h { PEOPLE { ?p <x:name> ?n FILTER(?n IN ("2", "4")) } ${city} }`, ["_"], 1);
});
