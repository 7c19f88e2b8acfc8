import oxigraph from "oxigraph";
import { DataFactory } from "n3";
import type * as RDF from "@rdfjs/types";
import { describe, expect, it } from "vitest";
import { isWritable } from "../../../src/rdf/term-text.ts";
import { termToText } from "../../../src/results/terms.ts";
import { parseQuery } from "../../../src/sparql/query.ts";

const namedNode = (iri: string): RDF.NamedNode => DataFactory.namedNode(iri);
const literal = (value: string, kind?: string | RDF.NamedNode): RDF.Literal => DataFactory.literal(value, kind);
const queryWith = (term: RDF.Term): string => `SELECT * { VALUES ?x { ${termToText(term)} } }`;

/** Whether Oxigraph, which holds queries to RFC 3987, and our own parser take a term back. */
function isTakenBack(term: RDF.Term): boolean {
  try {
    parseQuery(queryWith(term));
    const [row] = new oxigraph.Store().query(queryWith(term)) as Map<string, oxigraph.Term>[];
    return row?.get("x")?.value === term.value;
  } catch {
    return false;
  }
}

describe("terms that every parser takes back", () => {
  it.each([
    "http://e.org/a%20b?c=d#e",
    "http://[::1]:8080//a",
    "urn:x:é\u{1f600}",
    "mailto:a@e.org",
    "x:",
    "http://user:word@e.org",
  ])("<%s>", (iri) => {
    expect([isWritable(namedNode(iri)), isTakenBack(namedNode(iri))]).toEqual([true, true]);
  });
  it.each([
    literal("a\u0000b\ufffe"),
    literal('"\\\n'),
    literal("a", "en-GB"),
    literal("a", "sr-Latn-RS-ekavsk"),
    literal("a", namedNode("x:t")),
  ])("%j", (term) => {
    expect([isWritable(term), isTakenBack(term)]).toEqual([true, true]);
  });
});

it.each([
  DataFactory.blankNode("b"),
  namedNode("http://e.org/\ud800"),
  literal("\ud800"),
  literal("a", "toolonglanguage"),
  literal("a", namedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")),
])("not %j", (term) => {
  expect(isWritable(term)).toBe(false);
});

const starts = ["http://e.org/", "urn:", "x:", "http://", "", "mailto:"];
const parts = "a é : / ? # % [ ] @ < > \" { } | ^ ` \\ - . + & = ; ! $ ' ( ) * , ~ _ // %4 %41 %zz [::1] :80 ..".split(
  " ",
);
parts.push(" ", "\0", "\u007f", "\u0085", "\u00a0", "\u2028", "\u202e", "\ud83d\ude00");
parts.push("\ue000", "\ufffd", "\ufffe", "\ufdd0", "\u{e0001}", "\u{f0000}");

it("what is taken for an IRI is one to parsers, of 5,000 made of nasty parts", () => {
  let seed = 7;
  const below = (bound: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff;
    return Math.floor(seed / 65_536) % bound;
  };
  let writable = 0;
  const wrong: string[] = [];
  for (let made = 0; made < 5_000; made++) {
    const more = Array.from({ length: 1 + below(6) }, () => parts[below(parts.length)]);
    const iri = namedNode(`${starts[below(starts.length)]}${more.join("")}`);
    if (!isWritable(iri)) continue;
    writable++;
    if (!isTakenBack(iri)) wrong.push(iri.value);
  }
  expect(wrong).toEqual([]);
  expect(writable).toBeGreaterThan(500);
});
