import type { TabularAnswer } from "../../src/query/table.ts";

/** An answer of `POST /api/query` with `terms=ntriples` as the service holds it: its rows as arrays in column order. */
export function tableOf(text: string): TabularAnswer {
  const { rows = [], ...head } = JSON.parse(text) as Omit<TabularAnswer, "rows"> & {
    readonly rows?: readonly Readonly<Record<string, string>>[];
  };
  return { ...head, rows: rows.map((row) => (head.columns ?? []).map((name) => row[name] ?? null)) };
}
