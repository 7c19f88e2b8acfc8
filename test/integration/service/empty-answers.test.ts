import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../../src/app.ts";
import type { Problem } from "../../../src/errors/fedway-error.ts";
import { federationTurtle } from "../../support/catalog-folder.ts";
import { startEndpoints, type TestEndpoints } from "../../support/federation-harness.ts";
import { openService } from "../../support/running-service.ts";

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const integer = "<http://www.w3.org/2001/XMLSchema#integer>";

const cities = `
<http://x/berlin> ${type} <http://v/City> .
<http://x/berlin> <http://v/name> "Berlin" .
<http://x/berlin> <http://v/country> "Germany"@en .
<http://x/berlin> <http://v/population> "3700000"^^${integer} .
<http://x/berlin> <http://v/code> "B-007" .
<http://x/rome> ${type} <http://v/City> .
<http://x/rome> <http://v/name> "Rome" .
<http://x/rome> <http://v/country> "Italy"@en .
<http://x/rome> <http://v/population> "2800000"^^${integer} .
<http://x/rome> <http://v/partOf> <http://x/italy> .
<http://x/rome> <http://v/code> "R-012" .
<http://x/rome> <http://v/area> "1285.0"^^<http://www.w3.org/2001/XMLSchema#decimal> .
<http://x/rome> <http://v/founded> "1871"^^<http://www.w3.org/2001/XMLSchema#gYear> .
<http://x/rome> <http://v/visited> "1990-05-01"^^<http://www.w3.org/2001/XMLSchema#date> .
<http://x/italy> ${type} <http://v/Country> .
<http://x/italy> <http://v/name> "Italy" .
<http://x/rome> <http://v/twin> <http://x/paris> <http://x/graph> .
`;
const mayors = `
<http://y/b> <http://w/key> "B-7" .
<http://y/b> <http://w/mayor> "Kai" .
<http://y/b> <http://w/city> "http://x/berlin" .
<http://y/b> <http://w/seat> "Berlin"@de .
<http://y/r> <http://w/seat> "Rome"@en .
<http://y/r> <http://w/key> "R-12" .
<http://y/r> <http://w/mayor> "Roberto" .
<http://y/r> <http://w/city> "http://x/rome" .
<http://y/r> <http://www.w3.org/2002/07/owl#sameAs> <http://x/rome> .
<http://y/1> <http://w/called> "Berlin" .
<http://y/1> <http://w/coded> "R-012" .
<http://y/2> <http://w/called> "Rome" .
<http://y/2> <http://w/coded> "B-007" .
`;
const prefixes = "PREFIX v: <http://v/> PREFIX w: <http://w/>\n";

let endpoints: TestEndpoints;
let app: App;

beforeAll(async () => {
  endpoints = await startEndpoints({ cities, mayors });
  const both = federationTurtle("both", 'fedway:member "cities", "mayors"');
  app = await openService(endpoints.urls, {}, { "both.ttl": both });
});
afterAll(async () => {
  await app.close();
  await endpoints.close();
});

function ask(text: string, endpointId?: string, federationId?: string) {
  const signal = new AbortController().signal;
  const dataset = { defaultGraphs: [], namedGraphs: [] };
  const place = { endpointId, federationId };
  const request = { text: prefixes + text, ...place, ...dataset, strict: false, partial: false, signal };
  return app.queries.table({ ...request, maxRows: 100, explainEmpty: true });
}

async function diagnosed(text: string, endpointId?: string): Promise<Problem> {
  const { status, diagnosis } = await ask(text, endpointId);
  expect(status).toBe("empty");
  if (!diagnosis) throw new Error("no diagnosis");
  return diagnosis;
}

/** The query with the first repair that is offered, as somebody would make it who has nothing but the text. */
function repaired(text: string, { repairs = [] }: Problem): string {
  const [repair] = repairs;
  if (repair === undefined) throw new Error("no repair");
  expect(repair.applied).toBe(false);
  expect((prefixes + text).split(repair.before)).toHaveLength(2);
  return (prefixes + text).replace(repair.before, () => repair.after).slice(prefixes.length);
}

