import { chmod, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "../make-folder.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { storeFailed } from "./bounds.ts";
import { ownerOnly } from "./sqlite/database.ts";
import { isBusy, sqliteFailed } from "./sqlite/sqlite-errors.ts";

/** The process that owns a data folder. */
export interface DataFolderHolder {
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Where it answers requests, once it does. */
  readonly url?: string;
}

const lockFile = "owner.lock";
const holderFile = "owner.json";
const mostHolderBytes = 4_096;

/**
 * Makes this process the one owner of a data folder, which is created where it is missing. The lock is a lock on a file
 * that the operating system takes back when the process ends, however it ends.
 *
 * @throws FedwayError `STORE_HELD` with who holds it, `STORE_FAILED` when the folder cannot be used
 */
export async function holdDataFolder(path: string, startedAt = new Date()) {
  await createFolder(path);
  const lock = await takeLock(path);
  const holder: DataFolderHolder = { pid: process.pid, startedAt: startedAt.toISOString() };
  try {
    await writeHolder(path, holder);
  } catch (error) {
    lock.close();
    throw unusable(path, error);
  }
  return {
    path,
    /** Announces to other processes the URL at which this one answers requests. */
    announce: (url: string): Promise<void> => writeHolder(path, { ...holder, url }),
    async release(): Promise<void> {
      if (!lock.isOpen) return;
      await rm(join(path, holderFile), { force: true });
      lock.close();
    },
  };
}

/** Present holder of a data folder; undefined when it is free. @throws FedwayError `STORE_FAILED` when it cannot be read */
export async function dataFolderHolder(path: string): Promise<DataFolderHolder | "unknown" | undefined> {
  try {
    await stat(join(path, lockFile));
  } catch {
    return undefined;
  }
  return isLocked(path) ? ((await readHolder(path)) ?? "unknown") : undefined;
}

/** Reading needs the weakest lock there is, which only the owner's exclusive one keeps out. */
function isLocked(path: string): boolean {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(path, lockFile), { readOnly: true });
    lock.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw sqliteFailed(error);
  } finally {
    lock?.close();
  }
}

async function takeLock(path: string): Promise<DatabaseSync> {
  let lock: DatabaseSync | undefined;
  try {
    const file = join(path, lockFile);
    await (await open(file, "a", ownerOnly)).close();
    await chmod(file, ownerOnly);
    lock = new DatabaseSync(file);
    // Long enough for a process that only looks who holds the folder.
    lock.exec("PRAGMA busy_timeout = 300; BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock?.close();
    throw isBusy(error) ? held(await readHolder(path)) : unusable(path, error);
  }
}

function held(holder: DataFolderHolder | undefined): FedwayError {
  if (holder === undefined) {
    return new FedwayError("STORE_HELD", "Another process holds the data folder.", {
      next: "Stop the other process, or choose another data folder with FEDWAY_DATA_DIR.",
    });
  }
  const { pid, startedAt, url } = holder;
  const where = url === undefined ? "" : ` and answers at ${url}`;
  return new FedwayError("STORE_HELD", `Process ${pid} holds the data folder since ${startedAt}${where}.`, {
    next:
      url === undefined
        ? `Stop process ${pid}, or choose another data folder with FEDWAY_DATA_DIR.`
        : `Talk to the running service at ${url}, stop process ${pid}, or choose another folder with FEDWAY_DATA_DIR.`,
  });
}

async function createFolder(path: string): Promise<void> {
  try {
    await makeFolder(path, 0o700);
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): FedwayError {
  return storeFailed(
    `The data folder ${path} cannot be created or written to.`,
    error,
    "Set FEDWAY_DATA_DIR to a folder that this user may create or write to.",
  );
}

async function writeHolder(path: string, holder: DataFolderHolder): Promise<void> {
  const file = join(path, holderFile);
  const next = `${file}.${process.pid}`;
  await writeFile(next, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  await rename(next, file);
}

/** The owner's record of itself; undefined while a new owner has not yet replaced the record of a dead one. */
async function readHolder(path: string): Promise<DataFolderHolder | undefined> {
  try {
    const file = join(path, holderFile);
    if ((await stat(file)).size > mostHolderBytes) return undefined;
    const holder: unknown = JSON.parse(await readFile(file, "utf8"));
    return isHolder(holder) && isAlive(holder.pid) ? holder : undefined;
  } catch {
    return undefined;
  }
}

function isHolder(value: unknown): value is DataFolderHolder {
  if (typeof value !== "object" || value === null || !("pid" in value) || !("startedAt" in value)) return false;
  const urlFits = !("url" in value) || typeof value.url === "string";
  return Number.isSafeInteger(value.pid) && typeof value.startedAt === "string" && urlFits;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, under another account.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
