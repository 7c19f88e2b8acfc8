import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Clock } from "../../clock.ts";
import { prefixEnd } from "../key-order.ts";
import type { PutOptions, StoredDocument } from "../store.ts";
import { integerOf, type Row, textOf } from "./rows.ts";

/** Documents of a database; the changes run inside the caller's transaction, arguments are checked by the store. */
export interface SqliteDocuments {
  get(key: string): StoredDocument | undefined;
  put(key: string, value: string, options: PutOptions): number | undefined;
  delete(key: string, ifVersion: number | undefined): boolean;
  list(prefix: string, limit: number, after: string | undefined): readonly StoredDocument[];
}

const documentOf = (row: Row): StoredDocument => ({
  key: textOf(row, "key"),
  value: textOf(row, "value"),
  version: integerOf(row, "version"),
});

/** @param next the next number of the database's one sequence */
export function createDocuments(
  database: DatabaseSync,
  clock: Pick<Clock, "now">,
  next: () => number,
): SqliteDocuments {
  const alive = "(expires_at IS NULL OR expires_at > ?)";
  const one = database.prepare(`SELECT key, value, version FROM documents WHERE key = ? AND ${alive}`);
  const versionOf = database.prepare(`SELECT version FROM documents WHERE key = ? AND ${alive}`);
  const upsert = database.prepare(
    `INSERT INTO documents (key, value, version, expires_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at`,
  );
  const remove = database.prepare("DELETE FROM documents WHERE key = ?");
  const page = (conditions: string) =>
    database.prepare(
      `SELECT key, value, version FROM documents WHERE key >= ? AND ${conditions} ${alive} ORDER BY key LIMIT ?`,
    );
  // The binary collation of a UTF-8 database is the port's key order.
  const bounded = page("key > ? AND key < ? AND");
  const unbounded = page("key > ? AND");

  const current = (key: string): number => {
    const row = versionOf.get(key, clock.now());
    return row === undefined ? 0 : integerOf(row, "version");
  };
  return {
    get(key) {
      const row = one.get(key, clock.now());
      return row === undefined ? undefined : documentOf(row);
    },
    put(key, value, { ttlMs, ifVersion }) {
      if (ifVersion !== undefined && current(key) !== ifVersion) return undefined;
      const version = next();
      upsert.run(key, value, version, ttlMs === undefined ? null : clock.now() + ttlMs);
      return version;
    },
    delete(key, ifVersion) {
      const version = current(key);
      if (version === 0 || (ifVersion !== undefined && version !== ifVersion)) return false;
      remove.run(key);
      return true;
    },
    list(prefix, limit, after = "") {
      const end = prefixEnd(prefix);
      const tail: SQLInputValue[] = [clock.now(), limit];
      const rows = end === undefined ? unbounded.all(prefix, after, ...tail) : bounded.all(prefix, after, end, ...tail);
      return rows.map(documentOf);
    },
  };
}
