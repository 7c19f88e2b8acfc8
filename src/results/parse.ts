import { Readable } from "node:stream";
import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../errors/fedway-error.ts";
import { type AnswerDecoder, asMalformed, malformed, type TupleDecoder } from "./decoder.ts";
import type { ResultFormat } from "./formats.ts";
import type { AnswerKind, Bindings, QueryResult } from "./model.ts";
import { formatOf } from "./negotiation.ts";
import {
  createJsonLdDecoder,
  createNTriplesDecoder,
  createRdfXmlDecoder,
  createTurtleDecoder,
} from "./parse-graphs.ts";
import { createJsonDecoder } from "./parse-json.ts";
import { createCsvDecoder, createTsvDecoder } from "./parse-records.ts";
import { createXmlDecoder } from "./parse-xml.ts";
import { createItemStream } from "./row-stream.ts";

/** Caps of one answer. */
export interface ParseLimits {
  /** Rows or triples; default unlimited. */
  readonly maxRows?: number;
  /** Bytes that may pass without completing a row or triple, so the largest one that is accepted; default 16 MiB. */
  readonly maxTermBytes?: number;
}

/** What is known about the bytes of an answer. */
export interface ParseOptions {
  readonly mediaType: string;
  readonly kind: AnswerKind;
  readonly limits?: ParseLimits;
  /** Relative IRIs of graph documents are resolved against it; without it they are kept or refused as the format says. */
  readonly baseIri?: string;
}

const defaultMaxTermBytes = 16 * 1024 * 1024;
/** Larger chunks are cut up, so that one chunk never becomes very many rows at once. */
const sliceBytes = 64 * 1024;

type TupleFormat = "json" | "xml" | "csv" | "tsv";
type GraphFormat = Exclude<ResultFormat["name"], TupleFormat>;

const tupleDecoders: Readonly<Record<TupleFormat, () => TupleDecoder>> = {
  json: createJsonDecoder,
  xml: createXmlDecoder,
  csv: createCsvDecoder,
  tsv: createTsvDecoder,
};

const graphDecoders: Readonly<Record<GraphFormat, (baseIri?: string) => AnswerDecoder<RDF.Quad>>> = {
  turtle: createTurtleDecoder,
  ntriples: createNTriplesDecoder,
  jsonld: createJsonLdDecoder,
  rdfxml: createRdfXmlDecoder,
};

const isTupleFormat = (name: ResultFormat["name"]): name is TupleFormat => Object.hasOwn(tupleDecoders, name);

/**
 * Parses an answer as it arrives. Resolves when the columns are known (SELECT), the value is (ASK), or at once
 * (graphs). Leaving the stream early releases `bytes`; so does every failure.
 * @throws FedwayError `ENDPOINT_NOT_SPARQL`, `ENDPOINT_MALFORMED`, `ANSWER_TOO_LARGE`, and whatever `bytes` fails with;
 * the streams of the result fail with the same
 */
export async function parseAnswer(bytes: AsyncIterable<Uint8Array>, options: ParseOptions): Promise<QueryResult> {
  const source = new ByteSource(bytes);
  try {
    const format = formatOf(options.mediaType, options.kind);
    if (format === undefined) throw notSparql(options);
    if (isTupleFormat(format.name)) return await parseTuples(source, tupleDecoders[format.name](), options);
    return parseGraph(source, graphDecoders[format.name](options.baseIri), options);
  } catch (error) {
    await source.release();
    throw error;
  }
}

function notSparql(options: ParseOptions): FedwayError {
  const type = options.mediaType.slice(0, 100);
  return new FedwayError("ENDPOINT_NOT_SPARQL", `The endpoint answered with ${type}, which holds no ${options.kind}.`, {
    fault: "wrong-media-type",
  });
}

async function parseTuples(source: ByteSource, decoder: TupleDecoder, options: ParseOptions): Promise<QueryResult> {
  const reader = new ItemReader(source, decoder, options.limits);
  let early: readonly Bindings[] | undefined = [];
  while (decoder.head === undefined && early !== undefined && early.length === 0) early = await reader.next();
  if (options.kind === "boolean") return await parseBoolean(source, reader, decoder);
  const variables = decoder.head?.variables;
  if (variables === undefined) throw malformed("The endpoint answered with a boolean where rows were expected.");
  const next = async (): Promise<readonly Bindings[] | undefined> => {
    const rows = early ?? [];
    early = undefined;
    return rows.length > 0 ? rows : reader.next();
  };
  return { kind: "bindings", variables, rows: createItemStream({ next, release: () => source.release() }) };
}

