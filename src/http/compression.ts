import { finished, type Readable } from "node:stream";
import { promisify } from "node:util";
import {
  type BrotliCompress,
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  type Gzip,
  gzip,
} from "node:zlib";
import { weightedList } from "../results/negotiation.ts";

/** A content coding that Fedway applies itself. */
export type ContentCoding = "gzip" | "br";

/** Bodies up to this many bytes are sent as they are: the headers weigh more than what would be saved. */
export const smallestCompressedBytes = 1024;

const flushEveryMs = 50;
const gzipOptions = { level: 1 };
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** The coding to apply for an Accept-Encoding header (RFC 9110, section 12.5.3); undefined is identity. Ties go to gzip. */
export function chooseCoding(header: string | undefined): ContentCoding | undefined {
  if (header === undefined || header === "" || header === "identity") return undefined;
  const accepted = new Map(weightedList(header).map(({ name, weight }) => [name, weight]));
  const any = accepted.get("*") ?? 0;
  const gzipWeight = accepted.get("gzip") ?? accepted.get("x-gzip") ?? any;
  const brotliWeight = accepted.get("br") ?? any;
  const best = Math.max(gzipWeight, brotliWeight);
  if (best === 0 || (accepted.get("identity") ?? 0) > best) return undefined;
  return gzipWeight === best ? "gzip" : "br";
}

const gzipWhole = promisify<Buffer, typeof gzipOptions, Buffer>(gzip);
const brotliWhole = promisify<Buffer, typeof brotliOptions, Buffer>(brotliCompress);

/** A whole body, compressed off the event loop. */
export async function compressWhole(body: Buffer, coding: ContentCoding): Promise<Buffer> {
  return coding === "gzip" ? gzipWhole(body, gzipOptions) : brotliWhole(body, brotliOptions);
}

/** Flushes soon after a write, but not after every write: many small writes would cost the compression its effect. */
function flushing(compressor: Gzip | BrotliCompress): () => void {
  let timer: NodeJS.Timeout | undefined;
  let first = true;
  compressor.once("close", () => clearTimeout(timer));
  return () => {
    if (timer) return;
    const flush = (): void => {
      timer = undefined;
      if (!compressor.destroyed && !compressor.writableEnded) compressor.flush();
    };
    timer = setTimeout(flush, first ? 0 : flushEveryMs);
    first = false;
  };
}

/**
 * A body compressed as it passes. The first bytes leave at once, later ones after at most 50 ms; back-pressure goes
 * through; a failing source fails the result with the same error, and an abandoned result destroys the source.
 */
export function compressStream(source: Readable, coding: ContentCoding): Readable {
  const compressor = coding === "gzip" ? createGzip(gzipOptions) : createBrotliCompress(brotliOptions);
  const flushSoon = flushing(compressor);
  source.on("data", (chunk: Buffer) => {
    if (!compressor.write(chunk)) source.pause();
    flushSoon();
  });
  compressor.on("drain", () => source.resume());
  // Also reports a source that has failed already.
  finished(source, (error) => {
    if (error) compressor.destroy(error);
    else compressor.end();
  });
  compressor.once("close", () => source.destroy());
  return compressor;
}
