import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import { readManifest } from "../materialise/manifest.ts";
import { type FinishedShard, openShardFolder, type ShardDataset } from "../finished-folder.ts";

/** Where shards are. */
interface Folders {
  /** Its sub-folders are those of datasets. */
  readonly root: string;
  /** Folders of datasets elsewhere. */
  readonly folders: readonly string[];
}

/** How shards are hosted. */
interface ShardHostOptions<Endpoint extends Closable> extends Folders {
  /** Hosts the file of one shard. */
  readonly hostShard: (dataset: string, shard: FinishedShard) => Endpoint;
  /** Folders that cannot be hosted, once each. */
  readonly onRefused: (folder: string, reason: string) => void;
}

export type Closable = { close(): Promise<void> };

type Hosted<Endpoint> = {
  readonly dataset: ShardDataset;
  readonly stamp: string;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
};

/** The shards that this process hosts: none until `scan` was called. Damaged or unfinished ones are never hosted. */
export class ShardHost<Endpoint extends Closable = Closable> {
  readonly #options: ShardHostOptions<Endpoint>;
  /** Folders that cannot be hosted, as they are. */
  readonly #refused = new Map<string, string>();
  #hosted: ReadonlyMap<string, Hosted<Endpoint>> = new Map();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ShardHostOptions<Endpoint>) {
    this.#options = options;
  }

  get datasets(): readonly ShardDataset[] {
    return [...this.#hosted.values()].map(({ dataset }) => dataset);
  }

  dataset(id: string): ShardDataset | undefined {
    return this.#hosted.get(id)?.dataset;
  }

  endpoint(dataset: string, shard: string): Endpoint | undefined {
    return this.#hosted.get(dataset)?.endpoints.get(shard);
  }

  /** The folder of a dataset's shards, hosted or not for being damaged. */
  async folderOf(id: string): Promise<string | undefined> {
    return this.dataset(id)?.folder ?? folderNamed(id, this.#options);
  }

  /** Looks which finished shards there are now; true when something has changed. */
  scan(): Promise<boolean> {
    const result = this.#last.then(() => this.#scan());
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #scan(): Promise<boolean> {
    const found = new Map<string, Hosted<Endpoint>>();
    for (const folder of await foldersOf(this.#options)) {
      const stamp = await stampOf(folder);
      if (stamp === undefined || this.#refused.get(folder) === stamp) continue;
      const known = this.#hosted.values().find(({ dataset }) => dataset.folder === folder);
      try {
        const one = known?.stamp === stamp ? known : await host(folder, stamp, this.#options);
        if (found.has(one.dataset.dataset)) throw new Error("Another folder has shards of this dataset.");
        found.set(one.dataset.dataset, one);
      } catch (error) {
        this.#refused.set(folder, stamp);
        this.#options.onRefused(folder, error instanceof Error ? error.message : toFedwayError(error).message);
      }
    }
    const before = this.#hosted;
    this.#hosted = found;
    const gone = [...before].filter(([id, one]) => found.get(id) !== one);
    await Promise.all(gone.flatMap(([, one]) => [...one.endpoints.values()].map((each) => each.close())));
    return gone.length > 0 || found.size !== before.size;
  }
}

/** The others are those of builds under way. */
const isFinished = (name: string): boolean => !/\.(?:building|replaced)$/u.test(name);

async function foldersOf({ root, folders }: Folders): Promise<readonly string[]> {
  const below = await readdir(root, { withFileTypes: true }).catch(() => []);
  const own = below.filter((each) => each.isDirectory() && isFinished(each.name)).map(({ name }) => join(root, name));
  return [...new Set([...folders, ...own.toSorted()].map((folder) => resolve(folder)))];
}

/** The first folder that says that it has shards of the dataset, or cannot say so but for its name. */
async function folderNamed(id: string, options: Folders): Promise<string | undefined> {
  for (const folder of await foldersOf(options)) {
    const dataset = await readManifest(folder).then(
      (found) => found.dataset,
      (error: unknown) => (toFedwayError(error).code === "SHARDS_INVALID" ? basename(folder) : undefined),
    );
    if (dataset === id) return folder;
  }
  return undefined;
}

/** Changes when the manifest does; undefined where there is none, which is no folder of finished shards. */
async function stampOf(folder: string): Promise<string | undefined> {
  const found = await stat(join(folder, "manifest.json")).catch(() => undefined);
  return found && `${found.ino} ${found.size} ${found.mtimeMs}`;
}

async function host<Endpoint extends Closable>(
  folder: string,
  stamp: string,
  { hostShard }: ShardHostOptions<Endpoint>,
): Promise<Hosted<Endpoint>> {
  const dataset = await openShardFolder(folder);
  const endpoints = new Map(dataset.shards.map((shard) => [shard.id, hostShard(dataset.dataset, shard)]));
  return { dataset, stamp, endpoints };
}
