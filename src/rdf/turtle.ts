import type * as RDF from "@rdfjs/types";
import { EventEmitter } from "node:events";
import { DataFactory, Parser, type ParserOptions, type Quad } from "n3";
import { FedwayError, libraryMessage } from "../errors/fedway-error.ts";

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

/**
 * Parses Turtle, TriG and N-Triples as they arrive: the one place where the parser is made. Nesting is counted in the
 * parser's own tokens, before each of them is looked at, so that the count cannot disagree about strings and comments.
 */
export class TurtleReader {
  readonly #source = new EventEmitter();
  readonly #prefixes = new Map<string, number>();
  #prefixCharacters = 0;
  #depth = 0;
  #quads: Quad[] = [];
  #error: unknown;

  constructor(options: ParserOptions) {
    const parser: BoundedParser = new Parser(options);
    keepLongTags(parser);
    parser.parse(this.#source, {
      onQuad: (error, quad) => {
        if (error) this.#error ??= error;
        else if (quad) this.#quads.push(quad);
      },
      onPrefix: (name, iri) => this.#addPrefix(name, iri.value.length),
      onToken: (token) => {
        if (token.value === "") this.#nest(token.type, token.line);
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
 * Language tags with more than eight letters between hyphens stand in data ("zh-classical"), and other readers take them: the
 * parser is given a short tag for its check, and the literal gets its own.
 */
function keepLongTags(parser: object): void {
  const complete: unknown = Reflect.get(parser, "_completeLiteral");
  if (typeof complete !== "function") throw new TypeError("The Turtle parser has changed: no _completeLiteral.");
  const completeLiteral = (token: LiteralToken, component: unknown): unknown => {
    if (token.type !== "langcode" || !/[^-]{9}/u.test(token.value))
      return Reflect.apply(complete, parser, [token, component]);
    const completed: object = Reflect.apply(complete, parser, [{ ...token, value: "x" }, component]);
    Reflect.set(parser, "_literalLanguage", token.value);
    const factory: RDF.DataFactory = Reflect.get(parser, "_factory");
    return { ...completed, literal: factory.literal(Reflect.get(parser, "_literalValue"), token.value) };
  };
  Reflect.set(parser, "_completeLiteral", completeLiteral);
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
  return { ...factory, quad, blankNode };
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
