import type { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../clock.ts";
import { checkedStore, counterSum, type StoreAdapter, storeClosed } from "../bounds.ts";
import { prefixEnd } from "../key-order.ts";
import type { DocumentChange, Store, StoredDocument } from "../store.ts";
import { createSweep, type DatabaseOptions, integerOf, openDatabase, type Row, textOf } from "./database.ts";
import { sqliteFailed } from "./sqlite-errors.ts";
import { createReserve, createWriteBatch, type WriteBatch } from "./write-batch.ts";

interface SqliteStoreOptions extends DatabaseOptions {
  readonly clock?: { now(): number };
}

interface Connection {
  readonly database: DatabaseSync;
  readonly clock: { now(): number };
  /** Next number of the sequence of versions. */
  readonly next: () => number;
  readonly write: WriteBatch["write"];
  /** Reads committed data. */
  readonly read: <Result>(work: () => Result) => Result;
  readonly watchers: Watchers;
}

/**
 * The embedded default: SQLite with a write-ahead log. A write whose promise has resolved survives the end of the
 * process and a loss of power; with the path `:memory:` it ends with the store. One process owns the file (`data-folder.ts`); others may read it, e.g. to back it up.
 *
 * @throws FedwayError `STORE_FAILED` when the file cannot be opened, is damaged, or is of a newer version
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const database = openDatabase(options);
  const clock = options.clock ?? systemClock;
  const sequence = database.prepare("UPDATE sequence SET value = value + 1 RETURNING value");
  const reserve = options.path === ":memory:" ? undefined : createReserve(`${options.path}.reserve`);
  const batch = createWriteBatch(database, createSweep(database, clock), reserve);
  const watchers = createWatchers();
  const connection: Connection = {
    database,
    clock,
    next: () => integerOf(sequence.get(), "value"),
    write: (work, how) => batch.write(work, how),
    read: (work) => {
      if (!database.isOpen) throw storeClosed();
      try {
        return work();
      } catch (error) {
        throw sqliteFailed(error);
      }
    },
    watchers,
  };
  return checkedStore({
    name: "sqlite",
    ...documentMethods(connection),
    ...counterMethods(connection),
    ...leaseMethods(connection),
    async close() {
      if (!database.isOpen) return;
      batch.close();
      watchers.clear();
      database.close();
    },
  });
}

/** Deletes, and the counters and leases that belong to them, may use the reserve of a full disk. */
const reserved = { reserved: true } as const;

const documentOf = (row: Row): StoredDocument => ({
  key: textOf(row, "key"),
  value: textOf(row, "value"),
  version: integerOf(row, "version"),
});

function documentMethods(connection: Connection) {
  const { database, clock, next, write, read, watchers } = connection;
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

  /** Its version; 0 when there is none, undefined when it is not the expected one. */
  const expected = (key: string, ifVersion: number | undefined): number | undefined => {
    const row = versionOf.get(key, clock.now());
    const version = row === undefined ? 0 : integerOf(row, "version");
    return ifVersion === undefined || ifVersion === version ? version : undefined;
  };
  return {
    async get(key) {
      return read(() => {
        const row = one.get(key, clock.now());
        return row && documentOf(row);
      });
    },
    async put(key, value, { ttlMs, ifVersion }) {
      const version = await write(() => {
        if (expected(key, ifVersion) === undefined) return undefined;
        const given = next();
        upsert.run(key, value, given, ttlMs === undefined ? null : clock.now() + ttlMs);
        return given;
      });
      if (version !== undefined) watchers.tell({ key, version });
      return version;
    },
    async delete(key, { ifVersion }) {
      const isDeleted = await write(() => {
        if ((expected(key, ifVersion) ?? 0) === 0) return false;
        remove.run(key);
        return true;
      }, reserved);
      if (isDeleted) watchers.tell({ key, version: 0 });
      return isDeleted;
    },
    async list(prefix, limit, after = "") {
      const end = prefixEnd(prefix);
      return read(() => {
        const now = clock.now();
        const rows =
          end === undefined ? unbounded.all(prefix, after, now, limit) : bounded.all(prefix, after, end, now, limit);
        return rows.map(documentOf);
      });
    },
    watch: watchers.watch,
  } satisfies Partial<StoreAdapter>;
}

function counterMethods({ database, clock, write }: Connection) {
  const find = database.prepare("SELECT value FROM counters WHERE name = ? AND (expires_at IS NULL OR expires_at > ?)");
  const create = database.prepare("INSERT OR REPLACE INTO counters (name, value, expires_at) VALUES (?, ?, ?)");
  const change = database.prepare("UPDATE counters SET value = ? WHERE name = ?");
  return {
    increment: (counter, by, { ttlMs }) =>
      write(() => {
        const row = find.get(counter, clock.now());
        const value = counterSum(row === undefined ? 0 : integerOf(row, "value"), by);
        if (row === undefined) create.run(counter, value, ttlMs === undefined ? null : clock.now() + ttlMs);
        else change.run(value, counter);
        return value;
      }, reserved),
  } satisfies Partial<StoreAdapter>;
}

function leaseMethods({ database, clock, write }: Connection) {
  const holder = database.prepare("SELECT owner FROM leases WHERE name = ? AND expires_at > ?");
  const take = database.prepare("INSERT OR REPLACE INTO leases (name, owner, expires_at) VALUES (?, ?, ?)");
  const give = database.prepare("DELETE FROM leases WHERE name = ? AND owner = ?");
  return {
    acquire: (lease, owner, ttlMs) =>
      write(() => {
        const row = holder.get(lease, clock.now());
        if (row !== undefined && textOf(row, "owner") !== owner) return false;
        take.run(lease, owner, clock.now() + ttlMs);
        return true;
      }, reserved),
    release: (lease, owner) => write(() => void give.run(lease, owner), reserved),
  } satisfies Partial<StoreAdapter>;
}

/** `Store.watch` of a store whose changes are all made in this process. */
type Watchers = ReturnType<typeof createWatchers>;

type Listener = Parameters<Store["watch"]>[1];

/** Listeners to changes, initially none. */
function createWatchers() {
  const watchers = new Set<{ readonly prefix: string; readonly listener: Listener }>();
  return {
    watch: (prefix: string, listener: Listener): (() => void) => {
      const watcher = { prefix, listener };
      watchers.add(watcher);
      queueMicrotask(() => watchers.has(watcher) && listener(undefined));
      return () => watchers.delete(watcher);
    },
    tell(change: DocumentChange): void {
      for (const { prefix, listener } of watchers) {
        if (change.key.startsWith(prefix)) listener(change);
      }
    },
    clear: (): void => watchers.clear(),
  };
}
