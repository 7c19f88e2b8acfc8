import { itemAt } from "../../values.ts";
import type * as Traqula from "@traqula/rules-sparql-1-2";
import { DataFactory } from "rdf-data-factory";
import type { AggregateExpression, BlankTerm, IriTerm, LiteralTerm, PropertyPath, Term, VariableTerm } from "sparqljs";
import { rdf, xsd } from "../../rdf/vocabularies.ts";
import { indexAt, quotesOf, type Source } from "./grammar.ts";
import type { TokenRange } from "./outline.ts";
import { isWord, type Token } from "./tokens.ts";

/** A part of a tree that has a place. */
export type Placed = Term | PropertyPath | AggregateExpression;

/** The tokens of each term, property path and aggregate of a tree; brackets around a path are its own. */
export type Places = ReadonlyMap<Placed, TokenRange>;

/** The tokens of a part that the reader has placed. @throws RangeError for another one, which is a defect */
export function placeIn(places: Places, part: Placed): TokenRange {
  const place = places.get(part);
  if (!place) throw new RangeError("a part without a place");
  return place;
}

/** A node of Traqula's tree, with its place in the text of samples. */
export interface Located {
  readonly loc: Traqula.Query["loc"];
}

export const factory = new DataFactory();

/** Reads the terms and paths of Traqula's tree from the tokens where they stand, and notes their places. */
export class TermReader {
  readonly places = new Map<Placed, TokenRange>();
  readonly tokens: readonly Token[];
  readonly #prologue: Source["prologue"];
  readonly #starts: readonly number[];
  /** Index of each opening bracket to that of its closing one. */
  readonly #closing: ReadonlyMap<number, number>;
  #blanks = 0;

  constructor({ tokens, prologue }: Source, starts: readonly number[]) {
    this.tokens = tokens;
    this.#prologue = prologue;
    this.#starts = starts;
    this.#closing = bracketsOf(tokens);
  }

  term(node: Traqula.Term): IriTerm | BlankTerm | VariableTerm | LiteralTerm {
    return node.subType === "blankNode" ? this.#blankAt(this.range(node).from) : this.operand(node);
  }

  operand(node: Exclude<Traqula.Term, Traqula.TermBlank>): IriTerm | VariableTerm | LiteralTerm {
    if (node.subType === "triple") throw new Error("a triple term");
    return node.subType === "literal" ? this.literal(node) : this.name(node);
  }

  name(node: Traqula.TermIri | Traqula.TermVariable): IriTerm | VariableTerm {
    return node.subType === "variable" ? this.variable(node) : this.iri(node);
  }

  constant(node: Traqula.TermIri | Traqula.TermLiteral): IriTerm | LiteralTerm {
    return node.subType === "literal" ? this.literal(node) : this.iri(node);
  }

  iri(node: Traqula.TermIri): IriTerm {
    const { from } = this.range(node);
    // `()` has no brackets around it.
    if (node.value === rdf.nil) return this.#placed(factory.namedNode(rdf.nil), { from, to: from + 2 });
    const at = this.behindBrackets(node);
    const token = itemAt(this.tokens, at);
    const iri = isWord(token, "A") ? rdf.type : this.#prologue.iriOf(token);
    return this.#placed(factory.namedNode(iri), { from: at, to: at + 1 });
  }

  variable(node: Traqula.TermVariable): VariableTerm {
    const at = this.behindBrackets(node);
    const name = itemAt(this.tokens, at).text.slice(1);
    return this.#placed(factory.variable(name), { from: at, to: at + 1 });
  }

