import type { DatabaseSync } from "node:sqlite";
import { FedwayError } from "../../errors/fedway-error.ts";
import { storeClosed } from "../bounds.ts";
import { isBusy, sqliteFailed } from "./sqlite-errors.ts";

/** Writes per transaction; what waits beyond them goes into the next turn of the event loop. */
const mostWrites = 256;

interface WaitingWrite {
  /** Does the write inside the transaction and returns how to acknowledge it. */
  readonly run: () => () => void;
  readonly reject: (error: FedwayError) => void;
}

/** Writes of one turn of the event loop share one transaction, and so one flush to the disk. */
export type WriteBatch = ReturnType<typeof createWriteBatch>;

/** @param beside more work for each transaction, e.g. removing what has expired */
export function createWriteBatch(database: DatabaseSync, beside: () => void) {
  let waiting: WaitingWrite[] = [];
  let scheduled: NodeJS.Immediate | undefined;
  let closed = false;

  const flush = (): void => {
    scheduled = undefined;
    const writes = waiting.slice(0, mostWrites);
    waiting = waiting.slice(mostWrites);
    try {
      transact(database, writes, beside);
    } catch (error) {
      // Another program's lock would make every single write wait for it again.
      if (isBusy(error)) for (const write of writes) write.reject(sqliteFailed(error));
      else oneByOne(database, writes);
    }
    if (waiting.length > 0) scheduled ??= setImmediate(flush);
  };

  return {
    /**
     * Runs `work` in the next transaction and resolves after its commit. A FedwayError thrown by `work` must come before
     * its first change; it rejects this write alone.
     */
    write: <Result>(work: () => Result): Promise<Result> =>
      new Promise<Result>((resolve, reject) => {
        if (closed) {
          reject(storeClosed());
          return;
        }
        const run = (): (() => void) => {
          const result = work();
          return () => resolve(result);
        };
        waiting.push({ run, reject });
        scheduled ??= setImmediate(flush);
      }),
    /** Commits what waits; later writes are refused. */
    close(): void {
      closed = true;
      while (waiting.length > 0) {
        clearImmediate(scheduled);
        flush();
      }
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
    // A full disk makes SQLite roll back by itself.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
  for (const done of acknowledge) done();
}

/** One write that does not fit must not take the others down: each gets a transaction of its own. */
function oneByOne(database: DatabaseSync, writes: readonly WaitingWrite[]): void {
  for (const write of writes) {
    try {
      transact(database, [write]);
    } catch (error) {
      write.reject(sqliteFailed(error));
    }
  }
}
