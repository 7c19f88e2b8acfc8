import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { parseQuery } from "../../../src/sparql/query.ts";

const shouldMean = (written: string, text: string) =>
  it(written, () => {
    const parsed = parseQuery(written);
    expect(parsed.text).toBe(text);
    expect(parsed.ast).toEqual(parseQuery(text).ast);
  });

// The cases of the W3C suite `data-r2/syntax-sparql1` on escapes, in our own words: syntax-esc-01 to -05 are queries.
describe("codepoint escapes (SPARQL 1.1 Query, section 19.2)", () => {
  shouldMean(String.raw`SELECT * { ?s ?p "a\nb" }`, String.raw`SELECT * { ?s ?p "a\nb" }`);
  shouldMean(String.raw`SELECT * { ?s ?p "\u0061b" }`, String.raw`SELECT * { ?s ?p "\u0061b" }`);
  shouldMean(String.raw`SELECT * { ?s ?p '''\U00000061b''' }`, String.raw`SELECT * { ?s ?p '''\U00000061b''' }`);
  shouldMean(
    String.raw`PREFIX : <http://e/> SELECT * { <http://e/\u0078> :\u0070 ?xx\u0078 }`,
    "PREFIX : <http://e/> SELECT * { <http://e/x> :p ?xxx }",
  );
  shouldMean(
    String.raw`PREFIX \u0061: <http://e/> SELECT * # \u0061 and \u
      { a:\u00e9 a:\U0001F600 <http://e/#\u00E9> } # <\u0078>`,
    String.raw`PREFIX a: <http://e/> SELECT * # \u0061 and \u
      { a:é a:${"\u{1F600}"} <http://e/#é> } # <\u0078>`,
  );
  shouldMean(String.raw`\u0053ELECT * \u007B\u007D`, "SELECT * {}");
  shouldMean(
    String.raw`SELECT * { ?s ?p "\uD83D\uDE00\\uD83D\\uDE00" }`,
    `SELECT * { ?s ?p "\u{1F600}\\\\uD83D\\\\uDE00" }`,
  );
  shouldMean(String.raw`SELECT * { ?a ?b "# \u0061" , <\u0061:> }`, String.raw`SELECT * { ?a ?b "# \u0061" , <a:> }`);
});

const shouldFail = (text: string, place: string) =>
  it(text, () => {
    const parse = () => parseQuery(text);
    expect(parse).toThrow(FedwayError);
    const at = (() => {
      try {
        return parse();
      } catch (error) {
        return (error as FedwayError).details.where;
      }
    })();
    expect(at).toMatchObject({ line: Number(place.split(":")[0]), column: Number(place.split(":")[1]) });
  });

describe("errors have their place in the text as it was written", () => {
  shouldFail(String.raw`SELECT * { ?\u0061 ?\u0062 }`, "1:28");
  shouldFail(
    String.raw`SELECT * {
    <a:\u0062> ?\u0061 ?\u0062 . ?c }`,
    "2:37",
  );
  // An escape of white space, a quote or half of a pair is none outside of strings.
  shouldFail(String.raw`SELECT * { ?x\u0020y ?p ?o }`, "1:14");
  shouldFail(String.raw`SELECT * { <a:\u0022> ?p ?o }`, "1:15");
  shouldFail(String.raw`SELECT * { ?s ?p\uD83D ?o }`, "1:17");
  shouldFail(String.raw`SELECT * { ?s ?p\UFFFFFFFF ?o }`, "1:17");
  shouldFail(String.raw`SELECT * { ?s ?p "a\uD83D" }`, "1:18");
  shouldFail(String.raw`SELECT * { ?\u0061 ?p "\U00110000" }`, "1:23");
});