/** Query, the code and the pattern that are told, and the endpoint; its first repair gives rows. */
const mended: readonly (readonly [query: string, code: string, pattern: string, endpoint: string])[] = [
  ['{ ?x a v:City ; v:country "germany" ; v:population ?p }', "EMPTY_VALUE", '?x v:country "germany"', "cities"],
  ['{ ?x a v:City ; v:country "Germany" }', "EMPTY_VALUE", '?x v:country "Germany"', "cities"],
  ['{ ?x v:population "3700000" }', "EMPTY_VALUE", '?x v:population "3700000"', "cities"],
  ['{ ?x v:name " Rome" ; v:code ?c }', "EMPTY_VALUE", '?x v:name " Rome"', "cities"],
  ["{ <https://x/berlin> v:name ?n }", "EMPTY_VALUE", "<https://x/berlin> v:name ?n", "cities"],
  ["{ ?x a v:City ; v:nme ?n }", "EMPTY_TERM", "?x v:nme ?n", "cities"],
  ['{ ?x a "City" ; v:code ?n }', "EMPTY_TERM", '?x a "City"', "cities"],
  ["{ ?x a v:Country ; v:country ?c ; v:population ?p }", "EMPTY_TERM", "?x a v:Country", "cities"],
  ["{ ?c a v:Country . ?c v:partOf ?x . ?x v:name ?n ; v:code ?k }", "EMPTY_DIRECTION", "?c v:partOf ?x", "cities"],
  ['{ ?x a v:City ; v:name ?n FILTER(?n = "berlin") }', "EMPTY_FILTER", 'FILTER(?n = "berlin")', "cities"],
  [
    "{ SERVICE <cities> { ?x v:name ?n ; v:code ?k } SERVICE <mayors> { ?y w:key ?k ; w:mayor ?m } }",
    "EMPTY_KEYS",
    "?y w:key ?k",
    "mayors",
  ],
  [
    "{ SERVICE <cities> { ?x v:name ?n } SERVICE <mayors> { ?y w:city ?x ; w:mayor ?m } }",
    "EMPTY_KEYS",
    "?y w:city ?x",
    "mayors",
  ],
  ["{ SERVICE <cities> { ?x v:name ?n } SERVICE <mayors> { ?x w:mayor ?m } }", "EMPTY_KEYS", "?x w:mayor ?m", "mayors"],
  ["{ SERVICE <mayors> { ?x v:name ?n ; v:code ?k } }", "EMPTY_ENDPOINT", "?x v:name ?n", "mayors"],
];

