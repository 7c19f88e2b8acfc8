import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { visible } from "../html.ts";

/** Writes text; resolves when it is handed over. A reader that has left (EPIPE) is fine. */
export async function write(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write(text, () => resolve());
  });
}

const isEpipe = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EPIPE";

/** Writes a whole body and leaves the stream open. A reader that has left is fine. */
export async function pour(body: Buffer | Readable, stream: Writable): Promise<void> {
  const source = Buffer.isBuffer(body) ? Readable.from([body]) : body;
  await pipeline(source, stream, { end: false }).catch((error: unknown) => {
    if (!isEpipe(error)) throw error;
  });
}

/** Foreign text on one line, without the characters that would control a terminal. */
export const oneLine = (text: string): string => visible(text.replaceAll(/\s+/g, " ").trim());
