import type * as RDF from "@rdfjs/types";
import * as fc from "fast-check";
import { DataFactory } from "n3";
import { blankNode, literal, namedNode, nastyTexts, quad } from "./result-terms.ts";

const xsd = "http://www.w3.org/2001/XMLSchema#";
const rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

const iris = fc.oneof(
  fc.constantFrom(
    "http://example.org/",
    "http://example.org/a",
    "http://example.org/dir/b.c",
    "http://example.org/dir/.d",
    "http://example.org/dir/e.",
    "http://example.org/dir/9",
    "http://example.org/dir/a:b",
    "http://example.org/dir//x",
    "http://example.org/dir/../x",
    "http://example.org/dir/?q='x'&r=(y);z",
    "http://example.org/漢字#😀",
    "http://www.w3.org/ns/dcat#keyword",
    "http://www.w3.org/ns/dcat#key-word_1.2",
    "http://www.w3.org/ns/dcat#",
    "http://rdfs.org/ns/void#a%20b",
    "urn:isbn:0451450523",
    "mailto:a@example.org",
    `${rdf}nil`,
    `${rdf}type`,
    `${xsd}integer`,
  ),
  fc.webUrl({ withFragments: true, withQueryParameters: true }).filter((url) => !/[ <>"{}|^`\\]/.test(url)),
);
const texts = fc.oneof(fc.constantFrom(...nastyTexts), fc.string({ unit: "binary", maxLength: 12 }));
const literals: fc.Arbitrary<RDF.Literal> = fc.oneof(
  texts.map((text) => literal(text)),
  fc.tuple(texts, fc.constantFrom("en", "en-gb", "zh-hant-tw", "x-private")).map(([text, tag]) => literal(text, tag)),
  fc
    .tuple(
      fc.constantFrom("1", "-1", "+07", "1.", ".5", "-1.50", "1e3", "1.5E-7", "NaN", "true", "false", "TRUE", "", "1 "),
      fc.constantFrom("integer", "decimal", "double", "boolean", "date", "string"),
    )
    .map(([text, type]) => literal(text, namedNode(`${xsd}${type}`))),
  fc.tuple(texts, iris).map(([text, type]) => literal(text, namedNode(type))),
);
const blanks = fc.integer({ min: 0, max: 5 }).map((number) => blankNode(`n${number}`));
const predicates = fc.oneof(iris, fc.constantFrom(`${rdf}first`, `${rdf}rest`, `${rdf}type`)).map(namedNode);

const loose: fc.Arbitrary<RDF.Quad[]> = fc.array(
  fc
    .tuple(fc.oneof(blanks, iris.map(namedNode)), predicates, fc.oneof(blanks, literals, iris.map(namedNode)))
    .map(([subject, predicate, object]) => quad(subject, predicate, object)),
  { maxLength: 12 },
);

/** A well-formed list that hangs on some node. */
const lists: fc.Arbitrary<RDF.Quad[]> = fc
  .tuple(blanks, fc.array(fc.oneof(blanks, literals), { maxLength: 4 }), fc.nat(999))
  .map(([owner, items, salt]) => {
    const cell = (index: number) => (index === items.length ? namedNode(`${rdf}nil`) : blankNode(`l${salt}x${index}`));
    const cells = items.flatMap((item, index) => [
      quad(cell(index), namedNode(`${rdf}first`), item),
      quad(cell(index), namedNode(`${rdf}rest`), cell(index + 1)),
    ]);
    return cells.concat(quad(owner, namedNode("http://example.org/list"), cell(0)));
  });

/** Triples of every kind: odd IRIs, texts and datatypes, shared and circular blank nodes, whole and broken lists. */
export const graphs: fc.Arbitrary<RDF.Quad[]> = fc
  .tuple(loose, fc.array(lists, { maxLength: 2 }))
  .map(([triples, more]) => triples.concat(more.flat()));

/** The same triples with other labels and in another order. */
export function disguised(quads: readonly RDF.Quad[]): RDF.Quad[] {
  const rename = <T extends RDF.Term>(term: T): T | RDF.BlankNode =>
    term.termType === "BlankNode" ? DataFactory.blankNode(`z${Buffer.from(term.value).toString("hex")}`) : term;
  return quads.toReversed().map((each) => quad(rename(each.subject), each.predicate, rename(each.object)));
}

const spelling = (term: RDF.Term): string =>
  term.termType === "Literal"
    ? JSON.stringify([term.value, term.language.toLowerCase(), term.datatype.value])
    : `${term.termType} ${term.value}`;

const distinct = (quads: readonly RDF.Quad[]): RDF.Quad[] => [
  ...new Map(quads.map((each) => [[each.subject, each.predicate, each.object].map(spelling).join(" "), each])).values(),
];

/** Whether two small graphs are equal but for the labels of their blank nodes: by trying, not by hashing. */
export function isIsomorphic(left: readonly RDF.Quad[], right: readonly RDF.Quad[]): boolean {
  const [wanted, found] = [distinct(left), distinct(right)];
  return wanted.length === found.length && matches(wanted, found, new Map());
}

function matches(wanted: readonly RDF.Quad[], found: readonly RDF.Quad[], pairs: ReadonlyMap<string, string>): boolean {
  const open = (each: RDF.Quad) =>
    [each.subject, each.object].filter((term) => term.termType === "BlankNode" && !pairs.has(spelling(term))).length;
  const [first, ...rest] = wanted.toSorted((a, b) => open(a) - open(b));
  if (first === undefined) return true;
  return found.some((candidate, index) => {
    const extended = pair(first, candidate, pairs);
    return extended !== undefined && matches(rest, found.toSpliced(index, 1), extended);
  });
}

function pair(left: RDF.Quad, right: RDF.Quad, pairs: ReadonlyMap<string, string>): Map<string, string> | undefined {
  const extended = new Map(pairs);
  for (const part of ["subject", "predicate", "object"] as const) {
    const [from, to] = [spelling(left[part]), spelling(right[part])];
    const isBlank = left[part].termType === "BlankNode";
    if (isBlank !== (right[part].termType === "BlankNode")) return undefined;
    const known = isBlank ? extended.get(from) : from;
    if (known === undefined && ![...extended.values()].includes(to)) extended.set(from, to);
    else if (known !== to) return undefined;
  }
  return extended;
}
