import { createHash } from "node:crypto";
import { type FileHandle, open, stat } from "node:fs/promises";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { FedwayError } from "../../errors/fedway-error.ts";
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
}

/** What there is to know of a file whose reading was ended. */
export const noFacts: FileFacts = { bytes: 0, sha256: "", isCanonical: false, isCompressed: false, modifiedMs: 0 };

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Told of bytes of the file, compressed or not, as they are read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** Awaited now and then by readers of statements, between two of them. */
  readonly afterChunk?: (() => Promise<void>) | undefined;
}

const chunkBytes = 256 * 1024;

/**
 * The bytes of a file, decompressed when it is gzip, a chunk at a time; returns the facts about the file. A chunk is only
 * there until the next is asked for.
 * @throws FedwayError `DATASET_INVALID` for a file that cannot be read or whose gzip is cut off or damaged; whatever the
 *   signal's reason is when that is aborted
 */
export async function* readBytes(input: NamedInput, options: ReadOptions = {}): AsyncGenerator<Buffer, FileFacts> {
  const { signal, onBytes } = options;
  const hash = createHash("sha256");
  let bytes = 0;
  const onChunk = (chunk: Buffer): void => {
    bytes += chunk.length;
    onBytes?.(chunk.length);
    hash.update(chunk);
  };
  let file: FileHandle | undefined;
  try {
    file = await open(input.path, "r");
    const { mtimeMs: modifiedMs } = await file.stat();
    const isCompressed = await startsAsGzip(file);
    for await (const chunk of isCompressed ? gunzipped(keptChunks(file, onChunk)) : chunksOf(file, 0, onChunk)) {
      signal?.throwIfAborted();
      yield chunk;
    }
    return { bytes, sha256: hash.digest("hex"), isCanonical: false, isCompressed, modifiedMs };
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw asInputError(input, error);
  } finally {
    await file?.close();
  }
}

/** The bytes of a file that is not compressed, from a place on, without facts about it. Otherwise as `readBytes`. */
export async function* readBytesFrom(
  input: NamedInput,
  from: number,
  { signal, onBytes }: ReadOptions,
): AsyncGenerator<Buffer> {
  let file: FileHandle | undefined;
  try {
    file = await open(input.path, "r");
    for await (const chunk of chunksOf(file, from, ({ length }) => onBytes?.(length))) {
      signal?.throwIfAborted();
      yield chunk;
    }
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw asInputError(input, error);
  } finally {
    await file?.close();
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
      // An error is told when the chunk is wanted, and must not count as one that nobody sees until then.
      next.catch(() => {});
      yield chunk;
    }
  } finally {
    // The file may be closed only when nothing is read any more; an error of a chunk that nobody wants is no error.
    await next.catch(() => {});
  }
}

/** Chunks that a stream may keep. */
async function* keptChunks(file: FileHandle, onChunk: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunksOf(file, 0, onChunk)) yield Buffer.from(chunk);
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
