import type * as RDF from "@rdfjs/types";
import { DataFactory } from "rdf-data-factory";
import { iriText, literalText, tagOf } from "../rdf/term-text.ts";

// Its terms hold their parts, which are read several times of each row; n3's literals cut them out of one text at each read.
const factory = new DataFactory();

const xsd = "http://www.w3.org/2001/XMLSchema#";
const xsdString = `${xsd}string`;

const plainLabel = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$/;

/** A label that every syntax accepts: unusual ones are replaced by their UTF-8 bytes in hexadecimal digits. */
export const safeLabel = (label: string): string =>
  plainLabel.test(label) ? label : `x${Buffer.from(label).toString("hex")}`;

/**
 * N-Triples syntax of a term (RDF 1.2 N-Triples; also what TSV results hold): `<iri>`, `"text"@en`, `"1"^^<type>`,
 * `_:label`, `<<( s p o )>>`. Variables are written as `?name`, the default graph as nothing.
 */
export function termToText(term: RDF.Term): string {
  switch (term.termType) {
    case "NamedNode":
      return iriText(term.value);
    case "Literal":
      return literalText(term);
    case "BlankNode":
      return `_:${safeLabel(term.value)}`;
    case "Quad":
      return `<<( ${termToText(term.subject)} ${termToText(term.predicate)} ${termToText(term.object)} )>>`;
    case "Variable":
      return `?${term.value}`;
    default:
      return "";
  }
}

/** A text that no other term has, to be used as a key: it escapes nothing, so it costs a third of `termToText`. */
export function termKey(term: RDF.Term): string {
  switch (term.termType) {
    case "NamedNode":
      return `<${term.value}`;
    case "Literal":
      return literalKey(term);
    case "BlankNode":
      return `_:${term.value}`;
    default:
      return `t${termToText(term)}`;
  }
}

function literalKey(literal: RDF.Literal): string {
  const tag = tagOf(literal);
  if (tag !== "") return `"${literal.value}"@${tag}`;
  const { value, datatype } = literal;
  return datatype.value === xsdString ? `"${value}"` : `"${value}"^^${datatype.value}`;
}

/** The datatype that has to be written; undefined for plain and language-tagged strings. */
export const datatypeOf = ({ language, datatype }: RDF.Literal): string | undefined =>
  language !== "" || datatype.value === xsdString ? undefined : datatype.value;

/** Virtuoso gives blank nodes as IRIs: `nodeID://b10` or `_:b10`. */
const virtuosoBlankNode = /^(?:nodeID:\/\/|_:)(.+)$/su;

/** The node an endpoint's `uri` stands for. */
export function nodeFromIri(iri: string): RDF.NamedNode | RDF.BlankNode {
  const label = iri.startsWith("nodeID://") || iri.startsWith("_:") ? virtuosoBlankNode.exec(iri)?.[1] : undefined;
  return label === undefined ? factory.namedNode(iri) : factory.blankNode(label);
}

/** The node an endpoint's blank node label stands for; a leading `_:` or `nodeID://` is no part of the label. */
export function blankNodeFromLabel(label: string): RDF.BlankNode {
  return factory.blankNode(virtuosoBlankNode.exec(label)?.[1] ?? label);
}

/** Parts of a literal as JSON and XML results name them. */
interface LiteralParts {
  readonly value: string;
  readonly language: string | undefined;
  /** `its:dir` (SPARQL 1.2 Query Results). */
  readonly direction: string | undefined;
  readonly datatype: string | undefined;
}

/** The literal of a cell; undefined for a base direction that is not `ltr` or `rtl`, or has no language. */
export function literalFromCell({ value, language, direction, datatype }: LiteralParts): RDF.Literal | undefined {
  const tag = direction === undefined ? language : `${language ?? ""}--${direction}`;
  if (tag?.includes("--") === true && !/^.+--(?:ltr|rtl)$/su.test(tag)) return undefined;
  return literalFromParts(value, tag, datatype);
}

/** A literal from its parts; a language wins over a datatype, and may end in a base direction (RDF 1.2): `ar--rtl`. */
export function literalFromParts(value: string, language?: string, datatype?: string): RDF.Literal {
  if (language !== undefined && language !== "") {
    const [tag = language, direction] = language.split("--");
    if (direction !== "ltr" && direction !== "rtl") return factory.literal(value, language);
    return factory.literal(value, { language: tag, direction });
  }
  if (datatype === undefined || datatype === "" || datatype === xsdString) return factory.literal(value);
  return factory.literal(value, factory.namedNode(datatype));
}

/** A triple term (RDF 1.2) from its parts; undefined when a part may not stand there. */
export function tripleFromParts(subject: RDF.Term, predicate: RDF.Term, object: RDF.Term): RDF.Quad | undefined {
  if (!isSubject(subject) || predicate.termType !== "NamedNode") return undefined;
  return isSubject(object) || object.termType === "Literal" ? factory.quad(subject, predicate, object) : undefined;
}

/** True for a blank node, and for a triple term with one in it. */
export const hasBlankNode = (term: RDF.Term | undefined): boolean =>
  term?.termType === "BlankNode" || (term?.termType === "Quad" && [term.subject, term.object].some(hasBlankNode));

