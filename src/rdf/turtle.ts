import type * as RDF from "@rdfjs/types";
import { EventEmitter } from "node:events";
import { DataFactory, Parser, type ParserOptions, type Quad } from "n3";
import { FedwayError, libraryMessage } from "../errors/fedway-error.ts";
import { isReadableTag, termFault } from "./term-text.ts";
import { languageTypes } from "./vocabularies.ts";

/** Caps of one document. */
interface TurtleLimits {
  /** Relative IRIs are resolved against it. */
  readonly baseIri: string;
  /** UTF-8 bytes of the text. */
  readonly maxBytes: number;
  /** Triples in the document. */
  readonly maxQuads: number;
}

const maxReasonLength = 200;

/**
 * Parses one Turtle 1.1 document that an operator has written; answers of endpoints are read by `results/`.
 * @throws FedwayError `CATALOG_INVALID` with a one-line reason and, for syntax errors, `where.line`
 */
export function parseTurtle(text: string, limits: TurtleLimits): Quad[] {
  if (Buffer.byteLength(text) > limits.maxBytes) {
    throw new FedwayError("CATALOG_INVALID", `The document is larger than ${limits.maxBytes} bytes.`);
  }
  const factory = countingFactory(limits.maxQuads, Buffer.byteLength(text));
  const reader = new TurtleReader({ baseIRI: limits.baseIri, format: "text/turtle", factory });
  try {
    return [...reader.push(text), ...reader.end()];
  } catch (cause) {
    throw cause instanceof FedwayError ? cause : turtleSyntaxError(cause);
  }
}

/** Levels of brackets, lists, graphs, annotations and triple terms in each other. */
const maxDepth = 128;
/** Prefixes of one document. */
const maxPrefixes = 10_000;
/** Characters of all their IRIs together. */
const maxPrefixCharacters = 4 * 1024 * 1024;

/** Tokens that open and close a level. */
const levels: ReadonlyMap<string, number> = new Map([
  ...["[", "(", "{", "<<", "<<(", "{|"].map((opening) => [opening, 1] as const),
  ...["]", ")", "}", ">>", ")>>", "|}"].map((closing) => [closing, -1] as const),
]);

/** The parser with its tokens, which its types lack; tokens that are no term have no value. */
interface BoundedParser {
  parse(
    input: EventEmitter,
    on: {
      onQuad(error: Error | null, quad: Quad | null): void;
      onPrefix(name: string, iri: RDF.NamedNode): void;
      onToken(token: { readonly type: string; readonly value: string; readonly line: number }): void;
    },
  ): void;
}

/** Called for a statement that is left out since a term in it is none, with what is wrong and where. */
export type OnBadTerm = (fault: string) => void;

/** The statement; undefined where it was left out. @throws Error where a term in it is none and `onBadTerm` absent */
export function checkedQuad<Q extends RDF.Quad>(quad: Q, onBadTerm?: OnBadTerm, place = ""): Q | undefined {
  const fault = [quad.subject, quad.predicate, quad.object, quad.graph]
    .map(termFault)
    .find((each) => each !== undefined);
  if (fault === undefined) return quad;
  if (onBadTerm === undefined) throw new Error(`${fault}${place}`);
  onBadTerm(`${fault}${place}`);
  return undefined;
}

/**
 * Parses Turtle, TriG and N-Triples as they arrive: the one place where the parser is made. Nesting is counted in the
 * parser's own tokens, before each of them is looked at, so that the count cannot disagree about strings and comments.
 */
export class TurtleReader {
  readonly #source = new EventEmitter();
  readonly #prefixes = new Map<string, number>();
  readonly #onBadTerm: OnBadTerm | undefined;
  #prefixCharacters = 0;
  #depth = 0;
  #line = 1;
  /** A term was read that may be none: statements are looked at from there on. */
  #isDoubtful = false;
  #quads: Quad[] = [];
  #error: unknown;

