import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { backupDatabase, type BackupReport } from "../store/sqlite/backup.ts";

/** Name of the database in the data folder. */
export const databaseFile = "store.db";

/**
 * Copies the database of the data folder into a new file, also while a service uses it.
 * @throws FedwayError `REQUEST_INVALID` when there is nothing to copy here or the file exists, `STORE_FAILED`
 */
export async function backupState({ dataDir, redisUrl }: Config, file: string): Promise<BackupReport> {
  if (redisUrl !== undefined) {
    throw new FedwayError("REQUEST_INVALID", "The state is kept in Redis (REDIS_URL), not in the data folder.", {
      next: "Use Redis' own means: redis-cli --rdb <file>, or BGSAVE and a copy of the dump.",
    });
  }
  const database = join(dataDir, databaseFile);
  if (!existsSync(database)) {
    throw new FedwayError("REQUEST_INVALID", `The data folder ${dataDir} holds no database yet.`, {
      next: "Name the service's data folder with FEDWAY_DATA_DIR.",
    });
  }
  return backupDatabase(database, file);
}
