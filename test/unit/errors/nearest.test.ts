import { expect, it } from "vitest";
import { nearest } from "../../../src/errors/nearest.ts";

const known = ["alpha", "beta", "gamma", "dbpedia-live", "wikidata"];
const shouldSuggest = (wanted: string, ...names: string[]): void =>
  it(`${wanted} is like ${names.join(", ") || "nothing"}`, () => expect(nearest(wanted, known)).toStrictEqual(names));

shouldSuggest("alhpa", "alpha");
shouldSuggest("ALPHA", "alpha");
shouldSuggest("dbpedia", "dbpedia-live");
shouldSuggest("wikidta", "wikidata");
shouldSuggest("qqqqqqqq");
it("gives at most as many as wanted", () =>
  expect(nearest("ab", ["ab", "abc", "ac", "b"], 2)).toStrictEqual(["ab", "abc"]));
it("stays quick on hostile names", () => expect(nearest("x".repeat(100_000), ["y".repeat(100_000)])).toStrictEqual([]));
