import { describe, expect, it } from "vitest";
import { createTestedEngine } from "../../support/tested-engine.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createDirtyClient, type JsonTerm } from "../../support/dirty-client.ts";
import { toBounds, toFederatedPlan } from "../../support/engine-answer.ts";

const [a, b] = ["http://a.example/sparql", "http://b.example/sparql"];
const data = {
  [a]: "<x:ok> <x:p> <x:ok> .\n<x:bad> <x:p> <urn:alias> .\n<x:none> <x:p> <x:nowhere> .",
  [b]: "<x:good> <x:q> <x:ok> .\n<x:found> <x:q> <urn:alias> .\n<x:found> <x:r> <x:t> .\n<x:open> <x:r> <x:t> .\n<x:ok> <x:s> _:n .\n<urn:alias> <x:s> _:n .",
};

const iri = (value: string): JsonTerm => ({ type: "uri", value });
const literal = (value: string, rest: Readonly<Record<string, string>>): JsonTerm => ({
  type: "literal",
  value,
  ...rest,
});

// [what it is, the term]
const terms: readonly (readonly [string, JsonTerm])[] = [
  ["an IRI with a space", iri("http://e.org/a b")],
  ...'< > " { } | ^ ` \\'
    .split(" ")
    .map((character): [string, JsonTerm] => [`an IRI with ${character}`, iri(`http://e.org/a${character}b`)]),
  ["an IRI with a line break", iri("http://e.org/a\nb")],
  ["an IRI with NUL", iri("http://e.org/a\u0000b")],
  ["an IRI with DEL", iri("http://e.org/a\u007fb")],
  ["an IRI with a lone percent sign", iri("http://e.org/100%")],
  ["an IRI with brackets", iri("http://e.org/a[1]")],
  ["an IRI with two fragments", iri("http://e.org/a#b#c")],
  ["an IRI with no port", iri("http://e.org:port/")],
  ["an IRI with a character for private use", iri("http://e.org/\ue000")],
  ["a relative IRI", iri("a/b")],
  ["a relative IRI with a fragment", iri("#b")],
  ["an empty IRI", iri("")],
  ["a bad language tag", literal("text", { "xml:lang": "en_US" })],
  ["a language tag that is none", literal("text", { "xml:lang": "9" })],
  ["a language tag with a space", literal("text", { "xml:lang": "en US" })],
  ["a base direction", literal("text", { "xml:lang": "ar--rtl" })],
  ["a datatype with a space", literal("text", { datatype: "http://e.org/a b" })],
  ["a relative datatype", literal("text", { datatype: "integer" })],
];

let client = createDirtyClient(iri(""), data);
const engine = createTestedEngine({
  client: { query: (request) => client.query(request) },
  maxSolutions: 10_000,
  now: () => performance.now(),
});
const over = { federation: "f", members: [{ url: a }, { url: b }] };

/** The values of ?x, and what was noted of the keys at B. */
async function run(query: string) {
  const bounds = toBounds();
  const plan = toFederatedPlan(query);
  const result = await engine.execute(plan.clauses.length > 0 ? plan : { ...plan, over }, bounds);
  const rows: string[] = [];
  if (result.kind === "bindings") for await (const row of result.rows) rows.push(row.get("x")?.value ?? "-");
  return { rows: rows.toSorted(), setAside: bounds.sources.get(b)?.setAside };
}

const left = `SERVICE <${a}> { ?s <x:p> ?o }`;
const right = `SERVICE <${b}> { ?x <x:q> ?o }`;

