import { describe, expect, it } from "vitest";
import { createTestedEngine } from "../../support/tested-engine.ts";
import { termToText } from "../../../src/results/terms.ts";
import { toFederatedPlan, toBounds } from "../../support/engine-answer.ts";
import { toAnswer } from "../../support/canonical-answer.ts";
import { createMergedFederation } from "../../support/merged-federation.ts";
import { createStoreClient } from "../../support/store-client.ts";

// Oxigraph stores values: it gives back "1"^^xsd:integer for "01"^^xsd:integer and "1"^^xsd:int, in data and in queries.
const url = "http://values.example/sparql";
const XSD = "http://www.w3.org/2001/XMLSchema#";
const client = createStoreClient({
  [url]: `<x:a> <x:n> "1"^^<${XSD}integer> .
    <x:b> <x:n> "01"^^<${XSD}integer> .
    <x:c> <x:n> "1"^^<${XSD}int> .
    <x:a> <x:w> "1.50"^^<${XSD}double> .
    <x:d> <x:k> "no number" .
    <x:a> <x:k> "a number" .`,
});
const engine = createTestedEngine({ client, maxSolutions: 10_000, now: () => performance.now() });

async function run(query: string): Promise<string[]> {
  client.requests.length = 0;
  const result = await engine.execute(toFederatedPlan(`PREFIX xsd: <${XSD}>\n${query}`), toBounds());
  if (result.kind !== "bindings") throw new Error("Not a SELECT");
  const lines: string[] = [];
  for await (const row of result.rows) {
    lines.push(
      result.variables.map((name) => termToText(row.get(name) ?? ({ termType: "DefaultGraph" } as never))).join(" "),
    );
  }
  return lines.toSorted();
}

const spellings = `VALUES ?v { "01"^^xsd:integer "1"^^xsd:int "1"^^xsd:integer "2"^^xsd:integer }`;

/** A clause that is asked by key gives what it gives when it is taken in whole, as a subselect is. */
const shouldEqualWhole = (title: string, rows: number, query: (clause: (body: string) => string) => string): void => {
  it(title, async () => {
    const whole = await run(query((body) => `{ SELECT * { SERVICE <${url}> { ${body} } } }`));
    const byKey = await run(query((body) => `SERVICE <${url}> { ${body} }`));
    expect(byKey).toEqual(whole);
    expect(byKey).toHaveLength(rows);
  });
};

describe("keys that an endpoint gives back in its own spelling", () => {
  shouldEqualWhole("are joined as the endpoint joins them", 9, (c) => `SELECT * { ${spellings} ${c("?s <x:n> ?v")} }`);
  shouldEqualWhole("of an OPTIONAL", 10, (c) => `SELECT * { ${spellings} OPTIONAL { ${c("?s <x:n> ?v")} } }`);
  shouldEqualWhole("of MINUS", 1, (c) => `SELECT * { ${spellings} MINUS { ${c("?s <x:n> ?v")} } }`);
  shouldEqualWhole("of EXISTS", 3, (c) => `SELECT * { ${spellings} FILTER EXISTS { ${c("?s <x:n> ?v")} } }`);
  shouldEqualWhole(
    "that the clause may leave unbound",
    5,
    (c) => `SELECT * { ${spellings} ${c("?s <x:k> ?k OPTIONAL { ?s <x:n> ?v }")} }`,
  );
  shouldEqualWhole(
    "of more than one type",
    3,
    (c) => `SELECT * { VALUES ?v { 1.5e0 "1.50"^^xsd:double "1.5"^^xsd:double 1.5 } ${c("?s <x:w> ?v")} }`,
  );
});

