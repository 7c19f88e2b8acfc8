import type { Transform } from "node:stream";
import zlib from "node:zlib";
import { headerOf, type ResponseHeaders } from "./headers.ts";

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
  for (const part of acceptEncoding.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    if (name !== coding && name !== "*" && name !== `x-${coding}`) continue;
    return !parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter));
  }
  return false;
}

/** "deflate" is zlib-wrapped by the book and raw in the wild; the first byte tells (RFC 1950, CM = 8). */
const isZlibWrapped = (firstByte: number): boolean => (firstByte & 0x0f) === 8;

/** A streaming decoder for a body that begins with `firstByte`. */
export function createDecoder(coding: Exclude<ContentCoding, "identity">, firstByte: number): Transform {
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
 * @throws whatever zlib throws on broken data
 */
export function decodeWhole(coding: ContentCoding, body: Buffer, maxBytes: number): Buffer {
  const options = { maxOutputLength: Math.max(1, maxBytes) };
  switch (coding) {
    case "identity":
      return body;
    case "gzip":
      return zlib.gunzipSync(body, options);
    case "deflate":
      return isZlibWrapped(body[0] ?? 0) ? zlib.inflateSync(body, options) : zlib.inflateRawSync(body, options);
    case "br":
      return zlib.brotliDecompressSync(body, options);
    default:
      return zlib.zstdDecompressSync(body, { ...options, ...zstdOptions });
  }
}
