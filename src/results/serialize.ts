import type * as RDF from "@rdfjs/types";
import { Readable } from "node:stream";
import { FedwayError } from "../errors/fedway-error.ts";
import type { ResultFormat } from "./formats.ts";
import type { AnswerKind, BindingsResult, BooleanResult, QueryResult } from "./model.ts";
import { inBatches } from "./item-reader.ts";
import { cannotSay, type Remarks } from "./remark.ts";
import { type ParseOptions, parseAnswer } from "./parse.ts";
import { createRdfXmlEncoder } from "./encode-rdf-xml.ts";
import {
  createJsonLdEncoder,
  createNTriplesEncoder,
  createTurtleEncoder,
  csvSyntax,
  jsonSyntax,
  type TupleSyntax,
  tsvSyntax,
  xmlSyntax,
  type ItemEncoder,
  type Prefixes,
} from "./encoders.ts";

const tupleSyntaxes: ReadonlyMap<ResultFormat["name"], TupleSyntax> = new Map([
  ["json", jsonSyntax],
  ["xml", xmlSyntax],
  ["csv", csvSyntax],
  ["tsv", tsvSyntax],
]);

const graphEncoders = new Map<ResultFormat["name"], (prefixes?: Prefixes) => ItemEncoder<RDF.Quad>>([
  ["turtle", createTurtleEncoder],
  ["ntriples", createNTriplesEncoder],
  ["jsonld", createJsonLdEncoder],
  ["rdfxml", createRdfXmlEncoder],
  // One graph is written in these as in the languages that they extend.
  ["n3", createTurtleEncoder],
  ["trig", createTurtleEncoder],
  ["nquads", createNTriplesEncoder],
]);

/**
 * The bytes of a result. Backpressure reaches the result's stream; its error destroys the byte stream; destroying the
 * byte stream releases the result.
 * @param remarks what its end must say; a format that cannot say it destroys the byte stream with `ENDPOINT_PARTIAL`
 * @throws FedwayError `NOT_ACCEPTABLE` when the format cannot hold this kind of answer
 */
export function serializeResult(result: QueryResult, format: ResultFormat, remarks?: Remarks): Readable {
  if (result.kind === "quads") {
    const createEncoder = graphEncoders.get(format.name);
    if (createEncoder === undefined) throw notAcceptable(result.kind, format);
    return new EncodedStream(result.quads, withRemarks(createEncoder(), format, remarks)).stream;
  }
  return serializeTuples(result, format, remarks);
}

/** The bytes of a graph; Turtle declares and uses the prefixes. @throws FedwayError `NOT_ACCEPTABLE` */
export function serializeGraph(quads: AsyncIterable<RDF.Quad>, format: ResultFormat, prefixes: Prefixes): Readable {
  const createEncoder = graphEncoders.get(format.name);
  if (createEncoder === undefined) throw notAcceptable("quads", format);
  return new EncodedStream(quads, createEncoder(prefixes)).stream;
}

function serializeTuples(
  result: BindingsResult | BooleanResult,
  format: ResultFormat,
  remarks: Remarks | undefined,
): Readable {
  const syntax = tupleSyntaxes.get(format.name);
  if (syntax === undefined) throw notAcceptable(result.kind, format);
  if (result.kind === "bindings") {
    return new EncodedStream(result.rows, withRemarks(syntax.rows(result.variables), format, remarks)).stream;
  }
  if (syntax.boolean === undefined) throw notAcceptable(result.kind, format);
  return Readable.from([Buffer.from(syntax.boolean(result.value, remarks?.known()))], { objectMode: false });
}

/** The encoder, whose document says at its end what there is to say, or is cut off where it cannot. */
function withRemarks<T>(encoder: ItemEncoder<T>, format: ResultFormat, remarks: Remarks | undefined): ItemEncoder<T> {
  if (remarks === undefined) return encoder;
  const open = (): string => encoder.open(remarks.known());
  const close = (): string => {
    const remark = remarks.known();
    if (remark !== undefined && !encoder.remarks && !remarks.isTold()) throw cannotSay(format, remark);
    return encoder.close(remark);
  };
  return { ...encoder, open, close };
}

