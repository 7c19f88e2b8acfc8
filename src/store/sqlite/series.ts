import type { DatabaseSync } from "node:sqlite";
import type { RangeBounds } from "../bounds.ts";
import type { SeriesPoint } from "../store.ts";
import { integerOf, textOf } from "./rows.ts";

/** Time series of a database; the changes run inside the caller's transaction, arguments are checked by the store. */
export interface SqliteSeries {
  append(series: string, points: readonly SeriesPoint[], retentionMs: number | undefined): void;
  range(series: string, bounds: RangeBounds): readonly SeriesPoint[];
  drop(series: string): void;
}

/** @param next the next number of the database's one sequence: the order of arrival */
export function createSeries(database: DatabaseSync, next: () => number): SqliteSeries {
  const insert = database.prepare("INSERT INTO points (series, at_ms, arrival, value) VALUES (?, ?, ?, ?)");
  const newest = database.prepare("SELECT max(at_ms) AS newest FROM points WHERE series = ?");
  const forget = database.prepare("DELETE FROM points WHERE series = ? AND at_ms < ?");
  const between = database.prepare(
    "SELECT at_ms, value FROM points WHERE series = ? AND at_ms >= ? AND at_ms < ? ORDER BY at_ms, arrival LIMIT ?",
  );
  const removeAll = database.prepare("DELETE FROM points WHERE series = ?");
  return {
    append(series, points, retentionMs) {
      for (const { atMs, value } of points) insert.run(series, atMs, next(), value);
      if (retentionMs === undefined || points.length === 0) return;
      forget.run(series, integerOf(newest.get(series), "newest") - retentionMs);
    },
    range(series, { fromMs, toMs, limit }) {
      // SQLite takes a negative limit for none.
      const rows = between.all(series, fromMs, toMs, limit ?? -1);
      return rows.map((row) => ({ atMs: integerOf(row, "at_ms"), value: textOf(row, "value") }));
    },
    drop(series) {
      removeAll.run(series);
    },
  };
}
