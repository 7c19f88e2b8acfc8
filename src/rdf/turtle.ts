import type * as RDF from "@rdfjs/types";
import { DataFactory, Parser, type Quad } from "n3";
import { FedwayError, saidBy } from "../errors/fedway-error.ts";
import { boundedFactory } from "./bounded-factory.ts";

/** Caps of one document. */
export interface TurtleLimits {
  /** Relative IRIs are resolved against it. */
  readonly baseIri: string;
  /** UTF-8 bytes of the text. */
  readonly maxBytes: number;
  /** Triples in the document. */
  readonly maxQuads: number;
}

const maxReasonLength = 200;

/**
 * Parses one Turtle 1.1 document that is held in memory.
 * @throws FedwayError `ENDPOINT_MALFORMED` with a one-line reason and, for syntax errors, `where.line`
 */
export function parseTurtle(text: string, limits: TurtleLimits): Quad[] {
  if (Buffer.byteLength(text) > limits.maxBytes) {
    throw new FedwayError("ENDPOINT_MALFORMED", `The document is larger than ${limits.maxBytes} bytes.`);
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
  let quads = 0;
  const quad = (...terms: Parameters<RDF.DataFactory["quad"]>): Quad => {
    quads += 1;
    if (quads > maxQuads) {
      throw new FedwayError("ENDPOINT_MALFORMED", `The document has more than ${maxQuads} triples.`);
    }
    return DataFactory.quad(...terms);
  };
  return { ...factory, quad };
}

/** What the parser of Turtle has thrown. It says "... on line 3." and, for most errors, also has the number in `context`. */
export function turtleSyntaxError(cause: unknown): FedwayError {
  const message = saidBy(cause) ?? "it cannot be read";
  const named = /^(.*?) on line (\d{1,9})\.?$/s.exec(message);
  const reason = (named?.[1] ?? message).slice(0, maxReasonLength);
  const line = named === null ? undefined : Number(named[2]);
  return new FedwayError("ENDPOINT_MALFORMED", `The document is not valid Turtle: ${reason}.`, {
    ...(line !== undefined && { where: { line } }),
    cause,
  });
}
