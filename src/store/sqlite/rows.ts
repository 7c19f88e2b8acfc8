import type { SQLOutputValue } from "node:sqlite";
import { storeFailed } from "../failures.ts";

/** A row as SQLite gives it. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** A text column. @throws FedwayError `STORE_FAILED` for another type, which only a damaged database has */
export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw storeFailed(`The database is damaged: ${column} is not text.`);
  return value;
}

/** An integer column. @throws FedwayError `STORE_FAILED` for another type */
export function integerOf(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== "number") throw storeFailed(`The database is damaged: ${column} is not a number.`);
  return value;
}
