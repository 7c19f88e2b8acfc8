import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Store } from "../../store/store.ts";

/** Whether all processes over one store have the same data folder, where shards are built, read and hosted. */
export interface SharedFolder {
  /** What was found last: why shards cannot be built, as a sentence. */
  readonly problem: string | undefined;
  /** Tells the others of this process' folder and looks at theirs. @throws FedwayError `STORE_FAILED` */
  look(): Promise<void>;
  /** Looks, too. @throws FedwayError `CONFIG_INVALID` when the folder is not that of the others, `STORE_FAILED` */
  ensure(): Promise<void>;
  close(): Promise<void>;
}

/** What the folder is compared with. */
interface SharedFolderOptions {
  readonly dataDir: string;
  /** Absent: no other process shares the state, and none has to share the folder. */
  readonly store: Pick<Store, "put" | "list" | "delete"> | undefined;
  /** Called when a problem begins. */
  readonly onProblem: (problem: string) => void;
}

const prefix = "shards/folders/";
const markerName = "folder-id";
/** So long a process that was killed counts; a running one says again that it is there every 15 s. */
const ttlMs = 60_000;
const mostProcesses = 1_000;

/**
 * Compares folders by a random id that lies in each: every process tells the store the id that it reads, for as long as it
 * runs, so that a folder that was replaced leaves nothing to clear up.
 */
export function createSharedFolder({ dataDir, store, onProblem }: SharedFolderOptions): SharedFolder {
  const key = `${prefix}${randomUUID()}`;
  let problem: string | undefined;
  const look = async (): Promise<void> => {
    if (store === undefined) return;
    const found = await problemOf(dataDir, store, key);
    if (found !== undefined && problem === undefined) onProblem(found);
    problem = found;
  };
  return {
    get problem() {
      return problem;
    },
    look,
    async ensure() {
      await look();
      if (problem === undefined) return;
      throw new FedwayError("CONFIG_INVALID", problem, {
        next: "Mount one volume as FEDWAY_DATA_DIR in every process, web and worker (k8s: ReadWriteMany).",
      });
    },
    async close() {
      // It is forgotten in its time otherwise.
      await store?.delete(key).catch(() => false);
    },
  };
}

async function problemOf(
  dataDir: string,
  store: NonNullable<SharedFolderOptions["store"]>,
  key: string,
): Promise<string | undefined> {
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
