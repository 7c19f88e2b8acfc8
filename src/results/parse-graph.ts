import type * as RDF from "@rdfjs/types";
import { DataFactory } from "n3";
import { boundedFactory } from "../rdf/bounded-factory.ts";
import { type GraphDecoder, type GraphDecoderOptions, malformed } from "./decoder.ts";
import type { ResultFormat } from "./formats.ts";
import { type ByteSource, createPause, ItemReader, type ParseLimits } from "./item-reader.ts";
import {
  createJsonLdDecoder,
  createNTriplesDecoder,
  createRdfXmlDecoder,
  createTurtleDecoder,
} from "./parse-graphs.ts";
import { createItemStream } from "./row-stream.ts";

/** The formats that hold graphs. */
export type GraphFormat = Exclude<ResultFormat["name"], "json" | "xml" | "csv" | "tsv">;

/** What is known about the bytes of a graph. */
export interface GraphParseOptions {
  readonly format: GraphFormat;
  readonly baseIri?: string;
  readonly limits?: ParseLimits;
  /** Called between the steps; throws to end the parse. */
  readonly check?: () => void;
}

const decoders: Readonly<Record<GraphFormat, (options: GraphDecoderOptions) => GraphDecoder>> = {
  turtle: createTurtleDecoder,
  ntriples: createNTriplesDecoder,
  jsonld: createJsonLdDecoder,
  rdfxml: createRdfXmlDecoder,
};

/**
 * The triples of a foreign document, as it arrives: the one way by which such documents are parsed. It parses in small
 * steps with the event loop's turns between them, whatever the document holds.
 */
export function parseGraph(source: ByteSource, options: GraphParseOptions): AsyncIterableIterator<RDF.Quad> {
  const pause = createPause(source, options.check);
  const factory = boundedFactory(DataFactory);
  const { baseIri } = options;
  const decoder = decoders[options.format]({ factory, pause, ...(baseIri !== undefined && { baseIri }) });
  const bounded: GraphDecoder = {
    push: (bytes) => {
      factory.allow(bytes.length);
      return decoder.push(bytes);
    },
    end: () => decoder.end(),
  };
  const reader = new ItemReader({ source, decoder: bounded, pause, limits: options.limits });
  const next = async (): Promise<readonly RDF.Quad[] | undefined> => {
    const quads = await reader.next();
    if (quads !== undefined && quads.length > 0) factory.taken();
    if (quads?.some((quad) => quad.graph.termType !== "DefaultGraph") === true) {
      throw malformed("The endpoint's answer has triples in a named graph.");
    }
    return quads;
  };
  return createItemStream({ next, release: () => source.release() });
}
