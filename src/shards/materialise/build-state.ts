import { open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A shard as far as it is written. */
export interface WrittenShard {
  readonly key: string;
  /** Bytes of the file that count; what lies behind is of a range that was not finished. */
  readonly bytes: number;
  readonly triples: number;
}

/** How far a build has come once its inputs are parted. */
export interface BuildState {
  /** Of what is built from what: another build does not go on with it. */
  readonly fingerprint: string;
  /** The ranges, by file name, that are not yet in the shards. The first is the next. */
  readonly parts: readonly string[];
  /** By number. */
  readonly shards: readonly WrittenShard[];
}

const syncedAtOnce = 16;
const stateName = "state.json";

/**
 * Tells one run of the operating system from the next. What a process wrote before it was killed is there for the next
 * process, on the disk or not; after a power failure, or on another machine, it may not be.
 */
const bootId = (): Promise<string | undefined> =>
  readFile("/proc/sys/kernel/random/boot_id", "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );

/** The state that a build was left in; undefined when there is none to go on with. */
export async function readState(folder: string, fingerprint: string): Promise<BuildState | undefined> {
  try {
    const found: unknown = JSON.parse(await readFile(join(folder, stateName), "utf8"));
    if (!isState(found) || found.boot !== (await bootId())) return undefined;
    return found.fingerprint === fingerprint ? found : undefined;
  } catch {
    return undefined;
  }
}

/** The file is only ever replaced as a whole, by this program. */
const isState = (value: unknown): value is BuildState & { readonly boot: string } =>
  typeof value === "object" &&
  value !== null &&
  "boot" in value &&
  typeof value.boot === "string" &&
  "parts" in value &&
  Array.isArray(value.parts) &&
  "shards" in value &&
  Array.isArray(value.shards);

/** Replaces the state: a reader finds the old one or the new one. */
export async function writeState(folder: string, state: BuildState): Promise<void> {
  const path = join(folder, stateName);
  await writeFile(`${path}.part`, JSON.stringify({ ...state, boot: await bootId() }));
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

/** Makes a file's bytes, or the names in a folder, last. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The same of many: side by side, so that the disk has to be waited for less often. */
export async function syncPaths(paths: readonly string[]): Promise<void> {
  for (let from = 0; from < paths.length; from += syncedAtOnce) {
    await Promise.all(paths.slice(from, from + syncedAtOnce).map(syncPath));
  }
}
