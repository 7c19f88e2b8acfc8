import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../clock.ts";
import { textOf } from "./rows.ts";

/** Leases of a database, inside the caller's transaction. */
export interface SqliteLeases {
  acquire(lease: string, owner: string, ttlMs: number): boolean;
  release(lease: string, owner: string): void;
}

/** Leases of a database. */
export function createLeases(database: DatabaseSync, clock: Pick<Clock, "now">): SqliteLeases {
  const holder = database.prepare("SELECT owner FROM leases WHERE name = ? AND expires_at > ?");
  const take = database.prepare("INSERT OR REPLACE INTO leases (name, owner, expires_at) VALUES (?, ?, ?)");
  const give = database.prepare("DELETE FROM leases WHERE name = ? AND owner = ?");
  return {
    acquire(lease, owner, ttlMs) {
      const row = holder.get(lease, clock.now());
      if (row !== undefined && textOf(row, "owner") !== owner) return false;
      take.run(lease, owner, clock.now() + ttlMs);
      return true;
    },
    release(lease, owner) {
      give.run(lease, owner);
    },
  };
}