/** The term with other labels for its blank nodes, also within triple terms. */
export function relabelled(term: RDF.Term, labelOf: (label: string) => string): RDF.Term {
  if (term.termType === "BlankNode") return blankNodeFromLabel(labelOf(term.value));
  if (!hasBlankNode(term) || term.termType !== "Quad") return term;
  const [subject, object] = [relabelled(term.subject, labelOf), relabelled(term.object, labelOf)];
  return tripleFromParts(subject, term.predicate, object) ?? term;
}

const isSubject = (term: RDF.Term): term is RDF.NamedNode | RDF.BlankNode | RDF.Quad =>
  term.termType === "NamedNode" || term.termType === "BlankNode" || term.termType === "Quad";

/** Bare values of Turtle; at most one of them matches. */
const bareValues: readonly (readonly [RegExp, string])[] = [
  [/^[+-]?\d+$/, `${xsd}integer`],
  [/^[+-]?\d*\.\d+$/, `${xsd}decimal`],
  [/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+$/, `${xsd}double`],
  [/^(?:true|false)$/, `${xsd}boolean`],
];

const escapedCharacters: ReadonlyMap<string, string> = new Map([
  ["t", "\t"],
  ["n", "\n"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ['"', '"'],
  ["'", "'"],
  ["\\", "\\"],
]);

function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(/\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.?)/gsu, unescapeOne);
}

function unescapeOne(escape: string): string {
  const plain = escapedCharacters.get(escape.slice(1));
  if (plain !== undefined) return plain;
  if (escape.length <= 2) throw new Error("unknown escape");
  const code = Number.parseInt(escape.slice(2), 16);
  if (code > 0x10ffff) throw new Error("escape beyond Unicode");
  return String.fromCodePoint(code);
}

/** Index of the quote that closes the literal opened at `from`. */
function closingQuote(text: string, from = 0): number {
  const quote = text[from]!;
  let at = from + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === "\\" ? 2 : 1;
  if (at >= text.length) throw new Error("unterminated literal");
  return at;
}

/** A language as engines write it, "en_US" too. */
const anyTag = /^@[\p{L}\p{N}_-]+$/u;

function literalFromText(text: string): RDF.Literal {
  const end = closingQuote(text);
  const value = unescaped(text.slice(1, end));
  const suffix = text.slice(end + 1);
  if (suffix === "") return literalFromParts(value);
  if (anyTag.test(suffix)) return literalFromParts(value, suffix.slice(1));
  if (suffix.startsWith("^^<") && suffix.endsWith(">")) {
    return literalFromParts(value, undefined, unescaped(suffix.slice(3, -1)));
  }
  if (suffix.startsWith("^^xsd:")) return literalFromParts(value, undefined, xsd + suffix.slice(6));
  throw new Error("text after a literal");
}

/**
 * The term that a TSV field holds (SPARQL 1.2 TSV, section 4): Turtle syntax of IRIs, literals (bare numbers and
 * booleans too), blank nodes and triple terms, as RDF-star writes them too: `<< s p o >>`.
 * @throws Error that says what is wrong
 */
export function termFromText(field: string): RDF.Term {
  const text = field.trim();
  if (text.startsWith("<<")) return tripleFromText(text);
  const first = text[0];
  if (first === '"' || first === "'") return literalFromText(text);
  if (first === "<" && text.endsWith(">")) return nodeFromIri(unescaped(text.slice(1, -1)));
  if (text.startsWith("_:") && text.length > 2) return blankNodeFromLabel(text);
  const datatype = bareValues.find(([pattern]) => pattern.test(text))?.[1];
  if (datatype === undefined) throw new Error("not a term");
  return literalFromParts(text, undefined, datatype);
}

/** Triple terms in each other beyond this depth are not read. */
export const maxTripleDepth = 32;
/** A term within a triple term that is not quoted: up to white space, an IRI or the end of the triple. */
const bareTerm = /(?:<[^<>]*>|[^\s<>)]+)/y;
/** Behind a quoted literal. */
const literalEnd = /(?:@[\p{L}\p{N}_-]+|\^\^(?:<[^<>]*>|[^\s<>)]+))?/uy;
const blank = /\s*/y;

function tripleFromText(text: string): RDF.Quad {
  let at = 0;
  const skip = (pattern: RegExp, from = at): string => {
    pattern.lastIndex = from;
    const found = pattern.exec(text)?.[0] ?? "";
    at = from + found.length;
    return found;
  };
  const term = (depth: number): RDF.Term => {
    skip(blank);
    if (text.startsWith("<<", at)) return triple(depth + 1);
    const from = at;
    if (text[from] === '"' || text[from] === "'") skip(literalEnd, closingQuote(text, from) + 1);
    else skip(bareTerm);
    return termFromText(text.slice(from, at));
  };
  const triple = (depth: number): RDF.Quad => {
    if (depth > maxTripleDepth) throw new Error("triple terms nested too deep");
    const [start, end] = text.startsWith("<<(", at) ? ["<<(", ")>>"] : ["<<", ">>"];
    at += start.length;
    const parts = tripleFromParts(term(depth), term(depth), term(depth));
    skip(blank);
    if (parts === undefined || !text.startsWith(end, at)) throw new Error("a triple term that is not whole");
    at += end.length;
    return parts;
  };
  const read = triple(0);
  if (at < text.length) throw new Error("text after a triple term");
  return read;
}

/** A literal that may be written with and without its datatype (RDF 1.1 Concepts, section 3.3). */
export const isPlainString = (term: RDF.Term): boolean =>
  term.termType === "Literal" && term.language === "" && term.datatype.value === xsdString;
