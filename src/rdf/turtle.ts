import type * as RDF from "@rdfjs/types";
import { DataFactory, Parser, type Quad } from "n3";
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
  const parser = new Parser({
    baseIRI: limits.baseIri,
    format: "text/turtle",
    factory: countingFactory(limits.maxQuads, Buffer.byteLength(text)),
  });
  try {
    return parser.parse(text);
  } catch (cause) {
    throw cause instanceof FedwayError ? cause : turtleSyntaxError(cause);
  }
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