it.each(['"4.0E0"^^xsd:double', '"04"^^xsd:integer', "4.00", '"x"@EN', '"1"^^xsd:boolean'])(
  "%s finds its row over members that answer in another spelling, which has the key's",
  async (key) => {
    const member = createMergedFederation([
      ["double", "integer", "decimal"].map((type) => `<x:a> <x:num> "4"^^<${XSD}${type}> .`).join("\n") +
        `\n<x:a> <x:num> "x"@en .\n<x:a> <x:num> "true"^^<${XSD}boolean> .`,
    ]);
    const result = await member.result(`PREFIX xsd: <${XSD}> SELECT * { VALUES ?n { ${key} } ?s <x:num> ?n }`);
    expect(await toAnswer(result)).toMatchObject({ kind: "bindings", rows: [expect.stringContaining("?s=<x:a>")] });
  },
);

it("types may be called like members of objects", async () => {
  expect(await run(`SELECT * { VALUES ?v { "1"^^xsd:constructor } SERVICE <${url}> { ?s <x:n> ?v } }`)).toEqual([]);
});

it("one spelling is sent as it is", async () => {
  await run(`SELECT * { VALUES ?v { 1 2 } SERVICE <${url}> { ?s <x:n> ?v } }`);
  expect(client.requests.map(({ query }) => query)).toEqual([
    `PREFIX xsd: <${XSD}>\nSELECT ?s ?v WHERE { VALUES (?v) { ("1"^^<${XSD}integer>) ("2"^^<${XSD}integer>) } { ?s <x:n> ?v } }`,
  ]);
});

describe("values that engines match in several spellings", () => {
  const [many, few] = ["http://many.example/sparql", "http://few.example/sparql"];
  const whole = (number: number): string => `"${number}"^^<${XSD}integer>`;
  const numbers = Array.from(
    { length: 200 },
    (_, at) => `<x:m${at}> <x:n> ${whole(at)} .\n<x:m${at}> <x:is> <x:f${at}> .\n`,
  ).join("");
  const truth = `"true"^^<${XSD}boolean>`;
  const store = createStoreClient({
    [many]: `${numbers}<x:true> <x:n> ${truth} .`,
    [few]: `<x:f1> <x:w> ${whole(1)} .\n<x:f2> <x:w> ${whole(2)} .\n<x:true> <x:w> ${truth} .`,
  });
  const joined = createTestedEngine({ client: store, maxSolutions: 10_000, now: () => performance.now() });

  /** What each endpoint is asked in turn for two clauses whose sizes were learned. */
  async function asked(one: string, other: string): Promise<{ rows: number; requests: string[] }> {
    const rowsOf = async (query: string): Promise<number> => {
      const result = await joined.execute(toFederatedPlan(query), toBounds());
      if (result.kind !== "bindings") throw new Error("Not a SELECT");
      let rows = 0;
      for await (const _ of result.rows) rows++;
      return rows;
    };
    for (const clause of [one, other]) await rowsOf(`SELECT * { ${clause} }`);
    store.requests.length = 0;
    const rows = await rowsOf(`SELECT * { ${one} ${other} }`);
    return { rows, requests: store.requests.map(({ endpoint, query }) => `${endpoint.url} ${query}`) };
  }

  it("are matched by the clause that the query has later, however few solutions that has", async () => {
    const { rows, requests } = await asked(`SERVICE <${many}> { ?m <x:n> ?v }`, `SERVICE <${few}> { ?f <x:w> ?v }`);
    expect(rows).toBe(3);
    expect(requests.map((request) => [request.split(" ")[0], request.includes("VALUES")])).toEqual([
      [many, false],
      [few, false],
      [few, true],
    ]);
    // All but the boolean have one spelling: their partners are among all solutions of the few.
    expect(requests.at(-1)).toContain(`{ (${truth} "0") }`);
  });

  it("do not stand where subjects do", async () => {
    const { rows, requests } = await asked(`SERVICE <${many}> { ?m <x:is> ?f }`, `SERVICE <${few}> { ?f <x:w> ?w }`);
    expect(rows).toBe(2);
    expect(requests[0]).toMatch(few);
  });
});
