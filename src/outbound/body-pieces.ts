import { pipeline, Readable } from "node:stream";
import { FedwayError } from "../errors/fedway-error.ts";
import { answerTooLarge } from "./answer-monitor.ts";
import { codingOf, createDecoder } from "./content-coding.ts";
import type { Download } from "./download.ts";
import { codingError } from "./streamed-answer.ts";

/** How a body is taken apart. */
export interface PieceOptions {
  /** Decoded bytes; more throw `ANSWER_TOO_LARGE`. */
  readonly maxBytes: number;
  /** Gets the decoded bytes that were seen. */
  readonly counter: { bytes: number };
}

const pieceBytes = 65_536;

/**
 * The decoded bytes of a body that is in memory, in pieces, decompressed outside the event loop.
 * @throws FedwayError `ENDPOINT_MALFORMED`, `ENDPOINT_BROKE_OFF`, `ANSWER_TOO_LARGE`
 */
export async function* decodedPieces(got: Download, { maxBytes, counter }: PieceOptions): AsyncIterable<Uint8Array> {
  for await (const piece of decoded(got)) {
    counter.bytes += piece.length;
    if (counter.bytes > maxBytes) throw answerTooLarge(maxBytes);
    yield piece;
  }
}

async function* decoded({ body, headers }: Download): AsyncIterable<Uint8Array> {
  const coding = codingOf(headers);
  if (coding === undefined) {
    throw new FedwayError("ENDPOINT_MALFORMED", "The document has an unknown content coding.", { fault: "malformed" });
  }
  if (coding === "identity" || body.length === 0) {
    yield* pieces(body);
    return;
  }
  const decoder = createDecoder(coding, body[0] ?? 0);
  // A failure on either side destroys the decoder with it, and reading the decoder reports it.
  pipeline(Readable.from(pieces(body)), decoder, () => {});
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw codingError(coding, cause);
  }
}

function* pieces(body: Buffer): Iterable<Buffer> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}
