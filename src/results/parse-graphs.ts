import { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import type * as RDF from "@rdfjs/types";
import { JsonLdParser } from "jsonld-streaming-parser";
import { DataFactory, Parser } from "n3";
import { RdfXmlParser } from "rdfxml-streaming-parser";
import { type AnswerDecoder, asMalformed, createUtf8Reader, malformed } from "./decoder.ts";
import { createJsonScanner } from "./scan-json.ts";
import { createXmlScanner } from "./scan-xml.ts";
import type { AnswerScanner } from "./scanner.ts";

/** The decoder of a graph answer. */
export type GraphDecoder = AnswerDecoder<RDF.Quad>;

/** Turtle and N-Triples; what n3 has recognised comes out with each chunk. */
class N3Decoder implements GraphDecoder {
  readonly #name: string;
  readonly #utf8;
  readonly #source = new EventEmitter();
  #quads: RDF.Quad[] = [];
  #error: Error | undefined;

  constructor(name: "Turtle" | "TriG" | "N-Triples", baseIri?: string, factory?: RDF.DataFactory) {
    this.#name = name;
    this.#utf8 = createUtf8Reader(name);
    const base = baseIri !== undefined && { baseIRI: baseIri };
    // A factory gets labels as they are written, without the parser's own prefix.
    new Parser({ format: name, ...base, ...(factory !== undefined && { factory, blankNodePrefix: "" }) }).parse(
      this.#source,
      (error, quad) => {
        if (error) this.#error ??= error;
        else if (quad) this.#quads.push(quad);
      },
    );
  }

  push(bytes: Uint8Array): readonly RDF.Quad[] {
    return this.#emit("data", this.#utf8.read(bytes));
  }

  end(): readonly RDF.Quad[] {
    const rest = this.#emit("data", this.#utf8.end());
    return [...rest, ...this.#emit("end")];
  }

  #emit(event: "data" | "end", text = ""): readonly RDF.Quad[] {
    try {
      if (event === "end") this.#source.emit("end");
      else if (text !== "") this.#source.emit("data", text);
    } catch (error) {
      this.#error ??= asMalformed(this.#name, error);
    }
    if (this.#error !== undefined) throw asMalformed(this.#name, this.#error);
    const quads = this.#quads;
    this.#quads = [];
    return quads;
  }
}

/** The part of the parsers' transform streams that is used; they come from another stream library than Node's. */
type QuadTransform = Pick<Duplex, "write" | "end" | "destroy" | "on" | "once" | "off">;

/**
 * A parser that is a transform stream. A scanner beside it bounds the nesting and knows whether the document is whole:
 * the parsers do not always complain.
 */
class TransformDecoder implements GraphDecoder {
  readonly #name: string;
  readonly #parser: QuadTransform;
  readonly #scanner: AnswerScanner & { readonly fault?: string | undefined };
  #quads: RDF.Quad[] = [];
  #error: unknown;

  constructor(name: string, parser: QuadTransform, scanner: AnswerScanner) {
    this.#name = name;
    this.#parser = parser;
    this.#scanner = scanner;
    parser.on("data", (quad: RDF.Quad) => this.#quads.push(quad));
    parser.on("error", (error: unknown) => {
      this.#error ??= error;
    });
  }

  async push(bytes: Uint8Array): Promise<readonly RDF.Quad[]> {
    this.#scanner.push(bytes);
    if (this.#scanner.fault !== undefined) throw this.#broken(this.#scanner.fault);
    await this.#settled((done) => this.#parser.write(Buffer.from(bytes), () => done()));
    return this.#take();
  }

  async end(): Promise<readonly RDF.Quad[]> {
    const verdict = this.#scanner.end();
    if (!verdict.complete) throw this.#broken(verdict.detail ?? "");
    await this.#settled((done) => {
      this.#parser.once("end", done);
      this.#parser.end();
    });
    return this.#take();
  }

  /** Waits for one step, but never longer than the parser lives. */
  #settled(step: (done: () => void) => void): Promise<void> {
    // After an error nothing is told any more.
    if (this.#error !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#parser.off("error", done);
        this.#parser.off("close", done);
        resolve();
      };
      this.#parser.once("error", done);
      this.#parser.once("close", done);
      step(done);
    });
  }

  #take(): readonly RDF.Quad[] {
    if (this.#error !== undefined) {
      this.#parser.destroy();
      throw asMalformed(this.#name, this.#error);
    }
    const quads = this.#quads;
    this.#quads = [];
    return quads;
  }

  #broken(detail: string): Error {
    this.#parser.destroy();
    return malformed(`The endpoint's ${this.#name} answer is malformed: ${detail}`);
  }
}

/** Entities can make a small document huge, so there are none. */
class EntityFreeRdfXmlParser extends RdfXmlParser {
  override onDoctype(): void {
    this.destroy(malformed("The endpoint's RDF/XML answer is malformed: document type declarations are not read."));
  }
}

/** A remote context would be a request that nobody allowed. */
const refusingLoader = {
  load: (url: string): Promise<never> =>
    Promise.reject(malformed(`The endpoint's JSON-LD answer needs the remote context ${url.slice(0, 200)}.`)),
};

/** RDF 1.1 Turtle. With a factory of terms, blank nodes are made by it: with their label, or without one. */
export const createTurtleDecoder = (baseIri?: string, factory?: RDF.DataFactory): GraphDecoder =>
  new N3Decoder("Turtle", baseIri, factory);

/** RDF 1.1 TriG. */
export const createTriGDecoder = (baseIri?: string, factory?: RDF.DataFactory): GraphDecoder =>
  new N3Decoder("TriG", baseIri, factory);

/** RDF 1.1 N-Triples. */
export const createNTriplesDecoder = (): GraphDecoder => new N3Decoder("N-Triples");

/** The JSON-LD parser says null for "no datatype", which n3 does not understand. */
const nullTolerant = (factory: RDF.DataFactory): RDF.DataFactory => ({
  ...factory,
  literal: (value, kind) =>
    typeof kind === "string" || (kind && "termType" in kind) ? factory.literal(value, kind) : factory.literal(value),
});

/** JSON-LD 1.1; remote contexts are refused. */
export function createJsonLdDecoder(baseIri?: string, factory: RDF.DataFactory = DataFactory): GraphDecoder {
  const parser = new JsonLdParser({
    dataFactory: nullTolerant(factory),
    documentLoader: refusingLoader,
    ...(baseIri !== undefined && { baseIRI: baseIri }),
  });
  return new TransformDecoder("JSON-LD", parser, createJsonScanner({ sparqlResults: false, required: false }));
}

/** RDF/XML; document type declarations are refused. */
export function createRdfXmlDecoder(baseIri?: string, factory: RDF.DataFactory = DataFactory): GraphDecoder {
  const base = baseIri === undefined ? {} : { baseIRI: baseIri };
  const parser = new EntityFreeRdfXmlParser({ dataFactory: factory, trackPosition: true, ...base });
  return new TransformDecoder("RDF/XML", parser, createXmlScanner({ sparqlResults: false }));
}
