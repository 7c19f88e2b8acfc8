import { createHash } from "node:crypto";
import { type FileHandle, stat } from "node:fs/promises";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { openToRead } from "../bounded-file.ts";
import { changedInput, invalidInput, type NamedInput } from "./input.ts";

/** Facts about a file that was read to its end. */
export interface FileFacts {
  /** Bytes of the file as it lies there. */
  readonly bytes: number;
  /** Their sha256, in hex. */
  readonly sha256: string;
  /** It is gzip. */
  readonly isCompressed: boolean;
  /** When it was changed last, in milliseconds since the epoch. */
  readonly modifiedMs: number;
  /** Lines that were left out, if any were. */
  readonly badLines?: BadLines | undefined;
}

/** Lines, in documents statements, that were left out since they cannot be read. */
export interface BadLines {
  readonly count: number;
  /** The first ten. */
  readonly first: readonly { readonly line: number; readonly reason: string }[];
}

const mostNamed = 10;

/** Counts what is left out of an input, and names the first. */
export class LeftOut {
  #count = 0;
  readonly #first: BadLines["first"][number][] = [];

  add(line: number, reason: string): void {
    this.#count += 1;
    if (this.#first.length < mostNamed) this.#first.push({ line, reason });
  }

  get badLines(): BadLines | undefined {
    return this.#count === 0 ? undefined : { count: this.#count, first: this.#first };
  }
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes of the file, compressed or not, as they are read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** Awaited now and then between two statements. */
  readonly afterChunk?: (() => Promise<void>) | undefined;
}

const chunkBytes = 128 * 1024;

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
      file = await openToRead(this.#input.path);
      const found = await file.stat();
      if (!found.isFile()) throw invalidInput(this.#input.name, "it is no regular file; give the path of one");
      this.#modifiedMs = found.mtimeMs;
      this.#isCompressed = this.#from === undefined && (await startsAsGzip(file));
      const stored = this.#stored(file);
      for await (const chunk of this.#isCompressed ? gunzipped(stored) : stored) {
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

  /** Facts from reading all chunks. */
  facts(): FileFacts {
    const [isCompressed, modifiedMs] = [this.#isCompressed, this.#modifiedMs];
    return { bytes: this.#bytes, sha256: this.#hash.digest("hex"), isCompressed, modifiedMs };
  }

  /** All chunks lie in one buffer: a file of gigabytes takes no memory anew. */
  async *#stored(file: FileHandle): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (let at = this.#from ?? 0; ; ) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      this.#bytes += bytesRead;
      this.#options.onBytes?.(bytesRead);
      const chunk = buffer.subarray(0, bytesRead);
      if (this.#from === undefined) this.#hash.update(chunk);
      // A stream keeps its chunks.
      yield this.#isCompressed ? Buffer.from(chunk) : chunk;
    }
  }
}

/** @throws FedwayError `DATASET_INVALID` for a file that is not what an earlier pass found */
export async function refuseChanged({ path, name, bytes, modifiedMs }: NamedInput & FileFacts): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.size !== bytes || found.mtimeMs !== modifiedMs) throw changedInput(name);
}

function gunzipped(source: AsyncIterable<Buffer>): Readable {
  // The callback receives failures of the source; the reader of the last stream receives them as well.
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
