import { describe, expect, it } from "vitest";
import { excerptOf } from "../../../src/outbound/excerpt.ts";

const qlever = {
  exception: 'Invalid SPARQL query: Prefix foaf: was not declared at "<http://xmlns.com/foaf/0.1/name>"',
  query: "SELECT * { ?s foaf:name ?n }",
  status: "ERROR",
};
const virtuoso =
  "Virtuoso 37000 Error SP030: SPARQL compiler, line 1: syntax error at '<http://ex.org/a b>' before '}'";

describe("the endpoint's own words", () => {
  it.each([
    ["  a \r\n\t b\u0000c\u202Ed ", "a b c d"],
    ["", ""],
    [virtuoso, virtuoso],
    ["The service <http://ex.org/sparql> is not allowed", "The service <http://ex.org/sparql> is not allowed"],
    ["1 < 2 and 3 > 2", "1 < 2 and 3 > 2"],
    ["<html><head><style>p { color: red }</style></head><body><p class='x'>Hello</p></body>", "Hello"],
    ["<!DOCTYPE html><pre>no &lt;http://ex.org/a&gt; &amp;c &amp;lt;</pre>", "no <http://ex.org/a> &c &lt;"],
    ["<html><body>see <http://ex.org/a> <b>now</b></body></html>", "see <http://ex.org/a> now"],
    [JSON.stringify(qlever), qlever.exception],
    [JSON.stringify(qlever, null, 2).slice(0, 60), "Invalid SPARQL query: Prefix foaf: was not"],
    ['{"error":{"code":500,"message":"out of memory"}}', "out of memory"],
    ['[{"message":"first"}]', "first"],
    ['{"status":"ERROR"}', '{"status":"ERROR"}'],
    ['{"message":"a\\u202Eb\\u0007c\\n\\td"}', "a b c d"],
    ['{"__proto__":{"message":"x"},"title":"Not found"}', "Not found"],
  ])("of %j are %j", (text, expected) => {
    expect(excerptOf(text)).toBe(expected);
  });

  it("are bounded, also in time", () => {
    expect(excerptOf("x".repeat(10_000))).toHaveLength(300);
    expect(excerptOf(JSON.stringify({ message: "x".repeat(5_000) }))).toHaveLength(300);
    expect(excerptOf("😀".repeat(400)).isWellFormed()).toBe(true);
    const started = process.cpuUsage();
    const hostile = ["<", "<html><", "<script ", "<html><script ", "<html><a", '{"message":"', "[{", '{"error":'];
    for (const text of hostile) excerptOf(text.repeat(200_000));
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(2_000);
  });
});