  #blankAt(at: number): BlankTerm {
    const { kind, text } = itemAt(this.tokens, at);
    if (kind !== "blank") return this.#placed(this.blank(), { from: at, to: at + 2 });
    const label = text.slice(2);
    const term = factory.blankNode(label.startsWith("e_") ? label : `e_${label}`);
    return this.#placed(term, { from: at, to: at + 1 });
  }

  blank = (): BlankTerm => factory.blankNode(`g_${this.#blanks++}`);

  literal(node: Traqula.TermLiteral): LiteralTerm {
    const from = this.behindBrackets(node);
    const { kind, text } = itemAt(this.tokens, from);
    if (kind === "string") return this.#stringLiteral(node, from);
    const typed = (value: string, type: string, tokens: number): LiteralTerm =>
      this.#placed(factory.literal(value, factory.namedNode(type)), { from, to: from + tokens });
    if (kind === "word") return typed(text.toLowerCase(), xsd.boolean, 1);
    const isSigned = kind === "punct";
    const digits = isSigned ? itemAt(this.tokens, from + 1).text : text;
    // The sign of `?a -1` is an operator, which Traqula takes off the number.
    const sign = node.value.startsWith("-") ? "-" : "";
    return typed(sign + digits.toLowerCase(), numberType(digits), isSigned ? 2 : 1);
  }

  #stringLiteral({ langOrIri }: Traqula.TermLiteral, from: number): LiteralTerm {
    const value = stringValue(itemAt(this.tokens, from).text);
    if (langOrIri === undefined) return this.#placed(factory.literal(value), { from, to: from + 1 });
    if (typeof langOrIri === "string") {
      const tag = itemAt(this.tokens, from + 1)
        .text.slice(1)
        .toLowerCase();
      return this.#placed(factory.literal(value, tag), { from, to: from + 2 });
    }
    return this.#placed(factory.literal(value, this.iri(langOrIri)), { from, to: from + 3 });
  }

  #placed<T extends Placed>(term: T, range: TokenRange): T {
    this.places.set(term, range);
    return term;
  }

  path(node: Traqula.Path): PropertyPath | IriTerm {
    if (node.type === "term") return this.iri(node);
    const isNone = node.subType === "!" && this.tokens[this.range(node).from + 2]?.text === ")";
    const items = isNone ? [] : node.items.map((item) => this.path(item));
    const ranges = [this.range(node)];
    for (const item of items) {
      const place = this.places.get(item);
      if (place) ranges.push(this.#inBrackets(place));
    }
    const from = Math.min(...ranges.map((range) => range.from));
    const to = Math.max(...ranges.map((range) => range.to));
    const path: object = { type: "path", pathType: node.subType, items };
    if (!isPath(path)) throw new Error("no path");
    this.places.set(path, this.#inBrackets({ from, to }));
    return path;
  }

  /** A part of a path with the brackets around it. */
  #inBrackets({ from, to }: TokenRange): TokenRange {
    let width = 0;
    while (this.#closing.get(from - width - 1) === to + width) width++;
    return { from: from - width, to: to + width };
  }

  range({ loc }: Located): TokenRange {
    if (loc.sourceLocationType !== "source") throw new Error(`a node without a place: ${loc.sourceLocationType}`);
    return { from: indexAt(this.#starts, loc.start), to: indexAt(this.#starts, loc.end - 1) + 1 };
  }

  /** Index of the first token of a term or an aggregate: its location has the brackets around it. */
  behindBrackets(node: Located): number {
    let { from } = this.range(node);
    while (this.tokens[from]?.text === "(") from++;
    return from;
  }

  closingOf(open: number): number {
    const close = this.#closing.get(open);
    if (close === undefined) throw new Error("a bracket that is not closed");
    return close;
  }
}

function bracketsOf(tokens: readonly Token[]): ReadonlyMap<number, number> {
  const closing = new Map<number, number>();
  const open: number[] = [];
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== "punct") continue;
    if ("([{".includes(text)) open.push(at);
    if (")]}".includes(text)) closing.set(open.pop() ?? -1, at);
  }
  return closing;
}

const isPath = (value: object): value is PropertyPath => "pathType" in value;

function numberType(digits: string): string {
  if (/e/i.test(digits)) return `${xsd.namespace}double`;
  return digits.includes(".") ? xsd.decimal : xsd.integer;
}

/** The characters that a string literal stands for. */
export function stringValue(literal: string): string {
  const quotes = quotesOf(literal);
  const inner = literal.slice(quotes, -quotes);
  return inner.replaceAll(escapes, (_, four?: string, eight?: string, short = "") => {
    const code = four ?? eight;
    return code === undefined ? (shortEscapes.get(short) ?? short) : String.fromCodePoint(Number.parseInt(code, 16));
  });
}

const escapes = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([^]))/g;
const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["t", "\t"],
  ["b", "\b"],
  ["n", "\n"],
  ["r", "\r"],
  ["f", "\f"],
]);
