import { pipeline, Readable, type Transform } from "node:stream";
import zlib from "node:zlib";
import { FedwayError } from "../errors/fedway-error.ts";
import { weightedList } from "../results/negotiation.ts";
import { headerOf, type ResponseHeaders } from "./media-types.ts";
import { brokeOff } from "./refusals.ts";

/** Content codings (RFC 9110, section 8.4.1) that Fedway can undo. */
export type ContentCoding = "identity" | "gzip" | "deflate" | "br" | "zstd";

const codings: Readonly<Record<string, ContentCoding>> = {
  "": "identity",
  identity: "identity",
  gzip: "gzip",
  "x-gzip": "gzip",
  deflate: "deflate",
  br: "br",
  zstd: "zstd",
};

/** RFC 9659: content-coded zstd frames need at most 8 MiB of window; larger ones are a memory bomb. */
const zstdOptions = { params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } };

/** The coding of a response; undefined for unknown or stacked codings. */
export function codingOf(headers: ResponseHeaders): ContentCoding | undefined {
  const value = headerOf(headers, "content-encoding");
  if (value === undefined) return "identity";
  const name = value.trim().toLowerCase();
  return Object.hasOwn(codings, name) ? codings[name] : undefined;
}

/** An Accept-Encoding value names this coding and does not forbid it with `q=0`. */
export function acceptsCoding(acceptEncoding: string, coding: ContentCoding): boolean {
  if (coding === "identity") return true;
  const named = weightedList(acceptEncoding).find(({ name }) => [coding, "*", `x-${coding}`].includes(name));
  return named !== undefined && named.weight > 0;
}

/** "deflate" is zlib-wrapped by the standard and raw in practice; the first byte shows which (RFC 1950, CM = 8). */
const isZlibWrapped = (firstByte: number): boolean => (firstByte & 0x0f) === 8;

/** A streaming decoder for a body that begins with `firstByte`. */
export function createDecoder(coding: Exclude<ContentCoding, "identity">, firstByte: number): Transform & zlib.Zlib {
  const options = { chunkSize: 65_536 };
  switch (coding) {
    case "gzip":
      return zlib.createGunzip(options);
    case "deflate":
      return isZlibWrapped(firstByte) ? zlib.createInflate(options) : zlib.createInflateRaw(options);
    case "br":
      return zlib.createBrotliDecompress(options);
    default:
      return zlib.createZstdDecompress({ ...options, ...zstdOptions });
  }
}

/**
 * Decodes a small body at once; much cheaper than a stream.
 * @param maxBytes decoded bytes allowed; more throw `ERR_BUFFER_TOO_LARGE`
 * @throws whatever zlib throws on broken data, and an error where bytes follow the end of the compressed ones
 */
export function decodeWhole(coding: ContentCoding, body: Buffer, maxBytes: number): Buffer {
  if (coding === "identity") return body;
  const { buffer, engine } = decodedAtOnce(coding, body, { maxOutputLength: Math.max(1, maxBytes), info: true });
  if (engine.bytesWritten < body.length) throw trailingBytes();
  return buffer;
}

/** The result of zlib with its option `info`, which its types leave out: the bytes, and the decoder that took `bytesWritten` of the body. */
interface Decoded {
  readonly buffer: Buffer;
  readonly engine: zlib.Zlib;
}

function decodedAtOnce(
  coding: Exclude<ContentCoding, "identity">,
  body: Buffer,
  options: Pick<zlib.ZstdOptions, "maxOutputLength" | "info">,
): Decoded {
  const decode = (): unknown => {
    switch (coding) {
      case "gzip":
        return zlib.gunzipSync(body, options);
      case "deflate":
        return isZlibWrapped(body[0] ?? 0) ? zlib.inflateSync(body, options) : zlib.inflateRawSync(body, options);
      case "br":
        return zlib.brotliDecompressSync(body, options);
      default:
        return zlib.zstdDecompressSync(body, { ...options, ...zstdOptions });
    }
  };
  return decode() as Decoded;
}

/** Decoders but for that of gzip drop what follows the end of their stream. */
export const trailingBytes = (): Error => new Error("More bytes follow the end of the compressed ones.");

/** Bytes of an error body that are read. */
export const maxErrorBytes = 8192;
export const maxErrorDecodedBytes = 65_536;

/** The beginning of an error body as text; empty when it cannot be decoded. */
export function errorText(body: Buffer, headers: ResponseHeaders, bytes = maxErrorBytes): string {
  try {
    return decodeWhole(codingOf(headers) ?? "identity", body, maxErrorDecodedBytes).toString("utf8", 0, bytes);
  } catch {
    return "";
  }
}

/** The decoded bytes of an answer that may still be content-encoded; leaving early ends the answer's body. */
export const decodedBody = ({
  body,
  contentEncoding,
}: {
  readonly body: Buffer | Readable;
  readonly contentEncoding: string;
}) => decodedPieces(body, codingOf({ "content-encoding": contentEncoding }) ?? "identity");

const pieceBytes = 65_536;

/**
 * The decoded bytes of a body, decompressed outside the event loop. A body without a coding is given back as it is, so that
 * a reader that fails can end it with its error.
 * @throws FedwayError `ENDPOINT_MALFORMED`, `ENDPOINT_BROKE_OFF`, and what the body fails with
 */
export function decodedPieces(body: Buffer | Readable, coding: ContentCoding): AsyncIterable<Uint8Array> {
  const chunks: AsyncIterable<Buffer> = Buffer.isBuffer(body) ? inPieces(body) : body;
  return coding === "identity" ? chunks : decompressed(chunks, coding);
}

async function* decompressed(
  chunks: AsyncIterable<Buffer>,
  coding: Exclude<ContentCoding, "identity">,
): AsyncIterable<Uint8Array> {
  const rest = chunks[Symbol.asyncIterator]();
  const first = await rest.next();
  if (first.done === true) return;
  const decoder = createDecoder(coding, first.value[0] ?? 0);
  // A failure on either side destroys the decoder with it, and reading the decoder reports it.
  pipeline(Readable.from(prepend(first.value, rest)), decoder, () => {});
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw cause instanceof FedwayError ? cause : codingError(coding, cause);
  }
}

async function* inPieces(body: Buffer): AsyncIterable<Buffer> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}

async function* prepend(first: Buffer, rest: AsyncIterator<Buffer>): AsyncIterable<Buffer> {
  yield first;
  yield* { [Symbol.asyncIterator]: () => rest };
}

/** The error of a body that its content coding cannot be undone of. */
export function codingError(coding: string, cause: unknown): FedwayError {
  if (cause instanceof Error && "code" in cause && cause.code === "Z_BUF_ERROR") {
    return brokeOff("The endpoint's compressed answer is cut off.", { fault: "malformed", cause });
  }
  return new FedwayError("ENDPOINT_MALFORMED", `The endpoint's answer is not valid ${coding}.`, {
    fault: "malformed",
    next: "Ask the endpoint's operator.",
    cause,
  });
}

/** The answer's Content-Encoding is none that can be read. */
export function unknownCoding(headers: ResponseHeaders): FedwayError {
  const name = (headerOf(headers, "content-encoding") ?? "").slice(0, 40).replaceAll(/[^\w,. -]/g, "");
  return new FedwayError("ENDPOINT_MALFORMED", `The endpoint's answer has the unknown content coding "${name}".`, {
    fault: "malformed",
    next: "Ask the endpoint's operator.",
  });
}
