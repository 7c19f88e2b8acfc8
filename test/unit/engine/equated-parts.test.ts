import { describe, expect, it } from "vitest";
import { equalityKey } from "../../../src/engine/evaluator/equality-join.ts";
import { literalFromParts } from "../../../src/results/terms.ts";
import { engineAnswer } from "../../support/engine-answer.ts";

const xsd = "http://www.w3.org/2001/XMLSchema#";
const keyOf = (value: string, type: string): string => equalityKey(literalFromParts(value, "", xsd + type));

describe("terms that = finds equal have one key", () => {
  it.each([
    ["01", "integer", "1", "int"],
    ["1", "integer", "1.0", "decimal"],
    ["0.1", "decimal", "0.1", "double"],
    ["0.1", "float", "0.10000000149011612", "double"],
    ["-0", "double", "0", "unsignedByte"],
    ["INF", "double", "1e999", "double"],
    ["1", "boolean", "true", "boolean"],
    ["2000-01-01T00:00:00Z", "dateTime", "2000-01-01T01:00:00+01:00", "dateTime"],
    ["1", "negativeInteger", "1.00", "nonNegativeInteger"],
  ])("%s of %s and %s of %s", (value, datatype, otherValue, otherDatatype) => {
    expect(keyOf(value, datatype)).toBe(keyOf(otherValue, otherDatatype));
  });
  it("and strings, numbers and IRIs have different ones", () => {
    expect(new Set([keyOf("1", "string"), keyOf("1", "integer"), keyOf("2", "integer")]).size).toBe(3);
  });
});

describe("parts of a group that only a FILTER joins", () => {
  const rows = (name: string, count: number): string =>
    `{ SELECT ?${name} { VALUES ?${name} { ${Array.from({ length: count }, (_, n) => `"${n}"`).join(" ")} } } }`;
  it("are joined by it: four million solutions would be too many", async () => {
    const query = `SELECT (COUNT(*) AS ?n) { ${rows("a", 2_000)} ${rows("b", 2_000)} FILTER(?a IN (?b)) }`;
    expect(await engineAnswer(query)).toEqual(['"2000"^^<http://www.w3.org/2001/XMLSchema#integer>']);
  });
  it.each([
    ["numbers by value", "1 2 3", "1.0 2e0 'x'", "?a = ?b", 2],
    ["unbound ones not at all", "1 UNDEF", "1 UNDEF", "?a = ?b", 1],
    ["the same terms", "1 2", "1.0 2", "sameTerm(?a, ?b)", 1],
    ["with FILTERs on each", "1 2 3", "1 2 3", "?a = ?b && ?a > 1 && ?b < 3", 1],
    ["with a FILTER on both", "1 2 3", "1 2 3", "?a = ?b && ?a + ?b > 2", 2],
    ["not where there is a choice", "1 2", "1 2", "?a = ?b || ?a = 1", 3],
  ])("%s", async (_, as, bs, condition, count) => {
    const query = `SELECT ?a ?b { VALUES ?a { ${as} } VALUES ?b { ${bs} } FILTER(${condition}) }`;
    expect(await engineAnswer(query)).toHaveLength(count);
  });
  it("three of them", async () => {
    const query = `SELECT ?a ?c { VALUES ?a { 1 2 } VALUES ?b { 2 3 } VALUES ?c { 2 4 } FILTER(?a = ?b && ?b = ?c) }`;
    expect(await engineAnswer(query)).toHaveLength(1);
  });
});