// [what takes the keys, the query, the values of ?x]
const forms: readonly (readonly [string, string, readonly string[]])[] = [
  ["a join", `SELECT ?x { ${left} ${right} }`, ["x:found", "x:good"]],
  ["OPTIONAL", `SELECT ?x { ${left} OPTIONAL { ${right} } }`, ["-", "x:found", "x:good"]],
  ["MINUS", `SELECT (STR(?s) AS ?x) { ${left} MINUS { SERVICE <${b}> { ?y <x:q> ?o } } }`, ["x:none"]],
  ["EXISTS", `SELECT (STR(?s) AS ?x) { ${left} FILTER EXISTS { ${right} } }`, ["x:bad", "x:ok"]],
  ["NOT EXISTS", `SELECT (STR(?s) AS ?x) { ${left} FILTER NOT EXISTS { ${right} } }`, ["x:none"]],
  [
    "what may leave the key unbound",
    `SELECT ?x { ${left} SERVICE <${b}> { ?x <x:r> ?t OPTIONAL { ?x <x:q> ?o } } }`,
    ["x:found", "x:open", "x:open", "x:open"],
  ],
  ["a node in two answers", `SELECT (STR(COUNT(DISTINCT ?y)) AS ?x) { ${left} SERVICE <${b}> { ?o <x:s> ?y } }`, ["1"]],
  ["members", "SELECT ?x { ?s <x:p> ?o . ?x <x:q> ?o }", ["x:found", "x:good"]],
  ["OPTIONAL over members", "SELECT ?x { ?s <x:p> ?o OPTIONAL { ?x <x:q> ?o } }", ["-", "x:found", "x:good"]],
  ["MINUS over members", "SELECT (STR(?s) AS ?x) { ?s <x:p> ?o MINUS { ?y <x:q> ?o } }", ["x:none"]],
  ["NOT EXISTS over members", "SELECT (STR(?s) AS ?x) { ?s <x:p> ?o FILTER NOT EXISTS { ?y <x:q> ?o } }", ["x:none"]],
  ["a path", "SELECT ?x { <x:bad> <x:p>/^<x:q> ?x }", ["x:found"]],
  ["zero-length paths", "SELECT ?x { <x:bad> <x:p> ?o . ?o <x:no>*/^<x:q> ?x }", ["x:found"]],
];

it.each(terms)("%s is matched by its text", async (_, term) => {
  client = createDirtyClient(term, data);
  for (const [name, query, expected] of forms) {
    const { rows, setAside } = await run(query);
    expect([name, rows, (setAside?.keys ?? 0) > 0, setAside?.unanswered ?? 0]).toEqual([name, expected, true, 0]);
  }
});

describe("keys that the endpoint does not answer for", () => {
  const rejected = new FedwayError("ENDPOINT_REJECTED_QUERY", "No.");
  it.each([
    ["have no match and are noted, with half of a surrogate pair", iri("http://e.org/\ud800"), undefined],
    ["have no match and are noted, where texts are refused", iri("a b"), rejected],
  ])("%s", async (_, term, error) => {
    client = createDirtyClient(term, data, error);
    expect(await run(`SELECT ?x { ${left} ${right} }`)).toMatchObject({
      rows: ["x:good"],
      setAside: { keys: 1, unanswered: 1 },
    });
  });

  it("end the query where the endpoint is away", async () => {
    client = createDirtyClient(iri("a b"), data, new FedwayError("ENDPOINT_UNREACHABLE", "Nothing listens there."));
    await expect(run(`SELECT ?x { ${left} ${right} }`)).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
  });
});

it("one among 200 ends no join, and costs one request", async () => {
  const count = Array.from({ length: 200 }, (_, n) => n);
  const more = {
    [a]: [data[a], ...count.map((n) => `<x:s${n}> <x:p> <x:o${n}> .`)].join("\n"),
    [b]: [data[b], ...count.map((n) => `<x:t${n}> <x:q> <x:o${n}> .`)].join("\n"),
  };
  client = createDirtyClient(iri("a b"), more);
  const { rows, setAside } = await run(`SELECT ?x { ${left} ${right} }`);
  expect(rows).toHaveLength(202);
  expect(setAside).toEqual({ keys: 1, unanswered: 0, example: "<a\\u0020b>" });
  expect(client.requests.map(({ endpoint }) => endpoint.url)).toEqual([a, b, b]);
});
