import { describe, expect, it } from "vitest";
import { type TextSearch, textProbes, textQuery } from "../../../../src/registry/capabilities/text-search.ts";
import { parseQuery } from "../../../../src/sparql/query.ts";

const wikis = "PREFIX wikibase: <http://w/> PREFIX bd: <http://b/> PREFIX mwapi: <http://m/> ";
const searches: readonly TextSearch[] = [
  { syntax: "virtuoso" },
  { syntax: "blazegraph" },
  { syntax: "jena" },
  { syntax: "qlever" },
  { syntax: "wikibase", site: "www.wikidata.org" },
];

/** Every string of a query, in order. */
const stringsOf = (query: string): readonly string[] =>
  parseQuery(wikis + query)
    .tokens.filter(({ kind }) => kind === "string")
    .map(({ text }) => JSON.parse(text));

const written = (search: TextSearch, text: string): string => textQuery(search, text, { limit: 10 }) ?? "";

describe.each(searches)("a name is written for $syntax", (search) => {
  const shape = stringsOf(written(search, "Marie Curie"));

  it.each([
    'Marie "Curie',
    "Marie 'Curie'",
    "Marie \\Curie\\",
    'Marie\\" Curie',
    "Marie Curie') . ?s ?p ?o } #",
    "Marie* Curie?",
    "+Marie -Curie",
    "Marie^4 Curie~2",
    "(Marie) [Curie]",
    "Marie\nCurie\u0000\u2028",
    "Marie \ud800 Curie",
    "label:Marie AND Curie OR NEAR NOT",
    `Marie Curie ${"x".repeat(10_000)}`,
    '"""Marie""" Curie',
  ])("and nothing leaves its string: %j", (text) => {
    const strings = stringsOf(written(search, text));
    expect(strings).toHaveLength(shape.length);
    const own = strings.filter((each) => each.includes("Marie"));
    expect(own).toHaveLength(1);
    // Where operators are known every word is a phrase; where there are none signs are left out.
    const isPhrases = search.syntax === "virtuoso" || search.syntax === "jena";
    expect(own[0]).toMatch(isPhrases ? /^"[^"\\]+"( AND "[^"\\]+")*$/ : /^[\p{L}\p{N} ]+$/u);
    expect(strings.filter((each) => !each.includes("Marie"))).toEqual(shape.filter((each) => !each.includes("Marie")));
  });

  it.each(["", "  ", "'\"\\*()", "-- ~ ^"])("and none for %j", (text) => {
    expect(textQuery(search, text, { limit: 10 })).toBeUndefined();
  });

  it("and operators are words", () => {
    const own = stringsOf(written(search, "Oder Near Neisse")).find((each) => each.includes("Neisse")) ?? "";
    expect(
      own
        .replaceAll(/" AND "|"/g, " ")
        .trim()
        .split(" "),
    ).toEqual(expect.arrayContaining(["Near", "Neisse"]));
  });
});

describe("a full-text search is proved", () => {
  const sample = { iri: "http://www.wikidata.org/entity/Q1", label: "universe", language: "en" };
  it.each([
    ["http://e/1", ["virtuoso", "blazegraph", "jena", "qlever"]],
    [sample.iri, ["virtuoso", "blazegraph", "jena", "qlever", "wikibase"]],
    ["https://database.factgrid.de/entity/Q1", ["virtuoso", "blazegraph", "jena", "qlever", "wikibase"]],
  ])("of %s, the wiki's own only where there is one", (iri, syntaxes) => {
    const probes = textProbes({ ...sample, iri });
    expect(probes.map(({ search }) => search.syntax)).toEqual(syntaxes);
    const wiki = probes.find(({ search }) => search.syntax === "wikibase");
    expect(wiki?.search.site).toBe(wiki && new URL(iri).host);
  });
});
