import * as fc from "fast-check";
import { DataFactory } from "n3";
import { describe, expect, it } from "vitest";
import { canonicalNTriples } from "../../../src/rdf/canonical.ts";
import { parseTurtle } from "../../../src/rdf/turtle.ts";
import { writeTurtle } from "../../../src/rdf/write-turtle.ts";
import { resultFormats } from "../../../src/results/formats.ts";
import { parseAnswer } from "../../../src/results/parse.ts";
import { serializeResult } from "../../../src/results/serialize.ts";
import { disguised, graphs, isIsomorphic } from "../../support/graph-generator.ts";
import { each, literal, namedNode, nastyTexts, quad, readQuads } from "../../support/result-terms.ts";
import { processorMsOf } from "../../support/held-loop.ts";

const baseIri = "http://example.org/dir/";
const read = (text: string) => parseTurtle(text, { baseIri, maxBytes: 1_000_000, maxQuads: 20_000 });
const RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const prefixes = "@prefix x: <http://x.example/> .\n";

/** The Turtle comes out as it went in. */
const shouldKeep = (text: string) => () => expect(writeTurtle(read(text), xPrefix, { baseIri })).toBe(text);
const xPrefix = new Map([["http://x.example/", "x"]]);
/** The Turtle comes out otherwise. */
const shouldWrite = (text: string, expected: string) => () =>
  expect(writeTurtle(read(prefixes + text), xPrefix, { baseIri })).toBe(expected);

/** Blank nodes in each other, deeper than any document may write them; `as` gives the statement about one. */
const levelsOf = (depth: number, as: (outer: number) => string): string =>
  Array.from({ length: depth }, (_, level) => as(level)).join("\n");

describe("writeTurtle", () => {
  it("writes nothing for nothing", () => expect(writeTurtle([])).toBe(""));
  it("keeps a tidy block", shouldKeep(`${prefixes}\nx:a a x:C ;\n  x:b "text"@en ;\n  x:c 1, true .\n`));
  it("keeps an anonymous subject", shouldKeep(`${prefixes}\n[] a x:C .\n`));
  it("keeps relative IRIs", shouldKeep(`<> <b/c> <d.e> .\n`));
  it("keeps a list", shouldKeep(`${prefixes}\nx:a x:b ( 1 "two" ( ) ) .\n`.replace("( )", "()")));
  it("keeps brackets", shouldKeep(`${prefixes}\nx:a x:b [\n    a x:C ;\n    x:d 1\n  ], [\n    a x:D\n  ] .\n`));
  it("keeps an empty bracket", shouldKeep(`${prefixes}\nx:a x:b [] .\n`));
  it("names what is shared", shouldKeep(`${prefixes}\nx:a x:b _:b0 .\n\nx:c x:b _:b0 .\n`));
  it("names what refers to itself", shouldKeep(`${prefixes}\n_:b0 x:b _:b0 .\n`));
  it("breaks long lines", () => {
    const iris = ["a", "b", "c"].map((name) => `<http://${name.repeat(40)}.example/>`);
    expect(writeTurtle(read(`<> <p> ${iris.join(", ")} .`), undefined, { baseIri })).toBe(
      `<> <p>\n    ${iris.join(" ,\n    ")} .\n`,
    );
  });
  it("writes each triple once", shouldWrite("x:a x:b x:c, x:c .", `${prefixes}\nx:a x:b x:c .\n`));
  it("leaves unused prefixes out", shouldWrite("<a> <b> <c> .", "<a> <b> <c> .\n"));
  it(
    "puts what nothing refers to first",
    shouldWrite("x:a x:b 1 . x:z x:b x:a .", `${prefixes}\nx:z x:b x:a .\n\nx:a x:b 1 .\n`),
  );
  it("takes a predicate order", () => {
    const style = { predicateOrder: ["http://x.example/z"] };
    expect(writeTurtle(read(`${prefixes}[] x:b 1 ; x:z 2 ; a x:C .`), xPrefix, style)).toBe(
      `${prefixes}\n[] a x:C ;\n  x:z 2 ;\n  x:b 1 .\n`,
    );
  });
  it("writes broken lists as brackets", () => {
    const text = `${prefixes}@prefix rdf: <${RDF}> .\nx:a x:b [ rdf:first 1 ; rdf:rest [ rdf:first 2 ] ] .`;
    expect(writeTurtle(read(text))).toContain("rdf:rest [");
  });
  it("takes a deep nesting apart", () => {
    const quads = read(
      `${prefixes}x:a x:b _:n0 .\n${levelsOf(200, (at) => `_:n${at} x:p _:n${at + 1} .`)} _:n200 x:p 1 .`,
    );
    const text = writeTurtle(quads);
    expect(Math.max(...text.split("\n").map((line) => line.search(/\S/)))).toBeLessThan(45);
    expect(canonicalNTriples(read(text))).toEqual(canonicalNTriples(quads));
  });
  it("takes deeply nested lists apart", () => {
    const list = (at: number): string => `_:n${at} rdf:first _:n${at + 1} ; rdf:rest rdf:nil .`;
    const quads = read(`@prefix rdf: <${RDF}> . <a> <b> _:n0 .\n${levelsOf(1_000, list)}`);
    expect(quads.length).toBeGreaterThan(1_900);
    expect(read(writeTurtle(quads))).toHaveLength(quads.length);
  });
  it("has no named graphs", () => {
    const inGraph = DataFactory.quad(namedNode("a:a"), namedNode("a:b"), namedNode("a:c"), namedNode("a:g"));
    expect(() => writeTurtle([inGraph])).toThrow(/no named graphs/);
  });
  it("has no triple terms", () => {
    expect(() => writeTurtle(read("<a> <b> <<( <a> <b> <c> )>> ."))).toThrow(/cannot be written/);
  });
});

