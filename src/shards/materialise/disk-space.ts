import { statfs } from "node:fs/promises";
import { FedwayError } from "../../errors/fedway-error.ts";

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
