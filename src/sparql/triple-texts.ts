import type { Term } from "sparqljs";
import { rdf } from "../rdf/vocabularies.ts";
import { textOf } from "./edit-text.ts";
import type { TokenRange } from "./outline.ts";
import type { ParsedQuery } from "./parse-query.ts";
import type { PatternTerm } from "./query-patterns.ts";
import { resolveIri } from "./resolve-iri.ts";
import { runSparqlParser } from "./parser-tables.ts";
import { isWord, tokenAt, whereAt } from "./tokens.ts";

/** Subject, predicate or object of a triple pattern. */
export interface TripleTerm {
  /** As it was written; blank nodes are variables of their own, `?fedwayBlank...`. */
  readonly text: string;
  /** Where it was written; absent for what brackets and collections stand for. */
  readonly range?: TokenRange;
  /** Undefined for a property path. */
  readonly term: PatternTerm | undefined;
}

/** One triple pattern of a query's text. */
export interface TripleText {
  readonly subject: TripleTerm;
  readonly predicate: TripleTerm;
  readonly object: TripleTerm;
}

/**
 * The triple patterns of a triples block, each written out in full in the user's own words: `;` and `,` are taken apart,
 * brackets and collections are written with variables, and a sequence path becomes its steps, with variables between them
 * (SPARQL 1.1 Query, sections 4.1.4, 4.2 and 18.2.2.4).
 */
export function tripleTexts(query: ParsedQuery, block: TokenRange): readonly TripleText[] {
  const reader = new BlockReader(query, block);
  reader.block();
  return reader.triples;
}

/** Recursion is as deep as the brackets, which `tokenize` limits. */
class BlockReader {
  readonly triples: TripleText[] = [];
  readonly #query: ParsedQuery;
  readonly #end: number;
  #at: number;

  constructor(query: ParsedQuery, { from, to }: TokenRange) {
    this.#query = query;
    this.#at = from;
    this.#end = to;
  }

  block(): void {
    while (this.#at < this.#end) {
      if (this.#skip(".")) continue;
      const subject = this.#node();
      this.#properties(subject);
    }
  }

  #is(text: string): boolean {
    return this.#at < this.#end && tokenAt(this.#query.tokens, this.#at).text === text;
  }