  /** @param onBadTerm without it such a term ends the document */
  constructor(options: ParserOptions, onBadTerm?: OnBadTerm) {
    this.#onBadTerm = onBadTerm;
    const parser: BoundedParser = new Parser(options);
    readBadTerms(parser, () => {
      this.#isDoubtful = true;
    });
    parser.parse(this.#source, {
      onQuad: (error, quad) => {
        if (error) this.#error ??= error;
        else if (quad) this.#take(quad);
      },
      onPrefix: (name, iri) => this.#addPrefix(name, iri.value.length),
      onToken: ({ type, value, line }) => {
        this.#line = line;
        if (value === "") this.#nest(type, line);
      },
    });
  }

  /** The triples that end in this part of the text. @throws Error with a reason, and mostly the line */
  push(text: string): Quad[] {
    return text === "" ? [] : this.#emit("data", text);
  }

  /** @throws Error if the document is not whole */
  end(): Quad[] {
    return this.#emit("end");
  }

  #emit(event: "data" | "end", text?: string): Quad[] {
    try {
      if (this.#error === undefined) this.#source.emit(event, text);
    } catch (error) {
      this.#error ??= error;
    }
    if (this.#error !== undefined) throw this.#error;
    const quads = this.#quads;
    this.#quads = [];
    return quads;
  }

  #take(quad: Quad): void {
    const checked = this.#isDoubtful ? checkedQuad(quad, this.#onBadTerm, ` on line ${this.#line}`) : quad;
    if (checked !== undefined) this.#quads.push(checked);
  }

  #nest(type: string, line: number): void {
    this.#depth += levels.get(type) ?? 0;
    if (this.#depth > maxDepth) throw new Error(`it is nested more than ${maxDepth} levels deep on line ${line}.`);
  }

  #addPrefix(name: string, characters: number): void {
    this.#prefixCharacters += characters - (this.#prefixes.get(name) ?? 0);
    this.#prefixes.set(name, characters);
    if (this.#prefixes.size <= maxPrefixes && this.#prefixCharacters <= maxPrefixCharacters) return;
    throw new Error(`it has more than ${maxPrefixes} prefixes, or more than 4 MiB of them.`);
  }
}

/**
 * Terms that the parser takes for faults of syntax reach their statement, so that it can be named and left out: IRIs with
 * characters that they may not have, relative ones in N-Triples, and texts of rdf:langString without a language. Language tags
 * are kept whatever they are, as in rows: data have "zh-classical" and "en_US".
 * @param doubt called where a term may be none
 */
function readBadTerms(parser: object, doubt: () => void): void {
  const lexer: unknown = Reflect.get(parser, "_lexer");
  const complete: unknown = Reflect.get(parser, "_completeLiteral");
  const relative: unknown = Reflect.get(parser, "_resolveRelativeIRI");
  if (typeof lexer !== "object" || lexer === null) throw new TypeError("The Turtle parser has changed: no _lexer.");
  if (typeof complete !== "function" || typeof relative !== "function") {
    throw new TypeError("The Turtle parser has changed: no _completeLiteral or _resolveRelativeIRI.");
  }
  Reflect.set(lexer, "_unescapedIri", new IriPattern(Reflect.get(lexer, "_unescapedIri"), doubt));
  Reflect.set(
    lexer,
    "_langcode",
    /@([a-z0-9_\u0080-\uffff]+(?:-[a-z0-9_\u0080-\uffff]+)*)(?=[^a-z0-9_\u0080-\uffff])/iy,
  );
  Reflect.set(parser, "_resolveRelativeIRI", (iri: string): unknown => {
    const resolved: unknown = Reflect.apply(relative, parser, [iri]);
    if (resolved === null) doubt();
    return resolved ?? iri;
  });
  const literalOf = (kind: string | RDF.NamedNode): RDF.Literal => {
    const factory: RDF.DataFactory = Reflect.get(parser, "_factory");
    return factory.literal(Reflect.get(parser, "_literalValue"), kind);
  };
  const completeLiteral = (token: LiteralToken, component: unknown): unknown => {
    const { type, value } = token;
    if (type === "langcode" && !usualTag.test(value)) {
      const completed: object = Reflect.apply(complete, parser, [{ ...token, value: "x" }, component]);
      Reflect.set(parser, "_literalLanguage", value);
      return { ...completed, literal: literalOf(value) };
    }
    if (type.startsWith("type") && value.endsWith("angString")) {
      const datatype: RDF.NamedNode | undefined = Reflect.apply(Reflect.get(parser, "_readEntity"), parser, [token]);
      if (datatype === undefined) return undefined;
      if (languageTypes.has(datatype.value)) {
        doubt();
        return { token: null, literal: literalOf(datatype), readCb: false };
      }
    }
    return Reflect.apply(complete, parser, [token, component]);
  };
  Reflect.set(parser, "_completeLiteral", completeLiteral);
}

/** A tag that the parser takes. */
const usualTag = /^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/iu;

/** The lexer's pattern of an IRI without escapes, which also takes what is none up to the bracket that closes it. */
class IriPattern {
  lastIndex = 0;
  readonly #doubt: () => void;
  /** The lexer's own. */
  readonly #right: RegExp;
  readonly #any = /<([^<>\n\r]*)>[ \t]*/y;

  constructor(right: unknown, doubt: () => void) {
    if (!(right instanceof RegExp)) throw new TypeError("The Turtle parser has changed: no _unescapedIri.");
    this.#right = right;
    this.#doubt = doubt;
  }

