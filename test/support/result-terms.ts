import type * as RDF from "@rdfjs/types";
import { DataFactory } from "n3";
import { type ResultFormat, resultFormats } from "../../src/results/formats.ts";
import type { Bindings, QueryResult } from "../../src/results/model.ts";

/** Short names of the factory's functions. */
export const literal = (value: string, languageOrDatatype?: string | RDF.NamedNode): RDF.Literal =>
  DataFactory.literal(value, languageOrDatatype);
export const namedNode = (iri: string): RDF.NamedNode => DataFactory.namedNode(iri);
export const blankNode = (label: string): RDF.BlankNode => DataFactory.blankNode(label);
export const quad = (
  ...[subject, predicate, object]: [RDF.Quad_Subject, RDF.Quad_Predicate, RDF.Quad_Object]
): RDF.Quad => DataFactory.quad(subject, predicate, object);
const xsd = "http://www.w3.org/2001/XMLSchema#";

/** Texts that break careless readers and writers. */
export const nastyTexts: readonly string[] = [
  "",
  " ",
  " leading and trailing ",
  'say "hi"',
  "''' and \"\"\"",
  "back\\slash \\n \\u0041",
  "line\nbreak",
  "carriage\rreturn\r\nboth",
  "tab\tstop",
  "comma, semicolon; pipe|",
  "<b>&amp;]]></b>",
  "ünïcödé 漢字",
  "astral 😀𝒳",
  "\u00a0\u2028\u2029\ufeff",
  "bell\u0007 and delete\u007f",
  "_:notablank",
  "{}[]:,",
  "true",
  "12",
];

/** Terms of every kind; blank nodes twice, so that a label must stay the same. */
export const nastyTerms: readonly RDF.Term[] = [
  ...nastyTexts.map((text) => literal(text)),
  ...nastyTexts.map((text) => literal(text, "en-gb")),
  ...nastyTexts.map((text) => literal(text, namedNode("http://example.org/type#x"))),
  literal("1", namedNode(`${xsd}integer`)),
  literal("1.50", namedNode(`${xsd}decimal`)),
  literal("1e6", namedNode(`${xsd}double`)),
  literal("true", namedNode(`${xsd}boolean`)),
  literal("not a number", namedNode(`${xsd}integer`)),
  namedNode("http://example.org/"),
  namedNode("http://example.org/a?b=c&d='e'#f(g),h;i"),
  namedNode("http://example.org/漢字/😀"),
  namedNode("urn:isbn:0451450523"),
  blankNode("b0"),
  blankNode("b1"),
  blankNode("b0"),
];

export const formatNamed = (name: ResultFormat["name"]): ResultFormat =>
  resultFormats.find((format) => format.name === name)!;

/** Rows as plain values, blank nodes numbered in order of appearance. */
export function plainRows(variables: readonly string[], rows: readonly Bindings[]): (string | null)[][] {
  const labels = new Map<string, string>();
  return rows.map((row) => variables.map((name) => plainTerm(row.get(name), labels)));
}

function plainTerm(term: RDF.Term | undefined, labels: Map<string, string>): string | null {
  if (term === undefined) return null;
  if (term.termType === "Literal") return JSON.stringify([term.value, term.language, term.datatype.value]);
  if (term.termType !== "BlankNode") return `${term.termType} ${term.value}`;
  if (!labels.has(term.value)) labels.set(term.value, `blank ${labels.size}`);
  return labels.get(term.value)!;
}

/** Triples as plain values, blank nodes numbered in order of appearance. */
export const plainQuads = (quads: readonly RDF.Quad[]): (string | null)[][] =>
  plainRows(
    ["s", "p", "o"],
    quads.map(
      (triple) =>
        new Map<string, RDF.Term>([
          ["s", triple.subject],
          ["p", triple.predicate],
          ["o", triple.object],
        ]),
    ),
  );

export async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) yield await Promise.resolve(item);
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

export const bindingsOf = (variables: readonly string[], rows: readonly Bindings[]): QueryResult => ({
  kind: "bindings",
  variables,
  rows: each(rows),
});

/** The columns and rows of a result that must be one of bindings. */
export async function readRows(result: QueryResult): Promise<{ variables: readonly string[]; rows: Bindings[] }> {
  if (result.kind !== "bindings") throw new Error(`expected bindings, got ${result.kind}`);
  return { variables: result.variables, rows: await collect(result.rows) };
}

export async function readQuads(result: QueryResult): Promise<RDF.Quad[]> {
  if (result.kind !== "quads") throw new Error(`expected quads, got ${result.kind}`);
  return collect(result.quads);
}
