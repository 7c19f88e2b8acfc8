import { createHash } from "node:crypto";
import { type FileHandle, open, stat } from "node:fs/promises";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { changedInput, invalidInput, type NamedInput } from "./input.ts";

/** What reading a file to its end gives. */
export interface FileFacts {
  /** Bytes of the file as it lies there. */
  readonly bytes: number;
  /** Their sha256, in hex. */
  readonly sha256: string;
  /** All of it is canonical N-Triples: see `Statement`. */
  readonly isCanonical: boolean;
  /** It is gzip. */
  readonly isCompressed: boolean;
  /** When it was changed last, in milliseconds since the epoch. */
  readonly modifiedMs: number;
  /** Lines that were left out, if any were. */
  readonly badLines?: BadLines | undefined;
}

/** Lines that were left out since they cannot be read. */
export interface BadLines {
  readonly count: number;
  /** The first ten. */
  readonly first: readonly { readonly line: number; readonly reason: string }[];
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes of the file, compressed or not, as they are read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** Awaited now and then between two statements. */
  readonly afterChunk?: (() => Promise<void>) | undefined;
}

const chunkBytes = 256 * 1024;

/** The bytes of a file, which is read once. */
export class InputBytes {
  readonly #input: NamedInput;
  readonly #options: ReadOptions;
  readonly #from: number | undefined;
  readonly #hash = createHash("sha256");
  #bytes = 0;
  #isCompressed = false;
  #modifiedMs = 0;

  /** @param from with it: uncompressed bytes from that place on, without facts about the file */
  constructor(input: NamedInput, options: ReadOptions, from?: number) {
    this.#input = input;
    this.#options = options;
    this.#from = from;
  }

  /**
   * Decompressed when the file is gzip, a chunk at a time, which is only there until the next is asked for.
   * @throws FedwayError `DATASET_INVALID` for a file that cannot be read or whose gzip is cut off or damaged; whatever the
   *   signal's reason is when that is aborted
   */
  async *chunks(): AsyncGenerator<Buffer> {
    const { signal } = this.#options;
    let file: FileHandle | undefined;
    try {
      file = await open(this.#input.path, "r");
      this.#modifiedMs = (await file.stat()).mtimeMs;
      this.#isCompressed = this.#from === undefined && (await startsAsGzip(file));
      const stored = chunksOf(file, this.#from ?? 0, (chunk) => this.#count(chunk));
      for await (const chunk of this.#isCompressed ? gunzipped(copies(stored)) : stored) {
        signal?.throwIfAborted();
        yield chunk;
      }
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw asInputError(this.#input, error);
    } finally {
      await file?.close();
    }
  }

  /** What reading all chunks has given. @param isCanonical see `FileFacts` */
  facts(isCanonical: boolean): FileFacts {
    const [isCompressed, modifiedMs] = [this.#isCompressed, this.#modifiedMs];
    return { bytes: this.#bytes, sha256: this.#hash.digest("hex"), isCanonical, isCompressed, modifiedMs };
  }

  #count(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#options.onBytes?.(chunk.length);
    if (this.#from === undefined) this.#hash.update(chunk);
  }
}

/** @throws FedwayError `DATASET_INVALID` for a file that is not what an earlier pass found */
export async function refuseChanged({
  path,
  name,
  bytes,
  modifiedMs,
}: NamedInput & Pick<FileFacts, "bytes" | "modifiedMs">): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.size !== bytes || found.mtimeMs !== modifiedMs) throw changedInput(name);
}

/** Chunks in two buffers by turns, one worked on while the next is read: no memory is taken while a file is read. */
async function* chunksOf(file: FileHandle, from: number, onChunk: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  const buffers = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(chunkBytes)] as const;
  const readInto = async (buffer: Buffer, at: number): Promise<Buffer> =>
    buffer.subarray(0, (await file.read(buffer, 0, buffer.length, at)).bytesRead);
  let next = readInto(buffers[0], from);
  try {
    for (let at = from, isSecond = true; ; isSecond = !isSecond) {
      const chunk = await next;
      if (chunk.length === 0) return;
      at += chunk.length;
      onChunk(chunk);
      next = readInto(buffers[isSecond ? 1 : 0], at);
      // An error is thrown when the chunk is wanted, and must not count as one that nobody sees until then.
      next.catch(() => {});
      yield chunk;
    }
  } finally {
    // The file may be closed only when nothing is read any more; an error of a chunk that nobody wants is no error.
    await next.catch(() => {});
  }
}

/** A stream keeps its chunks. */
async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}

function gunzipped(source: AsyncIterable<Buffer>): Readable {
  // The callback hears of what goes wrong in front; the reader of the last stream hears of it as well.
  return pipeline(source, createGunzip({ chunkSize: chunkBytes }), () => {});
}

async function startsAsGzip(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "this is a folder",
  EACCES: "the file may not be read",
  Z_BUF_ERROR: "the gzip is cut off",
  Z_DATA_ERROR: "the gzip is damaged",
};

function asInputError(input: NamedInput, error: unknown): FedwayError {
  if (error instanceof FedwayError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return invalidInput(input.name, reasons[code] ?? "the file cannot be read", { cause: error });
}
