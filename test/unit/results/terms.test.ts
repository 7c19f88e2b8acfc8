import { DataFactory } from "n3";
import { DataFactory as OtherFactory } from "rdf-data-factory";
import { describe, expect, test } from "vitest";
import { termFromText, termKey, safeLabel, termToText } from "../../../src/results/terms.ts";
import { blankNode, literal, namedNode, nastyTerms, quad } from "../../support/result-terms.ts";

describe("termToText", () => {
  const cases: readonly (readonly [Parameters<typeof termToText>[0], string])[] = [
    [namedNode("http://x/ä"), "<http://x/ä>"],
    [
      namedNode('http://x/a b"<>\\^`{|}\u0000'),
      "<http://x/a\\u0020b\\u0022\\u003C\\u003E\\u005C\\u005E\\u0060\\u007B\\u007C\\u007D\\u0000>",
    ],
    [literal("plain"), '"plain"'],
    [literal('"\\\n\r\t\b\f\u0007\u007f'), '"\\"\\\\\\n\\r\\t\\b\\f\\u0007\\u007F"'],
    [literal("lone \ud800 surrogate"), '"lone \ufffd surrogate"'],
    [literal("hi", "en-GB"), '"hi"@en-gb'],
    [
      literal("1", namedNode("http://www.w3.org/2001/XMLSchema#integer")),
      '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
    ],
    [literal("s", namedNode("http://www.w3.org/2001/XMLSchema#string")), '"s"'],
    [blankNode("b.1-x"), "_:b.1-x"],
    [blankNode("b."), "_:x622e"],
    [quad(namedNode("urn:s"), namedNode("urn:p"), literal("o")), '<<( <urn:s> <urn:p> "o" )>>'],
    [DataFactory.variable("x"), "?x"],
    [DataFactory.defaultGraph(), ""],
  ];
  test.each(cases)("%o", (term, text) => expect(termToText(term)).toBe(text));

  test("different labels stay different", () => {
    const labels = ["a", "a b", "a_b", "ä", "-a", "a.", "x61"];
    expect(new Set(labels.map(safeLabel)).size).toBe(labels.length);
  });
});

describe("termKey", () => {
  test("is one for equal terms, whoever made them, and tells all others apart", () => {
    const others = new OtherFactory();
    const hostile = ['"a"', "_:a", "a", 'a"@en', '"a"@en', "< <a> <b> <c> >>", '"a"^^b', "a"];
    const made = hostile.flatMap((text) =>
      [DataFactory, others].flatMap((factory) => [
        factory.namedNode(text),
        factory.blankNode(text),
        factory.literal(text),
        factory.literal(text, "en"),
        factory.literal(text, factory.namedNode("http://ex.org/b")),
      ]),
    );
    const terms = [...nastyTerms, ...made];
    for (const one of terms) {
      for (const two of terms) expect(termKey(one) === termKey(two), `${one.value} ${two.value}`).toBe(one.equals(two));
    }
  });
});

describe("termFromText", () => {
  test("reads what termToText writes", () => {
    for (const term of nastyTerms) expect(termFromText(termToText(term)).equals(term), termToText(term)).toBe(true);
    expect(nastyTerms.length).toBeGreaterThan(60);
  });
  test.each([
    ["<<(<urn:a><urn:b>1)>>", '<<( <urn:a> <urn:b> "1"^^<http://www.w3.org/2001/XMLSchema#integer> )>>'],
    [
      `<<( _:a\t<urn:b> <<( <urn:c> <urn:d> ")>> \\" <<("@ar--rtl )>> )>>`,
      '<<( _:a <urn:b> <<( <urn:c> <urn:d> ")>> \\" <<("@ar--rtl )>> )>>',
    ],
    [`<<( <urn:a> <urn:b> 'x'^^xsd:date )>>`, '<<( <urn:a> <urn:b> "x"^^<http://www.w3.org/2001/XMLSchema#date> )>>'],
    ["<< <urn:a> <urn:b> <urn:c> >>", "<<( <urn:a> <urn:b> <urn:c> )>>"],
    [`<<<urn:a><urn:b>1>>`, '<<( <urn:a> <urn:b> "1"^^<http://www.w3.org/2001/XMLSchema#integer> )>>'],
    [
      `<< << _:a <urn:b> ">>"@en >> <urn:c> <<( <urn:d> <urn:e> 'x' )>> >>`,
      '<<( <<( _:a <urn:b> ">>"@en )>> <urn:c> <<( <urn:d> <urn:e> "x" )>> )>>',
    ],
    [`<<( <urn:a> <urn:b> "x"@en_US )>>`, '<<( <urn:a> <urn:b> "x"@en_us )>>'],
  ])("reads the triple term %s", (text, written) => expect(termToText(termFromText(text))).toBe(written));
  test.each([
    "<<( <urn:a> <urn:b> )>>",
    "<<( <urn:a> <urn:b> 1 2 )>>",
    '<<( "a" <urn:b> 1 )>>',
    "<<( <urn:a> _:b 1 )>>",
    "<<( <urn:a> <urn:b> 1 )>> 2",
    "<<( <urn:a> <urn:b> 1 ) >>",
    '<<( <urn:a> <urn:b> "1 )>>',
    `${"<<( <a> <b> ".repeat(34)}1${" )>>".repeat(34)}`,
    "",
    "word",
    "<unclosed",
    '"open',
    '"a"b',
    '"a"@',
    "<< <a> <b> <c> )>>",
    "<<( <a> <b> <c> >>",
    "<< <a> <b> >>",
    "<< <a> <b> <c> > >",
    "<<>>",
    "<<",
    '"\\x"',
    '"\\UFFFFFFFF"',
    "_:",
    "1.2.3",
  ])("refuses %s", (text) => expect(() => termFromText(text)).toThrow(/\w/));
});
