import type { DatabaseSync } from "node:sqlite";
import { storeFailed } from "../failures.ts";
import { integerOf } from "./rows.ts";

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
   CREATE TABLE points (series TEXT NOT NULL, at_ms INTEGER NOT NULL, arrival INTEGER NOT NULL, value TEXT NOT NULL,
     PRIMARY KEY (series, at_ms, arrival)) STRICT, WITHOUT ROWID;
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
