import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Why a file was not read. */
export type FileFault = "missing" | "not a file" | "too large";

/** Opens what a user named for reading: a pipe without a writer, which would hold a thread, is not waited for. */
export const openToRead = (path: string): Promise<FileHandle> => open(path, constants.O_RDONLY | constants.O_NONBLOCK);

/**
 * A regular file of at most `maxBytes`; no more is read, however the file grows meanwhile.
 * @throws what `faultOf` makes of the reason
 */
export async function readBoundedFile(
  path: string,
  maxBytes: number,
  faultOf: (fault: FileFault, cause?: unknown) => Error,
): Promise<Buffer> {
  const file = await openToRead(path).catch((cause: unknown) => {
    throw faultOf("missing", cause);
  });
  try {
    const found = await file.stat();
    if (!found.isFile()) throw faultOf("not a file");
    if (found.size > maxBytes) throw faultOf("too large");
    const buffer = Buffer.alloc(found.size);
    let filled = 0;
    for (let bytesRead = -1; filled < buffer.length && bytesRead !== 0; filled += bytesRead) {
      ({ bytesRead } = await file.read(buffer, filled, buffer.length - filled, filled));
    }
    return buffer.subarray(0, filled);
  } finally {
    await file.close();
  }
}
