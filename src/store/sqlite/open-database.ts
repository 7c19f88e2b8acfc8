import { DatabaseSync } from "node:sqlite";
import { storeFailed } from "../failures.ts";
import { integerOf } from "./rows.ts";
import { migrate } from "./schema.ts";
import { sqliteFailed } from "./sqlite-errors.ts";

const pageBytes = 4_096;

/** Which database is opened. */
export interface DatabaseOptions {
  readonly path: string;
  /** The file grows up to this size, then writes fail until something is deleted; absent: as the disk allows. */
  readonly maxBytes?: number;
}

/** Opens or creates a database with the settings that the store's promises rest on. @throws FedwayError `STORE_FAILED` */
export function openDatabase(options: DatabaseOptions): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(options.path);
    configure(database, options.maxBytes);
    migrate(database);
    return database;
  } catch (error) {
    database?.close();
    throw sqliteFailed(error);
  }
}

function configure(database: DatabaseSync, maxBytes: number | undefined): void {
  // Only takes effect in a new file: freed pages can then go back to the file system in small steps.
  database.exec(`PRAGMA busy_timeout = 2000; PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL`);
  const mode = database.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"];
  if (mode !== "wal") {
    throw storeFailed(
      "The file system of the database has no shared memory, which its write-ahead log needs.",
      undefined,
      "Put the data folder on a local disk.",
    );
  }
  // FULL: a commit is on the disk when it returns, also after a loss of power.
  database.exec("PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864");
  if (maxBytes !== undefined) {
    const pages = Math.max(1, Math.floor(maxBytes / pageBytes));
    integerOf(database.prepare(`PRAGMA max_page_count = ${pages}`).get(), "max_page_count");
  }
}
