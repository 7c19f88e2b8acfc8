import type { DatabaseSync } from "node:sqlite";
import {
  checkDuration,
  checkKey,
  checkLease,
  checkPoints,
  checkPutOptions,
  checkRange,
  checkValue,
  listLimit,
} from "../bounds.ts";
import { type Clock, systemClock } from "../../clock.ts";
import { storeClosed } from "../failures.ts";
import type { Store } from "../store.ts";
import { type BackupReport, backupDatabase } from "./backup.ts";
import { createCounters } from "./counters.ts";
import { createDocuments } from "./documents.ts";
import { createSweep } from "./expiry.ts";
import { createLeases } from "./leases.ts";
import { type DatabaseOptions, openDatabase } from "./open-database.ts";
import { integerOf } from "./rows.ts";
import { createSeries } from "./series.ts";
import { sqliteFailed } from "./sqlite-errors.ts";
import { createWriteBatch, type WriteBatch } from "./write-batch.ts";
import { createWatchers, type Watchers } from "../watchers.ts";

/** A store in one file. */
export interface SqliteStore extends Store {
  readonly name: "sqlite";
  /** Copies the store as it is now into a new file while it goes on working. @throws FedwayError as `backupDatabase` */
  backup(target: string): Promise<BackupReport>;
}

/** How a store in a file is opened. */
export interface SqliteStoreOptions extends DatabaseOptions {
  readonly clock?: Pick<Clock, "now">;
}

/** What the methods share. */
interface Connection {
  readonly database: DatabaseSync;
  readonly clock: Pick<Clock, "now">;
  /** Next number of the one sequence: versions of documents, arrivals of points. */
  readonly next: () => number;
  readonly batch: WriteBatch;
  readonly watchers: Watchers;
  /** Reads what is committed. */
  readonly read: <Result>(work: () => Result) => Result;
}

/**
 * The embedded default: SQLite with a write-ahead log. A write whose promise has resolved survives the end of the
 * process and a loss of power. One process owns the file (`data-folder.ts`); others may read it, e.g. to back it up.
 *
 * @throws FedwayError `STORE_FAILED` when the file cannot be opened, is damaged, or is of a newer version
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const database = openDatabase(options);
  const clock = options.clock ?? systemClock;
  const sequence = database.prepare("UPDATE sequence SET value = value + 1 RETURNING value");
  const connection: Connection = {
    database,
    clock,
    next: () => integerOf(sequence.get(), "value"),
    batch: createWriteBatch(database, createSweep(database, clock)),
    watchers: createWatchers(),
    read: (work) => {
      if (!database.isOpen) throw storeClosed();
      try {
        return work();
      } catch (error) {
        throw sqliteFailed(error);
      }
    },
  };
  return {
    name: "sqlite",
    ...documentMethods(connection),
    ...seriesMethods(connection),
    ...counterMethods(connection),
    async backup(target) {
      if (!database.isOpen) throw storeClosed();
      return backupDatabase(options.path, target);
    },
    async close() {
      if (!database.isOpen) return;
      connection.batch.close();
      connection.watchers.clear();
      database.close();
    },
  };
}

function documentMethods({
  database,
  clock,
  next,
  batch,
  watchers,
  read,
}: Connection): Pick<Store, "get" | "put" | "delete" | "list" | "watch"> {
  const documents = createDocuments(database, clock, next);
  return {
    async get(key) {
      checkKey(key);
      return read(() => documents.get(key));
    },
    async put(key, value, options = {}) {
      checkKey(key);
      checkValue(value);
      checkPutOptions(options);
      const version = await batch.write(() => documents.put(key, value, options));
      if (version !== undefined) watchers.tell({ key, version });
      return version;
    },
    async delete(key, options = {}) {
      checkKey(key);
      checkPutOptions(options);
      const deleted = await batch.write(() => documents.delete(key, options.ifVersion));
      if (deleted) watchers.tell({ key, version: 0 });
      return deleted;
    },
    async list(prefix, options = {}) {
      const limit = listLimit(prefix, options);
      return read(() => documents.list(prefix, limit, options.after));
    },
    watch: watchers.watch,
  };
}

function seriesMethods({ database, next, batch, read }: Connection): Pick<Store, "append" | "range" | "dropSeries"> {
  const all = createSeries(database, next);
  return {
    async append(series, points, { retentionMs } = {}) {
      checkPoints(series, points, retentionMs);
      await batch.write(() => all.append(series, points, retentionMs));
    },
    async range(series, bounds) {
      checkRange(series, bounds);
      return read(() => all.range(series, bounds));
    },
    async dropSeries(series) {
      checkKey(series);
      await batch.write(() => all.drop(series));
    },
  };
}

function counterMethods({ database, clock, batch }: Connection): Pick<Store, "increment" | "acquire" | "release"> {
  const increment = createCounters(database, clock);
  const leases = createLeases(database, clock);
  return {
    async increment(counter, by, { ttlMs } = {}) {
      checkKey(counter);
      if (ttlMs !== undefined) checkDuration(ttlMs, "ttlMs");
      return batch.write(() => increment(counter, by, ttlMs));
    },
    async acquire(lease, owner, ttlMs) {
      checkLease(lease, owner, ttlMs);
      return batch.write(() => leases.acquire(lease, owner, ttlMs));
    },
    async release(lease, owner) {
      checkKey(lease);
      await batch.write(() => leases.release(lease, owner));
    },
  };
}
