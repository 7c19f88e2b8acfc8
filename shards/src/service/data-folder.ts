import { randomUUID } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../../src/make-folder.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";

const next = "Mount one volume as FEDWAY_DATA_DIR in every process, web and worker (k8s: ReadWriteMany).";

/**
 * The random id that lies in a data folder; the first process that asks writes it. Jobs carry it, so that a worker with
 * another folder refuses them instead of building shards that are never hosted.
 * @throws FedwayError `CONFIG_INVALID` when the folder cannot be written
 */
export async function dataFolderId(dataDir: string): Promise<string> {
  const path = join(dataDir, "folder-id");
  const known = await readFile(path, "utf8").catch(() => "");
  if (known !== "") return known;
  // Written aside and linked, which fails when another process was faster: the file is never there without its content.
  const aside = `${path}.${randomUUID()}`;
  try {
    await makeFolder(dataDir);
    await writeFile(aside, randomUUID(), { flag: "wx" });
    await link(aside, path).catch(() => undefined);
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new FedwayError("CONFIG_INVALID", "Shards cannot be built: the data folder cannot be written.", {
      next,
      cause,
    });
  } finally {
    await rm(aside, { force: true });
  }
}

/** @throws FedwayError `CONFIG_INVALID` when a job was asked for in another data folder */
export async function refuseOtherFolder(dataDir: string, askedFor: string): Promise<void> {
  if (askedFor === (await dataFolderId(dataDir))) return;
  throw new FedwayError(
    "CONFIG_INVALID",
    "This worker has another data folder than the process that was asked to work on the shards.",
    { next },
  );
}
