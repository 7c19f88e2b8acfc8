import type * as RDF from "@rdfjs/types";
import { blankNodeFromLabel, literalFromParts, nodeFromIri } from "./terms.ts";

const xsd = "http://www.w3.org/2001/XMLSchema#";

/** Bare values of Turtle; at most one of them matches. */
const bareValues: readonly (readonly [RegExp, string])[] = [
  [/^[+-]?\d+$/, `${xsd}integer`],
  [/^[+-]?\d*\.\d+$/, `${xsd}decimal`],
  [/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+$/, `${xsd}double`],
  [/^(?:true|false)$/, `${xsd}boolean`],
];

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["t", "\t"],
  ["n", "\n"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ['"', '"'],
  ["'", "'"],
  ["\\", "\\"],
]);

function unescape(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(/\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.?)/gsu, unescapeOne);
}

function unescapeOne(escape: string): string {
  const plain = shortEscapes.get(escape.slice(1));
  if (plain !== undefined) return plain;
  if (escape.length <= 2) throw new Error("unknown escape");
  const code = Number.parseInt(escape.slice(2), 16);
  if (code > 0x10ffff) throw new Error("escape beyond Unicode");
  return String.fromCodePoint(code);
}

/** Index of the quote that closes the literal opened at 0. */
function closingQuote(text: string): number {
  const quote = text[0]!;
  let at = 1;
  while (at < text.length && text[at] !== quote) at += text[at] === "\\" ? 2 : 1;
  if (at >= text.length) throw new Error("unterminated literal");
  return at;
}

function literalFromText(text: string): RDF.Literal {
  const end = closingQuote(text);
  const value = unescape(text.slice(1, end));
  const suffix = text.slice(end + 1);
  if (suffix === "") return literalFromParts(value);
  if (/^@[A-Za-z]{1,30}(?:-[A-Za-z0-9]{1,30})*$/.test(suffix)) return literalFromParts(value, suffix.slice(1));
  if (suffix.startsWith("^^<") && suffix.endsWith(">")) {
    return literalFromParts(value, undefined, unescape(suffix.slice(3, -1)));
  }
  if (suffix.startsWith("^^xsd:")) return literalFromParts(value, undefined, xsd + suffix.slice(6));
  throw new Error("text after a literal");
}

/**
 * The term that a TSV field holds (SPARQL 1.1 TSV, section 4): Turtle syntax of IRIs, literals (bare numbers and
 * booleans too) and blank nodes.
 * @throws Error that says what is wrong
 */
export function termFromText(field: string): RDF.Term {
  const text = field.trim();
  const first = text[0];
  if (first === '"' || first === "'") return literalFromText(text);
  if (first === "<" && text.endsWith(">") && !text.startsWith("<<")) return nodeFromIri(unescape(text.slice(1, -1)));
  if (text.startsWith("_:") && text.length > 2) return blankNodeFromLabel(text);
  const datatype = bareValues.find(([pattern]) => pattern.test(text))?.[1];
  if (datatype === undefined) throw new Error("not a term");
  return literalFromParts(text, undefined, datatype);
}
