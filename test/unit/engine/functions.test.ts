import { describe, expect, it } from "vitest";
import { termFunctions } from "../../../src/engine/expressions/functions.ts";
import { termFromText, tripleFromParts } from "../../../src/results/terms.ts";
import { engineAnswer, testEngine } from "../../support/engine-answer.ts";

const prologue =
  "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>";
const short = (text: string): string => text.replaceAll(/\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#(\w+)>/g, "^^$1");

/** Expressions and their values; `-` where there is none. */
const table = (rows: Readonly<Record<string, string>>, declarations = ""): void =>
  it.each(Object.entries(rows))("%s", async (expression, expected) => {
    const lines = await engineAnswer(`${declarations} ${prologue} SELECT (${expression} AS ?z) {}`);
    expect(lines.map(short)).toEqual([expected]);
  });

describe("IRI", () => {
  table({
    'IRI("rel")': "-",
    'IRI("")': "-",
    'IRI("http://e/ü")': "<http://e/ü>",
    'IRI("a b:c")': "-",
    'IRI("x"@en)': "-",
  });
  describe("with BASE", () =>
    table(
      {
        'IRI("rel")': "<http://b.example/a/rel>",
        'URI("../ü?q#f")': "<http://b.example/ü?q#f>",
        'IRI("//h/p")': "<http://h/p>",
        'IRI("#f")': "<http://b.example/a/doc#f>",
        'IRI("")': "<http://b.example/a/doc>",
        'IRI("urn:x:y")': "<urn:x:y>",
        'IRI("a b")': "-",
      },
      "BASE <http://b.example/a/doc>",
    ));

  it("keeps the bases of two queries apart", async () => {
    const of = (base: string) => engineAnswer(`BASE <${base}> SELECT (IRI("x") AS ?z) {}`);
    expect(await of("http://one/")).toEqual(["<http://one/x>"]);
    expect(await of("http://two/")).toEqual(["<http://two/x>"]);
  });
});

describe("strings", () => {
  table({
    'ENCODE_FOR_URI("a b/?&=#ü!\'()*~")': '"a%20b%2F%3F%26%3D%23%C3%BC%21%27%28%29%2A~"',
    'SUBSTR("abc", 0)': '"abc"',
    'SUBSTR("abc", 0, 2)': '"a"',
    'SUBSTR("a𝄞b"@en, 2, 1)': '"𝄞"@en',
    'SUBSTR("abc", 1.5)': "-",
    'STRLANG("a", "en-x-1")': '"a"@en-x-1',
    'STRLANG("a", "e n")': "-",
    'STRLANG("a", "")': "-",
    'STRAFTER("abc"@en, "c")': '""@en',
    'STRAFTER("abc"@en, "z")': '""',
    'STRAFTER("abc"@en, "")': '"abc"@en',
    'STRBEFORE("abc"@en, "a")': '""@en',
    'STRBEFORE("abc"@en, "b"@fr)': "-",
    'CONCAT("a"@en, "b"@en)': '"ab"@en',
    'CONCAT("a"@en, "b")': '"ab"',
    'REPLACE("a.b", ".", "$0", "q")': '"a$0b"',
    'REGEX("ab", "a B", "xi")': '"true"^^boolean',
    'REGEX("ab", "a", "g")': "-",
  });
});

describe("numbers", () => {
  table({
    "9007199254740993 + 0": '"9007199254740993"^^integer',
    "9007199254740993 = 9007199254740992": '"false"^^boolean',
    "9007199254740993 > 9007199254740992": '"true"^^boolean',
    "99999999999999999999 * 99999999999999999999": '"9999999999999999999800000000000000000001"^^integer',
    "-ABS(-9007199254740993)": '"-9007199254740993"^^integer',
    "0.1 + 0.2": '"0.3"^^decimal',
    "1.0/0": "-",
    "1/0.0": "-",
    "1e0/0": '"INF"^^double',
    "1/3": '"0.333333333333333333"^^decimal',
    "ROUND(-2.5)": '"-2"^^decimal',
    'xsd:float("1.1") + 1': '"2.1"^^float',
    'xsd:double("")': "-",
    'xsd:decimal("")': "-",
    'xsd:decimal("1e3")': "-",
    'xsd:integer(" 7 ")': '"7"^^integer',
    "xsd:integer(1e20)": '"100000000000000000000"^^integer',
    "xsd:string(1e6)": '"1.0E6"',
    'isNumeric("300"^^xsd:byte)': '"false"^^boolean',
    '"" = xsd:integer("x")': "-",
  });
});

describe("dates and durations", () => {
  table({
    '("2020-01-02T00:00:00Z"^^xsd:dateTime) - ("2020-01-01T01:00:00.5Z"^^xsd:dateTime)':
      '"PT22H59M59.5S"^^dayTimeDuration',
    '("2020-01-01T00:00:00Z"^^xsd:dateTime) - ("2020-01-03T06:00:00+02:00"^^xsd:dateTime)':
      '"-P2DT4H"^^dayTimeDuration',
    '("2020-03-01"^^xsd:date) - ("2020-02-01"^^xsd:date)': '"P29D"^^dayTimeDuration',
    '("2020-01-01T00:00:00Z"^^xsd:dateTime) - ("2020-01-01T00:00:00"^^xsd:dateTime)': "-",
    '"2020-01-31"^^xsd:date + "P1M"^^xsd:yearMonthDuration': '"2020-02-29"^^date',
    '"2020-01-01T00:00:00Z"^^xsd:dateTime = "2020-01-01T01:00:00+01:00"^^xsd:dateTime': '"true"^^boolean',
    '"2020-01-01T00:00:00Z"^^xsd:dateTime < "2020-01-01T00:00:00"^^xsd:dateTime': "-",
    '"2020-01-01T00:00:00Z"^^xsd:dateTime < "2020-01-03T00:00:00"^^xsd:dateTime': '"true"^^boolean',
    'SECONDS("2020-01-01T00:00:13.8150001Z"^^xsd:dateTime)': '"13.8150001"^^decimal',
    'DAY("2009-02-30"^^xsd:date)': "-",
    'STR("2020-01-01T24:00:00"^^xsd:dateTime)': '"2020-01-01T24:00:00"',
    'xsd:dateTime("2020-12-31T24:00:00Z")': '"2021-01-01T00:00:00Z"^^dateTime',
  });
});

const several = 'VALUES ?v { "B" "a" "Z" "ab" "a\\u00ADb" "\\uFF5E" "\\U0001D11E" "õ" }';
const byCodePoint = ['"B"', '"Z"', '"a"', '"ab"', '"a\u00ADb"', '"õ"', '"\uFF5E"', '"\u{1D11E}"'];

it("triple terms are equal when their parts are, and the same term only with the same parts", () => {
  const parts = [
    '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
    '"01"^^<http://www.w3.org/2001/XMLSchema#int>',
    '"2"',
  ];
  const [one, same, other] = parts.map((object) =>
    tripleFromParts(termFromText("<x:s>"), termFromText("<x:p>"), termFromText(object)),
  );
  const compared = (name: string, ...args: readonly (typeof one)[]): string | undefined =>
    termFunctions.get(name)?.(
      args.flatMap((term) => term ?? []),
      { base: undefined, now: "" },
    ).value;
  expect([compared("=", one, same), compared("!=", one, same), compared("=", one, other)]).toEqual([
    "true",
    "false",
    "false",
  ]);
  expect(compared("sameterm", one, same)).toBe("false");
});

it("terms of one value are told apart by the next key of ORDER BY", async () => {
  const rows = [
    ['"1"^^xsd:integer', '"1.0"^^xsd:decimal', '"1E0"^^xsd:double', "1.00", "1"],
    ["9007199254740992", '"9007199254740992E0"^^xsd:double'],
    ["true", '"1"^^xsd:boolean'],
    ['"PT24H"^^xsd:dayTimeDuration', '"P1D"^^xsd:dayTimeDuration', '"P1D"^^xsd:duration'],
    ['"P1Y"^^xsd:yearMonthDuration', '"P12M"^^xsd:yearMonthDuration'],
    ['"2026-01-01T12:00:00Z"^^xsd:dateTime', '"2026-01-01T13:00:00+01:00"^^xsd:dateTime'],
  ];
  for (const terms of rows) {
    const values = terms.map((term, at) => `(${term} "${terms.length - at}")`).join(" ");
    const query = `PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> SELECT ?k { VALUES (?v ?k) { ${values} } } ORDER BY ?v ?k`;
    expect(await engineAnswer(query)).toEqual(terms.map((_, at) => `"${at + 1}"`));
  }
});

describe("strings are compared by code point", () => {
  table({
    '"ab" = "a\\u00ADb"': '"false"^^boolean',
    '"ab" IN ("a\\u00ADb")': '"false"^^boolean',
    '"B" < "a" && "Z" < "a"': '"true"^^boolean',
    '"\\uFF5E" < "\\U0001D11E"': '"true"^^boolean',
    '"z"@en >= "b"@EN': '"true"^^boolean',
    '"a"@en < "b"': "-",
  });
  it("in ORDER BY, MIN and MAX", async () => {
    expect(await engineAnswer(`SELECT ?v { ${several} } ORDER BY ?v`)).toEqual(byCodePoint);
    const extremes = await engineAnswer(`SELECT (MIN(?v) AS ?a) (MAX(?v) AS ?b) { ${several} }`);
    expect(extremes).toEqual(['"B" "\u{1D11E}"']);
  });

  it("in the FILTER of a query with two SERVICE clauses", async () => {
    const engine = testEngine({
      "http://a/": '<x:1> <x:p> "B" .\n<x:2> <x:p> "b" .\n',
      "http://b/": "<x:1> <x:q> <x:y> .\n<x:2> <x:q> <x:y> .\n",
    });
    const one = 'SELECT ?s { SERVICE <http://a/> { ?s <x:p> ?v } FILTER(?v < "a") }';
    const two =
      'SELECT ?s { SERVICE <http://a/> { ?s <x:p> ?v } SERVICE <http://b/> { ?s <x:q> ?y } FILTER(?v < "a") }';
    expect(await engineAnswer(one, engine)).toEqual(["<x:1>"]);
    expect(await engineAnswer(two, engine)).toEqual(["<x:1>"]);
  });
});

describe("aggregates over unbound values (section 18.5.1)", () => {
  const values = "VALUES ?x { 1 UNDEF 3 }";
  it.each(["SUM", "AVG", "MIN", "MAX", "GROUP_CONCAT"])("%s is an error", async (name) => {
    expect(await engineAnswer(`SELECT (${name}(?x) AS ?z) { ${values} }`)).toEqual(["-"]);
  });
  it("COUNT leaves them out, SAMPLE takes another", async () => {
    const query = `SELECT (COUNT(?x) AS ?n) (COUNT(DISTINCT ?x) AS ?d) (COUNT(*) AS ?all) (SAMPLE(?x) AS ?s) { ${values} }`;
    expect((await engineAnswer(query)).map(short)).toEqual(['"2"^^integer "2"^^integer "3"^^integer "1"^^integer']);
  });
  it("are as defined over nothing", async () => {
    const query = "SELECT (SUM(?x) AS ?s) (AVG(?x) AS ?a) (GROUP_CONCAT(?x) AS ?g) (MIN(?x) AS ?m) { VALUES ?x {} }";
    expect((await engineAnswer(query)).map(short)).toEqual(['"0"^^integer "0"^^integer "" -']);
  });
});
