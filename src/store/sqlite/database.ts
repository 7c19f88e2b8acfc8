import { chmodSync, closeSync, existsSync, openSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { storeFailed, sweepEveryMs } from "../bounds.ts";
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
    if (options.path !== ":memory:") prepareFile(options.path);
    database = new DatabaseSync(options.path);
    configure(database, options);
    migrate(database);
    checkTables(database);
    return database;
  } catch (error) {
    database?.close();
    throw sqliteFailed(error);
  }
}

/**
 * Makes the file, or an existing one, readable for its owner only: SQLite gives the files beside it the same mode.
 * @throws FedwayError `STORE_FAILED` for a file that has lost its content: it would count as a new one
 */
function prepareFile(path: string): void {
  const isEmpty = statSync(path, { throwIfNoEntry: false })?.size === 0;
  const wasInUse = [`${path}.reserve`, join(dirname(path), "admin-token")].some((file) => existsSync(file));
  if (isEmpty && wasInUse) {
    throw storeFailed(
      `The database ${path} is empty (0 bytes), but its folder was in use: keys, changes of the catalogue and the history are gone.`,
      undefined,
      `Restore a backup; or begin anew without them: rm ${path}`,
    );
  }
  try {
    closeSync(openSync(path, "a", ownerOnly));
    chmodSync(path, ownerOnly);
  } catch {
    // SQLite says what is wrong with the place, or works with a file of somebody else that may be written to.
  }
}

export const ownerOnly = 0o600;

/** @throws FedwayError `STORE_FAILED` for a database that somebody has changed */
function checkTables(database: DatabaseSync): void {
  const rows: readonly Row[] = database.prepare("SELECT name FROM sqlite_schema").all();
  const names = new Set(rows.map((row) => textOf(row, "name")));
  const missing = ["documents", "counters", "leases", "sequence"].filter((name) => !names.has(name));
  if (missing.length === 0) return;
  throw storeFailed(`The database lacks the tables ${missing.join(", ")}.`, undefined, "Restore a backup.");
}

/** Documents whose keys begin so, read beside a process that may own the file. @throws FedwayError `STORE_FAILED` */
export function readDocuments(path: string, prefix: string): ReadonlyMap<string, string> {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    const found = database.prepare("SELECT key, value FROM documents WHERE key >= ? AND key < ?");
    const rows: readonly Row[] = found.all(prefix, `${prefix}\u{10ffff}`);
    return new Map(rows.map((row) => [textOf(row, "key"), textOf(row, "value")]));
  } catch (error) {
    throw sqliteFailed(error);
  } finally {
    database?.close();
  }
}

function configure(database: DatabaseSync, { path, maxBytes }: DatabaseOptions): void {
  // Only takes effect in a new file: freed pages can then go back to the file system in small steps.
  database.exec(`PRAGMA busy_timeout = 2000; PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL`);
  const mode = database.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"];
  if (mode !== "wal" && path !== ":memory:") {
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

/** "FDWY": marks a database file as one of this service (`PRAGMA application_id`). */
const applicationId = 0x46_44_57_59;

/**
 * The steps from one schema version to the next, oldest first: version n is what the first n steps made. A step that
 * has been released is never changed; a new schema is a new step.
 */
export const migrations: readonly string[] = [
  `CREATE TABLE documents (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL, version INTEGER NOT NULL,
     expires_at INTEGER) STRICT;
   CREATE INDEX documents_expiry ON documents (expires_at) WHERE expires_at IS NOT NULL;
   CREATE TABLE counters (name TEXT PRIMARY KEY NOT NULL, value INTEGER NOT NULL, expires_at INTEGER) STRICT;
   CREATE INDEX counters_expiry ON counters (expires_at) WHERE expires_at IS NOT NULL;
   CREATE TABLE leases (name TEXT PRIMARY KEY NOT NULL, owner TEXT NOT NULL, expires_at INTEGER NOT NULL) STRICT;
   CREATE INDEX leases_expiry ON leases (expires_at);
   CREATE TABLE sequence (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), value INTEGER NOT NULL) STRICT;
   INSERT INTO sequence (only_row, value) VALUES (1, 0);`,
];

function pragma(database: DatabaseSync, name: "user_version" | "application_id"): number {
  return integerOf(database.prepare(`PRAGMA ${name}`).get(), name);
}

/** @throws FedwayError `STORE_FAILED` for a database of another program */
function checkOrigin(database: DatabaseSync, version: number): void {
  const id = pragma(database, "application_id");
  if (id === applicationId) return;
  const objects = integerOf(database.prepare("SELECT count(*) AS n FROM sqlite_schema").get(), "n");
  if (id !== 0 || version !== 0 || objects > 0) {
    throw storeFailed("The database file belongs to another program.", undefined, "Choose another data folder.");
  }
  database.exec(`PRAGMA application_id = ${applicationId}`);
}

/**
 * Brings a database to the newest schema, each step in a transaction of its own.
 * @throws FedwayError `STORE_FAILED` for a database of another program or of a newer version of this one
 */
export function migrate(database: DatabaseSync, steps: readonly string[] = migrations): void {
  const version = pragma(database, "user_version");
  if (version > steps.length) {
    throw storeFailed(
      `The database has schema ${version}; this version of Fedway knows schemas up to ${steps.length}.`,
      undefined,
      "Start the newer version of Fedway that wrote it, or restore a backup made by this version.",
    );
  }
  checkOrigin(database, version);
  for (const [index, step] of steps.entries()) {
    if (index < version) continue;
    database.exec("BEGIN IMMEDIATE");
    try {
      database.exec(step);
      database.exec(`PRAGMA user_version = ${index + 1}; COMMIT`);
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      throw storeFailed(`The database could not be brought to schema ${index + 1}.`, error);
    }
  }
}

/** A row as SQLite gives it. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** A text column. @throws FedwayError `STORE_FAILED` for another type, which only a damaged database has */
export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw storeFailed(`The database is damaged: ${column} is not text.`);
  return value;
}

/** An integer column. @throws FedwayError `STORE_FAILED` for another type */
export function integerOf(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== "number") throw storeFailed(`The database is damaged: ${column} is not a number.`);
  return value;
}

/** Rows of a table, and free pages of the file, that one sweep removes at most. */
const mostAtOnce = 500;

/** Removes expired entries, inside the caller's transaction and in bounded steps; does nothing when it is not time. */
export function createSweep(database: DatabaseSync, clock: { now(): number }): () => void {
  const removals = ["documents", "counters", "leases"].map((table) =>
    database.prepare(
      `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE expires_at <= ? LIMIT ${mostAtOnce})`,
    ),
  );
  // From the first write on: what expired while the service was down goes too.
  let dueAtMs = clock.now();
  return () => {
    const now = clock.now();
    if (now < dueAtMs) return;
    let unfinished = false;
    for (const removal of removals) unfinished = Number(removal.run(now).changes) >= mostAtOnce || unfinished;
    database.exec(`PRAGMA incremental_vacuum(${mostAtOnce})`);
    dueAtMs = unfinished ? now : now + sweepEveryMs;
  };
}
