import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../errors/fedway-error.ts";

/** Characters of terms that may be made of one byte of a document: prefixes and bases make short names long. */
const charactersPerByte = 64;
const freeCharacters = 1024 * 1024;
/** A longer IRI counts as much more as it is longer: to resolve a name against a base takes time with the base's length. */
const usualIri = 4096;
const mostCharacters = 64 * 1024 * 1024;

/** A factory of terms that bounds how much text a parser makes of how many bytes. */
export interface BoundedFactory extends RDF.DataFactory {
  /** So many more bytes are parsed. */
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
