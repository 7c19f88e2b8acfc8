import type { DatabaseSync } from "node:sqlite";
import { type Clock } from "../../clock.ts";
import { sweepEveryMs } from "../bounds.ts";

/** Rows of a table, and free pages of the file, that one sweep removes at most. */
const mostAtOnce = 500;

/** Removes what has expired, inside the caller's transaction and in bounded steps; does nothing when it is not time. */
export function createSweep(database: DatabaseSync, clock: Pick<Clock, "now">): () => void {
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
