import { rename, rm, stat, open, readFile, writeFile, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type Guard, type Guarded, isCount, isListOf, isObject, isShape, isText, parsedAs } from "../guards.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";

/** Where a build works. */
export type BuildFolder = ReturnType<typeof placeOf>;

export function placeOf(target: string) {
  const full = resolve(target);
  const building = `${full}.building`;
  const result = join(building, "result");
  return {
    target: full,
    /** Beside the target, on the same disk. */
    building,
    /** Triples by range, until they are sorted. */
    parts: join(building, "parts"),
    /** Folder that becomes the target. */
    result,
    shards: join(result, "shards"),
    /** Folder in which the target's former content waits to be removed. */
    replaced: `${full}.replaced`,
  };
}

/** Removes a folder, again when a reader that does not yet know of the build's end puts a file there meanwhile. */
export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 5 });

/** Renames the result to the target. After a kill between the two renames `recoverTarget` restores the old target. */
export async function publish(place: BuildFolder): Promise<void> {
  const { target, replaced, result, building } = place;
  await syncPath(result);
  if (await isThere(target)) await rename(target, replaced);
  await rename(result, target);
  await syncPath(dirname(target));
  await removeFolder(replaced);
  await removeFolder(building);
}

/** Repairs what a kill in the middle of `publish` left behind. */
export async function recoverTarget({ target, replaced }: BuildFolder): Promise<void> {
  if (!(await isThere(replaced))) return;
  if (await isThere(target)) await removeFolder(replaced);
  else await rename(replaced, target);
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const isWrittenShard = isShape({
  key: isText,
  /** Its file's name without the ending. */
  id: isText,
  /** Bytes of the file that count; what lies behind is of a range that was not finished. */
  bytes: isCount,
  triples: isCount,
});

/** A shard as far as it is written. */
export type WrittenShard = Guarded<typeof isWrittenShard>;

const isState = isShape({
  /** Identifies inputs and rules: another build does not resume from it. */
  fingerprint: isText,
  /** The first of the ranges that are not yet in the shards. */
  nextRange: isCount,
  /** By number. */
  shards: isListOf(isWrittenShard),
});

/** How far a build has come once its rules are known. */
export type BuildState = Guarded<typeof isState>;

const isPlan = isShape({ fingerprint: isText });

const syncedAtOnce = 16;
const names = { plan: "plan.json", state: "state.json" } as const;

/**
 * Distinguishes runs of the operating system. Files that a process wrote before it was killed are there for the next
 * process, on the disk or not; after a power failure, or on another machine, it may not be.
 */
const bootId = (): Promise<string | undefined> =>
  readFile("/proc/sys/kernel/random/boot_id", "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );

/** The fingerprint of the data gathered in a folder; undefined when there is nothing to resume. */
export const readPlan = async (folder: string): Promise<string | undefined> =>
  (await readNote(folder, names.plan, isPlan))?.fingerprint;

/** Notes the data gathered in a folder from now on. */
export const writePlan = (folder: string, fingerprint: string): Promise<void> =>
  writeNote(join(folder, names.plan), { fingerprint });

/** True if ranges may have been taken out of a folder. */
export const hasState = (folder: string): Promise<boolean> => isThere(join(folder, names.state));

/** The state that a build was left in; undefined when there is none to resume. */
export async function readState(folder: string, fingerprint: string): Promise<BuildState | undefined> {
  const found = await readNote(folder, names.state, isState);
  return found?.fingerprint === fingerprint ? found : undefined;
}

/** Replaces the state: a reader finds the old one or the new one. */
export const writeState = (folder: string, state: BuildState): Promise<void> =>
  writeNote(join(folder, names.state), state);

async function readNote<Note>(folder: string, name: string, holds: Guard<Note>): Promise<Note | undefined> {
  const text = await readFile(join(folder, name), "utf8").catch(() => "");
  const found = parsedAs(text, isObject);
  const isOfThisBoot = typeof found?.["boot"] === "string" && found["boot"] === (await bootId());
  return isOfThisBoot && holds(found) ? found : undefined;
}

async function writeNote(path: string, note: object): Promise<void> {
  await writeFile(`${path}.part`, JSON.stringify({ ...note, boot: await bootId() }));
  await rename(`${path}.part`, path);
}

/** Writes a file aside, and gives it its name when it is on the disk. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const aside = `${path}.part`;
  const file = await open(aside, "w");
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(aside, path);
}

/** Flushes a file, or the names in a folder, to the disk. */
async function syncPath(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Flushes several paths in parallel, which waits for the disk less often. */
export async function syncPaths(paths: readonly string[]): Promise<void> {
  for (let from = 0; from < paths.length; from += syncedAtOnce) {
    await Promise.all(paths.slice(from, from + syncedAtOnce).map(syncPath));
  }
}

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
