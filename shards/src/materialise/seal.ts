import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, statfs } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { isThere } from "./build-folder.ts";

/** `onBytes` gets the number of bytes of lines as they are read. */
type ReadOptions = { readonly signal?: AbortSignal | undefined; readonly onBytes?: (bytes: number) => void };

const chunkBytes = 1024 * 1024;

/**
 * Compresses a file if that is asked for (to `<path>.gz`, the plain one is removed), and returns its size and checksum. A
 * file that was compressed before is not compressed again.
 */
export async function sealFile(path: string, gzip: boolean, { signal, onBytes }: ReadOptions) {
  const sealed = gzip ? `${path}.gz` : path;
  if (gzip && (await isThere(path))) {
    const aside = `${sealed}.part`;
    const source = createReadStream(path, { highWaterMark: chunkBytes });
    source.on("data", (chunk) => onBytes?.(chunk.length));
    await pipeline(source, createGzip(), createWriteStream(aside), { signal });
    await rename(aside, sealed);
    await rm(path);
  }
  return checksumOf(sealed, { signal, ...(onBytes !== undefined && !gzip && { onBytes }) });
}

/** Size and sha256 of a file. */
export async function checksumOf(path: string, { signal, onBytes }: ReadOptions = {}) {
  const hash = createHash("sha256");
  let bytes = 0;
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: chunkBytes });
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    hash.update(chunk);
    bytes += chunk.length;
    onBytes?.(chunk.length);
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Errors of the file system that say that nothing more fits: the disk, a quota, a limit on file sizes. */
const fullCodes = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6).toLocaleString("en")} MB`;

/** Bytes that this process may still write to the file system of a folder. */
export async function freeBytesAt(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** @throws FedwayError `DISK_FULL` when there are fewer bytes than needed */
export function needRoom(neededBytes: number, freeBytes: number): void {
  if (freeBytes >= neededBytes) return;
  throw new FedwayError(
    "DISK_FULL",
    `The shards need ${megabytes(neededBytes)} while they are built; ${megabytes(freeBytes)} are free.`,
    { next: "Make room, or choose an output folder on another disk." },
  );
}

/** An error of the file system that says that the disk is full, as such; others as they are. */
export function asDiskFull(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || !fullCodes.has(String(error.code))) return error;
  return new FedwayError("DISK_FULL", "The disk became full while the shards were written; nothing was kept.", {
    next: "Make room, or choose an output folder on another disk.",
    cause: error,
  });
}
