import { rename, rm, stat, open, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** Where a build works. */
export interface Place {
  readonly target: string;
  /** Beside the target, on the same disk. */
  readonly building: string;
  /** Triples by range, until they are sorted. */
  readonly parts: string;
  /** What readers of slices in other processes need. */
  readonly readers: string;
  /** What becomes the target. */
  readonly result: string;
  readonly shards: string;
  /** Where what was in the target waits to be removed. */
  readonly replaced: string;
}

export function placeOf(target: string): Place {
  const full = resolve(target);
  const building = `${full}.building`;
  const result = join(building, "result");
  return {
    target: full,
    building,
    parts: join(building, "parts"),
    readers: join(building, "readers"),
    result,
    shards: join(result, "shards"),
    replaced: `${full}.replaced`,
  };
}

/** Gives the result its name. What was there before gives way; between the two steps `recoverTarget` puts it back. */
export async function publish(place: Place): Promise<void> {
  const { target, replaced, result, building } = place;
  await syncPath(result);
  if (await isThere(target)) await rename(target, replaced);
  await rename(result, target);
  await syncPath(dirname(target));
  await rm(replaced, { recursive: true, force: true });
  await rm(building, { recursive: true, force: true });
}

/** Puts right what a kill in the middle of `publish` left. */
export async function recoverTarget({ target, replaced }: Place): Promise<void> {
  if (!(await isThere(replaced))) return;
  if (await isThere(target)) await rm(replaced, { recursive: true, force: true });
  else await rename(replaced, target);
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** A shard as far as it is written. */
export interface WrittenShard {
  readonly key: string;
  /** Its file's name without the ending. */
  readonly id: string;
  /** Bytes of the file that count; what lies behind is of a range that was not finished. */
  readonly bytes: number;
  readonly triples: number;
}

/** How far a build has come once its rules are known. */
export interface BuildState {
  /** Of what is built from what: another build does not go on with it. */
  readonly fingerprint: string;
  /** The first of the ranges that are not yet in the shards. */
  readonly nextRange: number;
  /** By number. */
  readonly shards: readonly WrittenShard[];
}

const syncedAtOnce = 16;
const names = { plan: "plan.json", state: "state.json" } as const;

/**
 * Tells one run of the operating system from the next. What a process wrote before it was killed is there for the next
 * process, on the disk or not; after a power failure, or on another machine, it may not be.
 */
const bootId = (): Promise<string | undefined> =>
  readFile("/proc/sys/kernel/random/boot_id", "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );

/** The fingerprint of what is gathered in a folder; undefined when there is nothing to go on with. */
export async function readPlan(folder: string): Promise<string | undefined> {
  const found = await readNote(folder, "plan");
  return found !== undefined && "fingerprint" in found && typeof found.fingerprint === "string"
    ? found.fingerprint
    : undefined;
}

/** Notes what is gathered in a folder from now on. */
export const writePlan = (folder: string, fingerprint: string): Promise<void> =>
  writeNote(folder, "plan", { fingerprint });

/** Whether ranges may have been taken out of a folder. */
export const hasState = (folder: string): Promise<boolean> =>
  stat(join(folder, names.state)).then(
    () => true,
    () => false,
  );

/** The state that a build was left in; undefined when there is none to go on with. */
export async function readState(folder: string, fingerprint: string): Promise<BuildState | undefined> {
  const found = await readNote(folder, "state");
  return found !== undefined && isState(found) && found.fingerprint === fingerprint ? found : undefined;
}

/** Replaces the state: a reader finds the old one or the new one. */
export const writeState = (folder: string, state: BuildState): Promise<void> => writeNote(folder, "state", state);

/** The files are only ever replaced as a whole, by this program. */
const isState = (value: object): value is BuildState =>
  "fingerprint" in value &&
  "nextRange" in value &&
  typeof value.nextRange === "number" &&
  "shards" in value &&
  Array.isArray(value.shards);

async function readNote(folder: string, name: keyof typeof names): Promise<object | undefined> {
  try {
    const found: unknown = JSON.parse(await readFile(join(folder, names[name]), "utf8"));
    if (typeof found !== "object" || found === null || !("boot" in found)) return undefined;
    return typeof found.boot === "string" && found.boot === (await bootId()) ? found : undefined;
  } catch {
    return undefined;
  }
}

async function writeNote(folder: string, name: keyof typeof names, note: object): Promise<void> {
  const path = join(folder, names[name]);
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

/** Makes a file's bytes, or the names in a folder, last. */
async function syncPath(path: string): Promise<void> {
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
