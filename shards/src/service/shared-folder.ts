import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { Store } from "../../../src/store/store.ts";

type FolderStore = Pick<Store, "put" | "list" | "delete">;

const prefix = "shards/folders/";
const markerName = "folder-id";
/** So long a process that was killed counts; a running one says again that it is there every 15 s. */
const ttlMs = 60_000;
const mostProcesses = 1_000;

/**
 * Whether all processes over one store have the same data folder, where shards are built, read and hosted. Folders are
 * compared by a random id that lies in each: every process tells the store the id that it reads, for as long as it runs, so
 * that a folder that was replaced leaves nothing to clear up.
 */
export class SharedFolder {
  readonly #key = `${prefix}${randomUUID()}`;
  readonly #dataDir: string;
  readonly #store: FolderStore | undefined;
  readonly #onProblem: (problem: string) => void;
  #problem: string | undefined;

  /**
   * @param store absent: no other process shares the state, and none has to share the folder
   * @param onProblem called when a problem begins
   */
  constructor(dataDir: string, store: FolderStore | undefined, onProblem: (problem: string) => void) {
    this.#dataDir = dataDir;
    this.#store = store;
    this.#onProblem = onProblem;
  }

  /** What was found last: why shards cannot be built, as a sentence. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Tells the others of this process' folder and looks at theirs. @throws FedwayError `STORE_FAILED` */
  async look(): Promise<void> {
    if (this.#store === undefined) return;
    const found = await problemOf(this.#dataDir, this.#store, this.#key);
    if (found !== undefined && this.#problem === undefined) this.#onProblem(found);
    this.#problem = found;
  }

  /** Looks, too. @throws FedwayError `CONFIG_INVALID` when the folder is not that of the others, `STORE_FAILED` */
  async ensure(): Promise<void> {
    await this.look();
    if (this.#problem === undefined) return;
    throw new FedwayError("CONFIG_INVALID", this.#problem, {
      next: "Mount one volume as FEDWAY_DATA_DIR in every process, web and worker (k8s: ReadWriteMany).",
    });
  }

  /** A process that does not close is forgotten when its entry expires. */
  async close(): Promise<void> {
    await this.#store?.delete(this.#key).catch(() => false);
  }
}

async function problemOf(dataDir: string, store: FolderStore, key: string): Promise<string | undefined> {
  const id = await folderId(dataDir).catch(() => undefined);
  await store.put(key, id ?? "", { ttlMs });
  if (id === undefined) return "Shards cannot be built: the data folder of this process cannot be written.";
  const all = await store.list(prefix, { limit: mostProcesses });
  const others = all.filter(({ value }) => value !== id).length;
  if (others === 0) return undefined;
  return `Shards cannot be built: ${others} of ${all.length} processes over this Redis have another data folder than this one.`;
}

/** The id of a folder; the first process that looks gives it one. @throws errors of the file system */
async function folderId(dataDir: string): Promise<string> {
  const path = join(dataDir, markerName);
  const known = await readFile(path, "utf8").catch(() => "");
  if (known !== "") return known;
  await mkdir(dataDir, { recursive: true });
  // Never there without its content: written aside, and linked, which fails when another process was faster.
  const aside = `${path}.${randomUUID()}`;
  await writeFile(aside, randomUUID(), { flag: "wx" });
  try {
    await link(aside, path).catch(() => undefined);
  } finally {
    await rm(aside, { force: true });
  }
  return readFile(path, "utf8");
}
