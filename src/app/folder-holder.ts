import type { FolderHolder } from "../cli/cli-io.ts";
import type { Config } from "../config/config.ts";
import { dataFolderHolder } from "../store/data-folder.ts";

/**
 * The running process that holds the data folder of a configuration; undefined when nobody does, or when the state is
 * kept in Redis. @throws FedwayError `STORE_FAILED`
 */
export async function folderHolder({ dataDir, redisUrl }: Config): Promise<FolderHolder | undefined> {
  if (redisUrl !== undefined) return undefined;
  const holder = await dataFolderHolder(dataDir);
  return holder === "unknown" ? {} : holder;
}