describe("every graph", () => {
  it("comes back from Turtle, whatever its labels and order were", () => {
    let brackets = 0;
    let lists = 0;
    fc.assert(
      fc.property(graphs, (quads) => {
        const text = writeTurtle(quads, undefined, { baseIri });
        expect(isIsomorphic(read(text), quads), text).toBe(true);
        brackets += Number(text.includes("[\n"));
        lists += Number(/\( [^)]/.test(text));
      }),
      { numRuns: 120 },
    );
    expect(Math.min(brackets, lists)).toBeGreaterThan(15);
  });
  it("comes back from canonical N-Triples", () => {
    fc.assert(
      fc.property(graphs, (quads) => isIsomorphic(read(canonicalNTriples(quads).join("\n")), quads)),
      { numRuns: 100 },
    );
  });
  it("has one text only", () => {
    fc.assert(
      fc.property(graphs, (quads) => {
        expect(canonicalNTriples(disguised(quads))).toEqual(canonicalNTriples(quads));
        expect(writeTurtle(disguised(quads))).toBe(writeTurtle(quads));
      }),
      { numRuns: 120 },
    );
  });
  it("comes back from JSON-LD", async () => {
    const jsonLd = resultFormats.find(({ name }) => name === "jsonld")!;
    await fc.assert(
      fc.asyncProperty(graphs, async (quads) => {
        const bytes = serializeResult({ kind: "quads", quads: each(quads) }, jsonLd);
        const back = await readQuads(await parseAnswer(bytes, { mediaType: jsonLd.mediaType, kind: "quads" }));
        expect(isIsomorphic(back, quads)).toBe(true);
      }),
      { numRuns: 80 },
    );
  });
  it("is told from another one", () => {
    let different = 0;
    fc.assert(
      fc.property(graphs, graphs, (left, right) => {
        const equal = canonicalNTriples(left).join() === canonicalNTriples(right).join();
        expect(equal).toBe(isIsomorphic(left, right));
        different += Number(!equal);
      }),
      { numRuns: 100 },
    );
    expect(different).toBeGreaterThan(50);
  });
});

describe("a text", () => {
  const written = nastyTexts.map((text) => quad(namedNode("a:a"), namedNode("a:b"), literal(text)));
  it.each(written)("comes back: $object.value", (triple) => {
    expect(read(writeTurtle([triple]))[0]?.object.value).toBe(triple.object.value);
  });
});

describe("canonicalNTriples", () => {
  it("writes the lines in order, each once", () => {
    expect(canonicalNTriples(read('<z> <b> "é\\n"@EN-gb, 1 . <a> <b> _:x . <a> <b> _:x .'))).toEqual([
      "<http://example.org/dir/a> <http://example.org/dir/b> _:b0 .",
      '<http://example.org/dir/z> <http://example.org/dir/b> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .',
      '<http://example.org/dir/z> <http://example.org/dir/b> "é\\n"@en-gb .',
    ]);
  });
  it("tells two neighbours that look alike from one", () => {
    const one = read("_:a <p> _:b . _:c <p> _:d, _:e .");
    expect(canonicalNTriples(one)).toEqual(canonicalNTriples(disguised(one)));
  });
  it("bounds its work", async () => {
    const chain = read(Array.from({ length: 3_000 }, (_, at) => `_:n${at} <p> _:n${at + 1} .`).join("\n"));
    const ms = await processorMsOf(() => expect(canonicalNTriples(chain)).toHaveLength(3_000));
    expect(ms).toBeLessThan(5_000);
  });
});