describe("an empty answer", () => {
  it.each([
    [
      "SELECT * { GRAPH <http://x/graph> { ?x v:code ?c } }",
      "in GRAPH <http://x/graph> at any member of the federation",
    ],
    ["SELECT * FROM <http://x/graph> { ?x v:code ?c }", "in FROM <http://x/graph> at any member of the federation"],
    ["SELECT * { GRAPH <http://x/none> { ?x v:twin ?c } }", "in GRAPH <http://x/none> at any member of the federation"],
  ])("of other graphs names them: %s", async (text, place) => {
    const { status, diagnosis } = await ask(text, undefined, "both");
    expect([status, diagnosis?.detail]).toEqual(["empty", expect.stringContaining(place)]);
  });

  it("comes of a default graph where another graph has solutions", async () => {
    const graph = await ask("SELECT * { GRAPH ?g { ?x v:twin ?y } }", undefined, "both");
    expect([graph.status, graph.rows]).toEqual(["ok", [["<http://x/graph>", "<http://x/rome>", "<http://x/paris>"]]]);
    expect(await ask("SELECT * { ?x v:twin ?y }", undefined, "both")).toMatchObject({ status: "empty" });
  });

  it.each(mended)("is explained and mended: %s", async (where, code, pattern, endpoint) => {
    const text = `SELECT * ${where}`;
    const direct = where.includes("SERVICE") ? undefined : "cities";
    const problem = await diagnosed(text, direct);
    expect(problem).toMatchObject({ code, status: 200, where: { pattern, endpoint, line: 2 } });
    // The question that shows the repair's solutions is among those of the problem.
    const proofs = problem.statements?.filter(({ evidence }) => evidence.some(({ count }) => count > 0)) ?? [];
    expect(proofs.map(({ claim }) => claim).join("\n")).toMatch(
      /the query (?:has some|has solutions|then has)|not written alike/,
    );
    const { status, diagnosis } = await ask(repaired(text, problem), direct);
    expect({ status, diagnosis }).toEqual({ status: "ok", diagnosis: null });
  });

  it.each([
    ["v:founded", "1800", "xsd:gYear"],
    ["v:visited", "1950", "xsd:date"],
    ["v:visited", "1950 && ?d < 2000", "xsd:date"],
    ["v:visited", '"1950-01-01"', "xsd:date"],
    ["v:population", '"5"', "xsd:integer"],
  ])("names the datatype that a FILTER over %s > %s forgets", async (property, constant, named) => {
    const text = `SELECT * { ?x ${property} ?d FILTER(?d > ${constant}) }`;
    const problem = await diagnosed(text, "cities");
    expect(problem).toMatchObject({ code: "EMPTY_FILTER", detail: expect.stringContaining(`?d is ${named}, which`) });
    expect(repaired(text, problem)).toContain("FILTER(");
    expect(await ask(repaired(text, problem), "cities")).toMatchObject({ status: "ok", diagnosis: null });
  });

  it.each([
    [
      "{ ?x v:population ?p FILTER(?p > 99999999) }",
      "EMPTY_FILTER",
      "?p > 99999999 holds for nothing; the largest ?p is 3700000",
    ],
    ["{ ?x v:population ?p FILTER(9 > ?p) }", "EMPTY_FILTER", "the smallest ?p is 2800000"],
    [
      '{ ?x v:name ?n ; v:population ?p FILTER(?p > 1 && ?n = "Atlantis") }',
      "EMPTY_FILTER",
      '?n = "Atlantis" holds for nothing (asked now)',
    ],
    [
      '{ ?x v:name ?n ; v:population ?p FILTER(?p > 3000000 && ?n = "Rome") }',
      "EMPTY_FILTER",
      "its conditions exclude each other",
    ],
    ["{ ?x v:name ?n FILTER(STRLEN(?n) = 99) }", "EMPTY_FILTER", "STRLEN(?n) = 99 holds for nothing"],
    ["{ ?x v:name ?n FILTER NOT EXISTS { ?x v:name ?m } }", "EMPTY_FILTER", "holds for nothing"],
    [
      "{ ?x v:name ?n } GROUP BY ?x HAVING(COUNT(?n) > 5)",
      "EMPTY_MODIFIER",
      "the largest COUNT(?n) of a group is 1 (asked now).",
    ],
    [
      "{ ?x a ?c } GROUP BY ?c HAVING (COUNT(*) < 1) ORDER BY ?c",
      "EMPTY_MODIFIER",
      "the smallest COUNT(*) of a group is 1 (asked now).",
    ],
    ["{ ?x v:name ?n } GROUP BY ?n HAVING(?n = 5)", "EMPTY_MODIFIER", "HAVING(?n = 5) leaves none of them"],
    [
      "{ ?x v:name ?n } ORDER BY ?n LIMIT 5 OFFSET 7",
      "EMPTY_MODIFIER",
      "OFFSET 7 leaves none of them; without it the query has 3 rows (asked now).",
    ],
    ["{ ?x v:name ?n } LIMIT 0", "EMPTY_MODIFIER", "LIMIT 0 leaves none of them (asked now)."],
  ])("says what there is instead of a condition, and never takes one away: %s", async (where, code, told) => {
    const names = /GROUP BY (\?\w+)/.exec(where)?.[1] ?? "*";
    const problem = await diagnosed(`SELECT ${names} ${where}`, "cities");
    expect(problem).toMatchObject({ code, detail: expect.stringContaining(told) });
    expect(problem.repairs).toBeUndefined();
    expect(problem.next).toMatch(/Perhaps there is no answer/);
  });

  it("names the value of a group by the name that SELECT gives it", async () => {
    const text = "SELECT ?c (COUNT(?x) AS ?n) { ?x a ?c } GROUP BY ?c HAVING(?n > 5)";
    expect((await diagnosed(text, "cities")).detail).toContain("the largest ?n of a group is 2 (asked now).");
  });

  it.each([
    ["in each of its places", "SELECT * { ?x v:nme ?n . ?y v:nme ?n ; v:code ?c }", undefined],
    ["also where it is not required", "SELECT * { ?x v:nme ?n MINUS { ?x v:nme ?n ; v:code ?c } }", undefined],
    ["by its prefix", "PREFIX h: <https://v/> SELECT * { ?x h:name ?n ; h:code ?c }", "<http://v/>"],
  ])("mends a term %s, with one repair", async (_, text, after) => {
    const problem = await diagnosed(text, "cities");
    expect(problem.repairs).toHaveLength(1);
    if (after !== undefined) expect(problem.repairs).toMatchObject([{ before: "<https://v/>", after }]);
    const mendedText = repaired(text, problem);
    expect(mendedText).not.toContain("v:nme");
    expect(await ask(mendedText, "cities")).toMatchObject({ status: "ok", diagnosis: null });
  });

  it.each([
    ["a class between endpoints", '{ SERVICE <cities> { ?x a v:Country } SERVICE <mayors> { ?x w:mayor "Kai" } }'],
    ["a property that has solutions", "{ ?x v:name ?n ; v:country ?n }"],
  ])("offers no other meaning for %s", async (_, where) => {
    expect(
      (await diagnosed(`SELECT * ${where}`, where.includes("SERVICE") ? undefined : "cities")).repairs,
    ).toBeUndefined();
  });

  it("joins tagged texts with plain ones in every language", async () => {
    const text = "SELECT * { SERVICE <cities> { ?x v:name ?n ; v:code ?k } SERVICE <mayors> { ?y w:seat ?n } }";
    const problem = await diagnosed(text);
    expect(problem.code).toBe("EMPTY_KEYS");
    expect((await ask(repaired(text, problem))).rows).toHaveLength(2);
  });

  it("shows a value of each side where nothing makes them alike", async () => {
    const { code, detail } = await diagnosed(
      "SELECT * { SERVICE <cities> { ?x v:code ?k } SERVICE <mayors> { ?y w:mayor ?k } }",
    );
    expect(code).toBe("EMPTY_JOIN");
    expect(detail).toMatch(
      /\?k is "(B-007|R-012)" in \?x v:code \?k at cities, but "\w+" in \?y w:mayor \?k at mayors/,
    );
  });

  it("blames no key whose values meet where a pair of keys does not", async () => {
    const { detail, statements } = await diagnosed(
      "SELECT * { SERVICE <cities> { ?x v:name ?n ; v:code ?k } SERVICE <mayors> { ?y w:called ?n ; w:coded ?k } }",
    );
    expect(detail).toContain("have values on both sides that are the same, but not together (asked now).");
    expect(statements?.at(-1)?.evidence.map(({ count }) => count)).toEqual([0, 1, 1]);
  });

  it("shows the datatypes of two numbers that are written alike", async () => {
    const { next } = await diagnosed("SELECT * { ?x v:area 1285 }", "cities");
    expect(next).toMatch(/^Replace "1285"\^\^\S+integer>? by "1285"\^\^\S+decimal>?; the query then has solutions/);
  });

  it.each([
    "SELECT (COUNT(?x) AS ?n)",
    "SELECT (SUM(?p) AS ?n) (AVG(?p) AS ?mean)",
    "SELECT (MAX(?p) AS ?most)",
    "ASK",
  ])("is explained under %s too, which is a right answer all the same", async (head) => {
    const where = (country: string) => `{ ?x v:country ${country} ; v:population ?p }`;
    const { status, diagnosis } = await ask(`${head} ${where('"Germany"')}`, "cities");
    expect({ status, diagnosis }).toMatchObject({
      status: "ok",
      diagnosis: { code: "EMPTY_VALUE", repairs: [{ before: '"Germany"', after: '"Germany"@en' }] },
    });
    expect(await ask(`${head} ${where('"Germany"@en')}`, "cities")).toMatchObject({ status: "ok", diagnosis: null });
  });
});
