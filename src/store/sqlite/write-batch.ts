import { randomBytes } from "node:crypto";
import { rmSync, statSync, writeFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { FedwayError } from "../../errors/fedway-error.ts";
import { storeClosed } from "../bounds.ts";
import { isBusy, isFull, noRoom, sqliteFailed } from "./sqlite-errors.ts";

/** Writes per transaction; what waits beyond them goes into the next turn of the event loop. */
const mostWrites = 256;

interface WaitingWrite {
  /** Does the write inside the transaction and returns how to acknowledge it. */
  readonly run: () => () => void;
  /** May use the reserve: it deletes, or is a counter or lease of the same work. */
  readonly reserved: boolean;
  readonly reject: (error: FedwayError) => void;
}

/** Writes of one turn of the event loop share one transaction, and so one flush to the disk. */
export type WriteBatch = ReturnType<typeof createWriteBatch>;

/**
 * @param beside more work for each transaction, e.g. removing expired entries
 * @param reserve room for deletes on a full disk; while it is given away, other writes are refused
 */
export function createWriteBatch(database: DatabaseSync, beside: () => void, reserve?: Reserve) {
  let waiting: WaitingWrite[] = [];
  let isScheduled = false;
  let closed = false;

  // Without a disk there is no flush to share.
  const defer = reserve === undefined ? queueMicrotask : setImmediate;
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    defer(flush);
  };
  const flush = (): void => {
    isScheduled = false;
    if (waiting.length === 0) return;
    const writes = admitted(waiting.slice(0, mostWrites), reserve);
    waiting = waiting.slice(mostWrites);
    try {
      transact(database, writes, beside);
    } catch (error) {
      // Another program's lock would make every single write wait for it again.
      if (isBusy(error)) for (const write of writes) write.reject(sqliteFailed(error));
      else oneByOne(database, writes, reserve);
    }
    if (waiting.length > 0) schedule();
  };

  return {
    /**
     * Runs `work` in the next transaction and resolves after its commit. A FedwayError thrown by `work` must come before
     * its first change; it rejects this write alone.
     */
    write: <Result>(work: () => Result, { reserved = false } = {}): Promise<Result> =>
      new Promise<Result>((resolve, reject) => {
        if (closed) {
          reject(storeClosed());
          return;
        }
        const run = (): (() => void) => {
          const result = work();
          return () => resolve(result);
        };
        waiting.push({ run, reserved, reject });
        schedule();
      }),
    /** Commits what waits; later writes are refused. */
    close(): void {
      closed = true;
      while (waiting.length > 0) flush();
    },
  };
}

/** Does the writes in one transaction and acknowledges them after its commit. */
function transact(database: DatabaseSync, writes: readonly WaitingWrite[], beside?: () => void): void {
  const acknowledge: (() => void)[] = [];
  database.exec("BEGIN IMMEDIATE");
  try {
    for (const write of writes) {
      try {
        acknowledge.push(write.run());
      } catch (error) {
        if (!(error instanceof FedwayError)) throw error;
        acknowledge.push(() => write.reject(error));
      }
    }
    beside?.();
    database.exec("COMMIT");
  } catch (error) {
    // On a full disk SQLite rolls back automatically.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
  for (const done of acknowledge) done();
}

/** While the reserve is given away there is room for deletes only. */
function admitted(writes: readonly WaitingWrite[], reserve: Reserve | undefined): readonly WaitingWrite[] {
  reserve?.restore();
  if (reserve?.isReleased !== true) return writes;
  for (const write of writes) if (!write.reserved) write.reject(noRoom());
  return writes.filter(({ reserved }) => reserved);
}

/** One write that does not fit must not take the others down: each gets a transaction of its own. */
function oneByOne(database: DatabaseSync, writes: readonly WaitingWrite[], reserve: Reserve | undefined): void {
  for (const write of writes) {
    const tries = [() => {}, () => compact(database), ...(write.reserved && reserve ? [() => reserve.release()] : [])];
    let failure: unknown;
    const isDone = tries.some((prepare, at) => {
      if (at > 0 && !isFull(failure)) return false;
      try {
        prepare();
        transact(database, [write]);
        return true;
      } catch (error) {
        failure = error;
        return false;
      }
    });
    if (!isDone) write.reject(sqliteFailed(failure));
    if (!isDone || reserve?.isReleased !== true) continue;
    compact(database);
    reserve.restore();
  }
}

/** Gives room in the write-ahead log, and of deleted documents, back to the disk, as far as that can be done now. */
function compact(database: DatabaseSync): void {
  for (const step of [
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA incremental_vacuum",
    "PRAGMA wal_checkpoint(TRUNCATE)",
  ]) {
    try {
      database.exec(step);
    } catch (error) {
      if (!isFull(error)) throw error;
    }
  }
}

/** Room that is kept on the disk for deletes: one of the largest document takes a fraction of it. */
const reserveBytes = 4 * 1024 * 1024;
/** Between two tries to take the room again, in milliseconds. */
const patienceMs = 1_000;

/** A file that holds room beside a database, so that deletes work when the disk is full. */
type Reserve = ReturnType<typeof createReserve>;

/** Takes the room at once where there is any; a disk that never had it goes without. */
export function createReserve(path: string) {
  let isReleased = false;
  let triedMs = Number.NEGATIVE_INFINITY;

  const take = (): boolean => {
    try {
      // Bytes that no file system compresses.
      if (sizeOf(path) !== reserveBytes) writeFileSync(path, randomBytes(reserveBytes), { mode: 0o600 });
      return true;
    } catch {
      rmSync(path, { force: true });
      return false;
    }
  };
  take();
  return {
    /** The room was given to the database, and could not be taken again yet. */
    get isReleased(): boolean {
      return isReleased;
    },
    /** Takes the room again after it was released. */
    restore(): void {
      if (!isReleased || performance.now() - triedMs < patienceMs) return;
      triedMs = performance.now();
      isReleased = !take();
    },
    /** Gives the room to the database. */
    release(): void {
      isReleased = true;
      triedMs = Number.NEGATIVE_INFINITY;
      rmSync(path, { force: true });
    },
  };
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;
