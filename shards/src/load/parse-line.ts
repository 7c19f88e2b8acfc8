import { itemAt } from "../../../src/values.ts";
import { shortEscapes } from "../../../src/rdf/term-text.ts";
import { skolemLabel } from "./input.ts";
import { canonicalString, isAbsoluteIri } from "./statement.ts";

/** Fault of a line; the reader of the file adds its name and the line's number. */
export class SyntaxFault extends Error {
  override readonly name = "SyntaxFault";
}

/** How lines are read. */
export interface LineSyntax {
  /** Statements may name a graph: N-Quads. */
  readonly graphs: boolean;
  /** See `skolemBase`. */
  readonly skolemBase: string;
}

/**
 * Parses one line of N-Triples or N-Quads (RDF 1.1).
 * @returns its terms, canonical; none for white space and comments
 * @throws SyntaxFault
 */
export const parseLine = (line: string, syntax: LineSyntax): readonly string[] => new LineParser(line, syntax).terms();

const termNames = ["a subject", "a predicate", "an object", "a graph name"];
const iriStop = /[\0- <>"\{\}\|^`]/gv;
const labelStop = /[^\w:.\-\u0080-\u{10ffff}]/gu;
const maxLabelLength = 65_536;
const labelBase =
  "A-Za-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f" +
  "\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}_:0-9";
const labelRest = `${labelBase}\\u00b7\\u0300-\\u036f\\u203f\\u2040\\-`;
/** BLANK_NODE_LABEL without `_:`. */
const labelPattern = new RegExp(`^[${labelBase}](?:[${labelRest}.]*[${labelRest}])?$`, "u");
const languageTag = /@[\w-]*/y;
const wholeTag = /^@[A-Za-z]+(?:-[A-Za-z0-9]+)*$/u;
const datatypeMark = /\^\^[ \t]*(?=<)/y;
const xsdString = "<http://www.w3.org/2001/XMLSchema#string>";

class LineParser {
  readonly #text: string;
  readonly #syntax: LineSyntax;
  #at = 0;

  constructor(text: string, syntax: LineSyntax) {
    this.#text = text;
    this.#syntax = syntax;
  }

  terms(): readonly string[] {
    if (this.#isOver()) return [];
    const terms = [this.#term(0), this.#term(1), this.#term(2)];
    const next = this.#next();
    if (this.#syntax.graphs && next !== undefined && next !== ".") terms.push(this.#term(3));
    if (this.#next() !== ".") throw new SyntaxFault("a dot is expected");
    this.#at += 1;
    if (this.#isOver()) return terms;
    throw new SyntaxFault("there is something behind the dot");
  }

  /** The character behind the white space. */
  #next(): string | undefined {
    while (this.#text[this.#at] === " " || this.#text[this.#at] === "\t") this.#at += 1;
    return this.#text[this.#at];
  }

  #isOver(): boolean {
    const next = this.#next();
    return next === undefined || next === "#";
  }

  #term(place: number): string {
    const first = this.#next();
    if (first === "<") return this.#iri();
    if (place === 1) throw new SyntaxFault("a predicate is expected: an IRI in angle brackets");
    if (first === "_") return this.#blankNode();
    if (place === 2 && first === '"') return this.#literal();
    const kinds = place === 2 ? "an IRI, a blank node or a literal" : "an IRI or a blank node";
    throw new SyntaxFault(`${itemAt(termNames, place)} is expected: ${kinds}`);
  }

  #iri(): string {
    const from = this.#at + 1;
    const { index, 0: stop } = this.#find(iriStop, from) ?? { index: 0, 0: "" };
    if (stop === "") throw new SyntaxFault("an IRI is not closed");
    if (stop === "<") throw new SyntaxFault("an IRI is expected; triple terms are not read");
    if (stop !== ">") throw new SyntaxFault(`an IRI may not have the character ${codeOf(stop)}`);
    this.#at = index + 1;
    const text = this.#text.slice(from, index);
    const iri = unescaped(text, "an IRI");
    if (isAbsoluteIri(iri)) return `<${iri}>`;
    throw new SyntaxFault(
      iri === text ? "IRIs have to be absolute" : "an IRI is not absolute or has characters that IRIs may not have",
    );
  }

  #find(pattern: RegExp, from: number): RegExpExecArray | null {
    pattern.lastIndex = from;
    return pattern.exec(this.#text);
  }

  #blankNode(): string {
    const from = this.#at;
    let end = this.#find(labelStop, from + 2)?.index ?? this.#text.length;
    while (this.#text[end - 1] === ".") end -= 1;
    if (end - from > maxLabelLength) throw new SyntaxFault("a blank node's label is too long");
    const label = this.#text[from + 1] === ":" ? this.#text.slice(from + 2, end) : "";
    if (!labelPattern.test(label)) throw new SyntaxFault("a blank node has no proper label");
    this.#at = end;
    return `<${this.#syntax.skolemBase}${skolemLabel(label)}>`;
  }

  #literal(): string {
    const from = this.#at + 1;
    let close = this.#text.indexOf('"', from);
    while (close >= 0 && this.#isEscaped(close)) close = this.#text.indexOf('"', close + 1);
    if (close < 0) throw new SyntaxFault("a literal is not closed");
    this.#at = close + 1;
    const value = canonicalString(unescaped(this.#text.slice(from, close), "a literal"));
    const next = this.#next();
    if (next === "@") return value + this.#language();
    return next === "^" ? value + this.#datatype() : value;
  }

  #isEscaped(at: number): boolean {
    let from = at;
    while (this.#text[from - 1] === "\\") from -= 1;
    return (at - from) % 2 === 1;
  }

  #language(): string {
    const tag = this.#find(languageTag, this.#at)?.[0] ?? "";
    if (/.--(?:ltr|rtl)$/u.test(tag)) throw new SyntaxFault("a literal with a base direction is not read");
    if (!wholeTag.test(tag)) throw new SyntaxFault(`${tag.slice(0, 100)} is not a language tag`);
    this.#at += tag.length;
    return tag.toLowerCase();
  }

  #datatype(): string {
    const mark = this.#find(datatypeMark, this.#at);
    if (mark === null) throw new SyntaxFault("a datatype is expected: an IRI in angle brackets");
    this.#at += mark[0].length;
    const datatype = this.#iri();
    return datatype === xsdString ? "" : `^^${datatype}`;
  }
}

const codeOf = (character: string): string =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

const characters = new Map([...shortEscapes].map(([character, escape]) => [escape, character]));
characters.set("\\'", "'");

/** IRIs have no escapes but those of code points. */
function unescaped(text: string, what: "an IRI" | "a literal"): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(/\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.?)/gsu, (escape) => {
    const character = what === "a literal" ? characters.get(escape) : undefined;
    if (character !== undefined) return character;
    if (escape.length <= 2) throw new SyntaxFault(`${what} has an unknown escape`);
    const code = Number.parseInt(escape.slice(2), 16);
    if (code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)) return String.fromCodePoint(code);
    throw new SyntaxFault(`the escape ${escape} stands for no character`);
  });
}
