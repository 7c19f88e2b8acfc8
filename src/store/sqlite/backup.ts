import { type FileHandle, link, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { FedwayError } from "../../errors/fedway-error.ts";
import { storeFailed } from "../bounds.ts";
import { ownerOnly } from "./database.ts";
import { sqliteFailed } from "./sqlite-errors.ts";

/** Result of a backup. */
export interface BackupReport {
  /** Size of the new file. */
  readonly bytes: number;
}

/** All pages in one step: one read transaction, so that a busy writer cannot make the copy start again. */
const allPages = 2_147_483_647;

/**
 * Copies a database, also one that another process writes to, as it is at one moment into a new file. The copy runs
 * outside the event loop; the file appears under its name only when it is complete and on the disk.
 *
 * @throws FedwayError `REQUEST_INVALID` when there is no such database or the target exists, `STORE_FAILED` when the
 * copy cannot be made
 */
export async function backupDatabase(source: string, target: string): Promise<BackupReport> {
  if (await exists(target)) throw targetExists();
  if (!(await exists(source))) throw new FedwayError("REQUEST_INVALID", "There is no database to back up.");
  const unfinished = `${target}.${process.pid}.partial`;
  try {
    await (await open(unfinished, "wx", ownerOnly)).close();
    await copyDatabase(source, unfinished);
    await flush(unfinished);
    // A link fails where a file exists, a rename would replace it.
    await link(unfinished, target);
    await flush(dirname(target));
    return { bytes: (await stat(target)).size };
  } catch (error) {
    throw failure(error);
  } finally {
    await rm(unfinished, { force: true });
  }
}

async function copyDatabase(source: string, target: string): Promise<void> {
  const database = new DatabaseSync(source, { readOnly: true });
  try {
    database.exec("PRAGMA busy_timeout = 2000");
    await backup(database, target, { rate: allPages });
  } finally {
    database.close();
  }
}

async function flush(path: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, "r");
    await handle.sync();
  } finally {
    await handle?.close();
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw failure(error);
  }
}

function targetExists(): FedwayError {
  return new FedwayError("REQUEST_INVALID", "The target of the backup exists already.", {
    next: "Name a new file; a backup never replaces one.",
  });
}

function failure(error: unknown): FedwayError {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EEXIST") return targetExists();
  if (code === "ENOENT" || code === "EACCES" || code === "ENOTDIR" || code === "EROFS") {
    return storeFailed("The backup cannot be written there.", error, "Name a file in a folder that may be written to.");
  }
  if (code === "ENOSPC") return storeFailed("There is no room for the backup.", error);
  return sqliteFailed(error);
}
