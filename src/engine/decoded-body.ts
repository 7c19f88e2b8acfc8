import { pipeline, Readable } from "node:stream";
import { codingOf, createDecoder } from "../outbound/content-coding.ts";
import type { SparqlAnswer } from "../outbound/sparql-client.ts";

/** The decoded bytes of an answer that may still be content-encoded; leaving early ends the answer's body. */
export async function* decodedBody({ body, contentEncoding }: SparqlAnswer): AsyncIterable<Uint8Array> {
  const chunks: AsyncIterable<Buffer> = Buffer.isBuffer(body) ? single(body) : body;
  const coding = codingOf({ "content-encoding": contentEncoding });
  if (coding === undefined || coding === "identity") {
    yield* chunks;
    return;
  }
  const rest = chunks[Symbol.asyncIterator]();
  const first = await rest.next();
  if (first.done) return;
  const decoder = createDecoder(coding, first.value[0] ?? 0);
  // A failure on either side destroys the decoder with it, and reading the decoder reports it.
  pipeline(Readable.from(prepend(first.value, rest)), decoder, () => {});
  yield* decoder as AsyncIterable<Uint8Array>;
}

async function* single(chunk: Buffer): AsyncIterable<Buffer> {
  yield chunk;
}

async function* prepend(first: Buffer, rest: AsyncIterator<Buffer>): AsyncIterable<Buffer> {
  yield first;
  yield* { [Symbol.asyncIterator]: () => rest };
}