  exec(input: string): RegExpExecArray | null {
    this.#right.lastIndex = this.lastIndex;
    const right = this.#right.exec(input);
    if (right !== null) return right;
    this.#any.lastIndex = this.lastIndex;
    const any = this.#any.exec(input);
    if (any === null || isEscaped(any[1]!)) return null;
    this.#doubt();
    return any;
  }
}

/** True for escapes that stand for characters of an IRI, which the lexer resolves itself. */
function isEscaped(iri: string): boolean {
  if (!iri.includes("\\")) return false;
  const text = iri.replaceAll(/\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})/gu, (_, short?: string, long?: string) => {
    const code = Number.parseInt(short ?? long ?? "", 16);
    return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? " " : String.fromCodePoint(code);
  });
  return !/[\p{Cc} <>\\"{}|^`]/u.test(text);
}

interface LiteralToken {
  readonly type: string;
  readonly value: string;
}

/** The text parser collects every triple, so the cap has to bite where triples are made. */
function countingFactory(maxQuads: number, bytes: number): RDF.DataFactory {
  const factory = boundedFactory(DataFactory);
  factory.allow(bytes);
  const tooMany = (): FedwayError =>
    new FedwayError("CATALOG_INVALID", `The document has more than ${maxQuads} triples.`);
  let quads = 0;
  const quad = (...terms: Parameters<RDF.DataFactory["quad"]>): Quad => {
    quads += 1;
    if (quads > maxQuads) throw tooMany();
    return DataFactory.quad(...terms);
  };
  // A triple names two blank nodes at most; those of nested brackets come long before their triples.
  let blankNodes = 0;
  const blankNode = (label?: string): RDF.BlankNode => {
    blankNodes += 1;
    if (blankNodes > 2 * maxQuads) throw tooMany();
    return factory.blankNode(label);
  };
  const literal = (value: string, kind?: Parameters<RDF.DataFactory["literal"]>[1]): RDF.Literal => {
    if (typeof kind !== "string" || isReadableTag(kind)) return factory.literal(value, kind);
    throw new Error(`${JSON.stringify(kind.slice(0, 100))} is no language tag`);
  };
  return { ...factory, quad, blankNode, literal };
}

/** Error of the parser of Turtle. It says "... on line 3." and, for most errors, also has the number in `context`. */
function turtleSyntaxError(cause: unknown): FedwayError {
  const message = libraryMessage(cause) ?? "it cannot be read";
  const named = /^(.*?) on line (\d{1,9})\.?$/s.exec(message);
  const reason = (named?.[1] ?? message).slice(0, maxReasonLength);
  const line = named === null ? undefined : Number(named[2]);
  return new FedwayError("CATALOG_INVALID", `The document is not valid Turtle: ${reason}.`, {
    ...(line !== undefined && { where: { line } }),
    cause,
  });
}

/** Characters of terms that may be made of one byte of a document: prefixes and bases make short names long. */
const charactersPerByte = 64;
const freeCharacters = 1024 * 1024;
/** A longer IRI counts as much more as it is longer: to resolve a name against a base takes time with the base's length. */
const usualIri = 4096;
const mostCharacters = 64 * 1024 * 1024;

/** A factory of terms that bounds how much text a parser makes of how many bytes. */
interface BoundedFactory extends RDF.DataFactory {
  /** Allows this many more bytes to be parsed. */
  allow(bytes: number): void;
  /** The terms made so far have been handed on. */
  taken(): void;
}

/**
 * A prefix of 100 kB makes of a document of 1 MB one of 20 GB. The terms that are held at a time may have 64 characters
 * for each byte that they come from, and a million besides; an IRI may have about 250,000.
 */
export function boundedFactory(factory: RDF.DataFactory): BoundedFactory {
  let left = freeCharacters;
  const take = (characters: number): void => {
    left -= characters;
    if (left < 0) throw tooLarge();
  };
  return {
    ...factory,
    namedNode(value) {
      take(value.length * Math.max(1, value.length / usualIri));
      return factory.namedNode(value);
    },
    literal(value, kind) {
      if (typeof kind === "string") take(kind.length);
      else if (kind !== undefined && "language" in kind) take(kind.language.length);
      return factory.literal(value, kind);
    },
    allow(bytes) {
      left = Math.min(left + bytes * charactersPerByte, mostCharacters);
    },
    taken() {
      left = freeCharacters;
    },
  };
}

function tooLarge(): FedwayError {
  const message = "The document grows too much when its prefixes, bases and languages are filled in.";
  return new FedwayError("ANSWER_TOO_LARGE", message, { fault: "too-large" });
}
