import type { DatabaseSync } from "node:sqlite";
import { counterSum } from "../bounds.ts";
import type { Clock } from "../../clock.ts";
import { integerOf } from "./rows.ts";

/** Adds inside the caller's transaction. @throws FedwayError `REQUEST_INVALID` before anything is changed */
export type Increment = (counter: string, by: number, ttlMs: number | undefined) => number;

/** Counters of a database. */
export function createCounters(database: DatabaseSync, clock: Pick<Clock, "now">): Increment {
  const read = database.prepare("SELECT value FROM counters WHERE name = ? AND (expires_at IS NULL OR expires_at > ?)");
  const create = database.prepare("INSERT OR REPLACE INTO counters (name, value, expires_at) VALUES (?, ?, ?)");
  const change = database.prepare("UPDATE counters SET value = ? WHERE name = ?");
  return (counter, by, ttlMs) => {
    const row = read.get(counter, clock.now());
    const value = counterSum(row === undefined ? 0 : integerOf(row, "value"), by);
    if (row === undefined) create.run(counter, value, ttlMs === undefined ? null : clock.now() + ttlMs);
    else change.run(value, counter);
    return value;
  };
}