async function parseBoolean(
  source: ByteSource,
  reader: ItemReader<Bindings>,
  decoder: TupleDecoder,
): Promise<QueryResult> {
  for (let items: readonly Bindings[] | undefined = []; items !== undefined; items = await reader.next()) {
    if (items.length > 0) break;
  }
  await source.release();
  const value = decoder.head?.boolean;
  if (value === undefined) throw malformed("The endpoint answered with rows where a boolean was expected.");
  return { kind: "boolean", value };
}

function parseGraph(source: ByteSource, decoder: AnswerDecoder<RDF.Quad>, options: ParseOptions): QueryResult {
  const reader = new ItemReader(source, decoder, options.limits);
  const next = async (): Promise<readonly RDF.Quad[] | undefined> => {
    const quads = await reader.next();
    if (quads?.some((quad) => quad.graph.termType !== "DefaultGraph") === true) {
      throw malformed("The endpoint's answer has triples in a named graph.");
    }
    return quads;
  };
  return { kind: "quads", quads: createItemStream({ next, release: () => source.release() }) };
}

/** The chunks of an answer, in pieces of bounded size; released exactly once. */
class ByteSource {
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #iterator: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #at = 0;
  #reading = false;
  #released = false;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#bytes = bytes;
    this.#iterator = bytes[Symbol.asyncIterator]();
  }

  async next(): Promise<Uint8Array | undefined> {
    while (this.#at >= this.#chunk.length) {
      this.#reading = true;
      const result = await this.#iterator.next().finally(() => {
        this.#reading = false;
      });
      if (result.done === true) return undefined;
      this.#chunk = result.value;
      this.#at = 0;
    }
    const piece = this.#chunk.subarray(this.#at, this.#at + sliceBytes);
    this.#at += piece.length;
    return piece;
  }

  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    // An iterator that is waiting for a silent endpoint would not return before its next chunk.
    if (this.#bytes instanceof Readable) this.#bytes.destroy();
    const returned = this.#iterator.return?.().catch(() => undefined);
    if (!this.#reading) await returned;
  }
}

/** Feeds a decoder and holds the limits. */
class ItemReader<T> {
  readonly #source: ByteSource;
  readonly #decoder: AnswerDecoder<T>;
  readonly #maxRows: number;
  readonly #maxTermBytes: number;
  #rows = 0;
  #idleBytes = 0;
  #ended = false;

  constructor(source: ByteSource, decoder: AnswerDecoder<T>, limits: ParseLimits = {}) {
    this.#source = source;
    this.#decoder = decoder;
    this.#maxRows = limits.maxRows ?? Number.POSITIVE_INFINITY;
    this.#maxTermBytes = limits.maxTermBytes ?? defaultMaxTermBytes;
  }

  async next(): Promise<readonly T[] | undefined> {
    if (this.#ended) return undefined;
    const piece = await this.#source.next();
    this.#ended = piece === undefined;
    const items = await this.#decode(piece);
    this.#idleBytes = items.length > 0 ? 0 : this.#idleBytes + (piece?.length ?? 0);
    if (this.#idleBytes > this.#maxTermBytes) {
      throw tooLarge(`The endpoint sent ${this.#maxTermBytes} bytes that hold no whole row or triple.`);
    }
    this.#rows += items.length;
    if (this.#rows > this.#maxRows) throw tooLarge(`The endpoint sent more than ${this.#maxRows} rows or triples.`);
    return items;
  }

  async #decode(piece: Uint8Array | undefined): Promise<readonly T[]> {
    try {
      return piece === undefined ? await this.#decoder.end() : await this.#decoder.push(piece);
    } catch (error) {
      throw asMalformed("SPARQL", error);
    }
  }
}

const tooLarge = (message: string): FedwayError => new FedwayError("ANSWER_TOO_LARGE", message, { fault: "too-large" });