  #skip(text: string): boolean {
    const found = this.#is(text);
    if (found) this.#at++;
    return found;
  }

  /** Predicates and objects up to the end of the block, a dot or a bracket. */
  #properties(subject: TripleTerm): void {
    while (this.#at < this.#end && !this.#is(".") && !this.#is("]")) {
      if (this.#skip(";")) continue;
      const predicate = this.#predicate();
      do this.#add(subject, predicate, this.#node());
      while (this.#skip(","));
    }
  }

  #add(subject: TripleTerm, predicate: TripleTerm, object: TripleTerm): void {
    const steps = predicate.range ? this.#steps(predicate.range) : [predicate];
    let from = subject;
    for (const [index, step] of steps.entries()) {
      const to = index === steps.length - 1 ? object : this.#fresh(step.range?.from ?? 0);
      this.triples.push(this.#forward({ subject: from, predicate: step, object: to }));
      from = to;
    }
  }

  /** `?a ^p ?b` as `?b p ?a`. */
  #forward({ subject, predicate, object }: TripleText): TripleText {
    const { range = { from: 0, to: 0 } } = predicate;
    if (range.to - range.from !== 2 || !predicate.text.startsWith("^")) return { subject, predicate, object };
    return { subject: object, predicate: this.#written({ from: range.from + 1, to: range.to }), object: subject };
  }

  /** The steps of a path that is a plain sequence; else the path itself. */
  #steps(path: TokenRange): readonly TripleTerm[] {
    const { tokens } = this.#query;
    const odd = Array.from({ length: path.to - path.from }, (_, index) => tokenAt(tokens, path.from + index));
    const isSequence =
      odd.length > 1 && odd.every((token, index) => (index % 2 === 0 ? token.kind !== "punct" : token.text === "/"));
    if (!isSequence) return [this.#written(path)];
    return odd.flatMap((_, index) =>
      index % 2 === 0 ? [this.#written({ from: path.from + index, to: path.from + index + 1 })] : [],
    );
  }

  #predicate(): TripleTerm {
    const { tokens } = this.#query;
    const from = this.#at;
    let depth = 0;
    // A path ends where a name follows a name: only operators stand between its parts.
    for (let wantsName = true; this.#at < this.#end; this.#at++) {
      const { kind, text } = tokenAt(tokens, this.#at);
      const isOperator = kind === "punct";
      if (depth === 0 && !wantsName && !(isOperator && pathOperators.has(text))) break;
      if (text === "(") depth++;
      else if (text === ")") depth--;
      if (isOperator && text === ")" && depth < 0) break;
      wantsName = isOperator ? "(/|^!".includes(text) : false;
    }
    return this.#written({ from, to: this.#at });
  }

  #node(): TripleTerm {
    const from = this.#at;
    if (this.#skip("[")) {
      const node = this.#fresh(from);
      this.#properties(node);
      this.#skip("]");
      return node;
    }
    if (this.#skip("(")) return this.#collection();
    if (this.#is("+") || this.#is("-")) this.#at++;
    const first = tokenAt(this.#query.tokens, this.#at++);
    if (first.kind === "string") {
      if (this.#at < this.#end && tokenAt(this.#query.tokens, this.#at).kind === "lang") this.#at++;
      else if (this.#skip("^^")) this.#at++;
    }
    return this.#written({ from, to: this.#at });
  }

  #collection(): TripleTerm {
    const items: TripleTerm[] = [];
    const nodes: TripleTerm[] = [];
    while (this.#at < this.#end && !this.#is(")")) {
      nodes.push(this.#fresh(this.#at));
      items.push(this.#node());
    }
    this.#skip(")");
    const nil = iriTerm(rdf.nil);
    for (const [index, node] of nodes.entries()) {
      this.triples.push({ subject: node, predicate: iriTerm(rdf.first), object: items[index] ?? nil });
      this.triples.push({ subject: node, predicate: iriTerm(rdf.rest), object: nodes[index + 1] ?? nil });
    }
    return nodes[0] ?? nil;
  }

  #fresh(at: number): TripleTerm {
    const name = `fedwayBlank${at}_${this.triples.length}`;
    return { text: `?${name}`, term: { kind: "variable", name } };
  }

  #written(range: TokenRange): TripleTerm {
    const written = textOf(this.#query, range);
    const first = tokenAt(this.#query.tokens, range.from);
    if (first.kind !== "blank") return { text: written, range, term: termAt(this.#query, range) };
    const name = `fedwayBlank_${Buffer.from(first.text.slice(2)).toString("hex")}`;
    return { text: `?${name}`, range, term: { kind: "variable", name } };
  }
}

const pathOperators: ReadonlySet<string> = new Set(["/", "|", "^", "!", "*", "+", "?", ")"]);

const iriTerm = (iri: string): TripleTerm => ({ text: `<${iri}>`, term: { kind: "iri", iri } });

/** The term that a token range writes; undefined for what is no single term, such as a property path. */
export function termAt(query: ParsedQuery, range: TokenRange): PatternTerm | undefined {
  const token = tokenAt(query.tokens, range.from);
  const isOne = range.to - range.from === 1;
  if (isOne && token.kind === "var") return { kind: "variable", name: token.text.slice(1) };
  if (isOne && (token.kind === "iri" || token.kind === "pname"))
    return { kind: "iri", iri: resolveIri(query.prologue, token) };
  if (isOne && isWord(token, "A")) return { kind: "iri", iri: rdf.type };
  const isLiteral = token.kind === "string" || token.kind === "number" || "+-".includes(token.text);
  if (!isLiteral && !isWord(token, "TRUE", "FALSE")) return undefined;
  return literalOf(query, textOf(query, range));
}

function literalOf({ text, tokens, prologue }: ParsedQuery, written: string): PatternTerm | undefined {
  const head = text.slice(0, tokenAt(tokens, prologue.length).start);
  const parsed = runSparqlParser(`${head}SELECT * { ?s ?p ${written} }`);
  const [block] = parsed.type === "query" ? (parsed.where ?? []) : [];
  const object: Term | undefined = block?.type === "bgp" ? block.triples[0]?.object : undefined;
  return object?.termType === "Literal" ? { kind: "literal", literal: object } : undefined;
}

/** The literal, or IRI, that begins with the first token of a range, with its own tokens. */
export function constantAt(query: ParsedQuery, { from, to: end }: TokenRange) {
  const { kind } = tokenAt(query.tokens, from);
  if (!["string", "number", "iri", "pname"].includes(kind)) return undefined;
  let to = from + 1;
  if (kind === "string" && to < end) {
    if (tokenAt(query.tokens, to).kind === "lang") to += 1;
    else if (tokenAt(query.tokens, to).text === "^^") to += 2;
  }
  const term = termAt(query, { from, to });
  return term && { range: { from, to }, term };
}

/** Line and column of the first token of a range. */
export const placeOf = ({ text, tokens }: ParsedQuery, { from }: TokenRange) =>
  whereAt(text, tokenAt(tokens, from).start);
