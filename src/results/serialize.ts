import { Readable } from "node:stream";
import { FedwayError } from "../errors/fedway-error.ts";
import { createEncodedStream } from "./encoded-stream.ts";
import type { ResultFormat } from "./formats.ts";
import type { BindingsResult, BooleanResult, QueryResult } from "./model.ts";
import { type ParseOptions, parseAnswer } from "./parse.ts";
import { createJsonLdEncoder, createNTriplesEncoder, createTurtleEncoder } from "./serialize-graphs.ts";
import { csvSyntax, jsonSyntax, type TupleSyntax, tsvSyntax, xmlSyntax } from "./serialize-tuples.ts";

const tupleSyntaxes: ReadonlyMap<ResultFormat["name"], TupleSyntax> = new Map([
  ["json", jsonSyntax],
  ["xml", xmlSyntax],
  ["csv", csvSyntax],
  ["tsv", tsvSyntax],
]);

const graphEncoders = new Map([
  ["turtle", createTurtleEncoder],
  ["ntriples", createNTriplesEncoder],
  ["jsonld", createJsonLdEncoder],
]);

/**
 * The bytes of a result. Backpressure reaches the result's stream; its error destroys the byte stream; destroying the
 * byte stream releases the result.
 * @throws FedwayError `NOT_ACCEPTABLE` when the format cannot hold this kind of answer
 */
export function serializeResult(result: QueryResult, format: ResultFormat): Readable {
  if (result.kind === "quads") {
    const createEncoder = graphEncoders.get(format.name);
    if (createEncoder === undefined) throw notAcceptable(result, format);
    return createEncodedStream(result.quads, createEncoder());
  }
  return serializeTuples(result, format);
}

function serializeTuples(result: BindingsResult | BooleanResult, format: ResultFormat): Readable {
  const syntax = tupleSyntaxes.get(format.name);
  if (syntax === undefined) throw notAcceptable(result, format);
  if (result.kind === "bindings") return createEncodedStream(result.rows, syntax.rows(result.variables));
  if (syntax.boolean === undefined) throw notAcceptable(result, format);
  return Readable.from([Buffer.from(syntax.boolean(result.value))], { objectMode: false });
}

const notAcceptable = (result: QueryResult, format: ResultFormat): FedwayError =>
  new FedwayError("NOT_ACCEPTABLE", `${format.mediaType} cannot hold the answer: it is ${result.kind}.`);

/**
 * An answer in another format, as it arrives.
 * @throws what `parseAnswer` and `serializeResult` throw; later failures destroy the stream
 */
export async function transcode(
  bytes: AsyncIterable<Uint8Array>,
  from: ParseOptions,
  to: ResultFormat,
): Promise<Readable> {
  const result = await parseAnswer(bytes, from);
  try {
    return serializeResult(result, to);
  } catch (error) {
    await release(result);
    throw error;
  }
}

async function release(result: QueryResult): Promise<void> {
  if (result.kind === "bindings") await result.rows[Symbol.asyncIterator]().return?.();
  if (result.kind === "quads") await result.quads[Symbol.asyncIterator]().return?.();
}