const notAcceptable = (kind: AnswerKind, format: ResultFormat): FedwayError =>
  new FedwayError("NOT_ACCEPTABLE", `${format.mediaType} cannot hold the answer: it is ${kind}.`);

/**
 * An answer in another format, as it arrives.
 * @throws what `parseAnswer` and `serializeResult` throw; later failures destroy the stream
 */
export async function transcode(
  bytes: AsyncIterable<Uint8Array>,
  from: ParseOptions,
  { format, remarks }: { readonly format: ResultFormat; readonly remarks?: Remarks },
): Promise<Readable> {
  const result = await parseAnswer(bytes, from);
  try {
    return serializeResult(result, format, remarks);
  } catch (error) {
    await release(result);
    throw error;
  }
}

async function release(result: QueryResult): Promise<void> {
  if (result.kind === "bindings") await result.rows[Symbol.asyncIterator]().return?.();
  if (result.kind === "quads") await result.quads[Symbol.asyncIterator]().return?.();
}

/** Items are collected up to about this many UTF-16 code units before they become a chunk. */
const batchLength = 16 * 1024;

/**
 * A byte stream of encoded items. The first chunk goes out with the first item (nothing before it: a source that
 * fails at once leaves no half answer), or where the encoder refuses items when a batch is full; later ones when a batch is
 * full or the source keeps the stream waiting. It takes no item that its reader has no room for. A failing source destroys the stream with its error; destroying the stream
 * returns the source's iterator.
 */
class EncodedStream<T> {
  readonly stream: Readable;
  readonly #iterator: AsyncIterator<readonly T[]>;
  #batch: readonly T[] = [];
  #at = 0;
  readonly #encoder: ItemEncoder<T>;
  #text = "";
  #opened = false;
  #first = true;
  #running = false;
  #hungry = false;
  #ended = false;
  #flushing: NodeJS.Immediate | undefined;

  constructor(items: AsyncIterable<T>, encoder: ItemEncoder<T>) {
    this.#iterator = inBatches(items)[Symbol.asyncIterator]();
    this.#encoder = encoder;
    this.stream = new Readable({
      read: () => {
        this.#hungry = true;
        if (!this.#running) void this.#run();
      },
      destroy: (error, callback) => {
        this.#leave();
        callback(error);
      },
    });
  }

  /** Never rejects: whatever fails destroys the stream. */
  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#hungry && !this.#ended) {
        if (this.#at < this.#batch.length) this.#encode();
        else await this.#take();
      }
    } catch (error) {
      this.stream.destroy(error instanceof Error ? error : new Error("The result failed.", { cause: error }));
    }
    this.#running = false;
  }

  async #take(): Promise<void> {
    const result = await this.#iterator.next();
    if (this.#ended) return;
    if (!this.#opened) this.#text = this.#encoder.open();
    this.#opened = true;
    if (result.done === true) {
      this.#ended = true;
      this.#text += this.#encoder.close();
      this.#flush();
      this.stream.push(null);
      return;
    }
    this.#batch = result.value;
    this.#at = 0;
  }

  #encode(): void {
    while (this.#at < this.#batch.length && this.#hungry) {
      this.#text += this.#encoder.item(this.#batch[this.#at++]!);
      const isFull = this.#text.length >= batchLength;
      if (this.#first ? isFull || this.#encoder.refuses !== true : isFull) this.#flush();
    }
    if (this.#text !== "" && !this.#first) this.#flushing ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#flushing !== undefined) clearImmediate(this.#flushing);
    this.#flushing = undefined;
    const text = this.#text;
    this.#text = "";
    this.#first = false;
    if (text !== "" && !this.stream.destroyed) this.#hungry = this.stream.push(Buffer.from(text));
  }

  #leave(): void {
    if (this.#flushing !== undefined) clearImmediate(this.#flushing);
    if (this.#ended) return;
    this.#ended = true;
    // Not awaited: a source that hangs must not keep the stream from closing.
    this.#iterator.return?.().catch(() => undefined);
  }
}
