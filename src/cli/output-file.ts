import { constants } from "node:fs";
import { access, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { UsageError } from "./cli-io.ts";

/**
 * Refuses a file that could not be written later, before the work is done that goes into it. `option` named it.
 * @throws UsageError
 */
export async function checkOutputFile(path: string, option = "--output"): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  if (existing?.isDirectory() === true) throw new UsageError(`"${path}" is a folder; ${option} names a file`);
  await access(dirname(path), constants.W_OK).catch((cause: unknown) => {
    throw new UsageError(`"${path}" cannot be written: its folder is missing or may not be written to`, { cause });
  });
}

/** Writes or replaces a file; under its name it is never seen half-written. */
export async function writeOutputFile(path: string, body: Buffer | Readable): Promise<void> {
  const unfinished = `${path}.${process.pid}.partial`;
  try {
    const file = await open(unfinished, "w");
    await pipeline(Buffer.isBuffer(body) ? [body] : body, file.createWriteStream());
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}
