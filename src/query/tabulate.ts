import { createHeldBytes, type HeldErrors, type HeldTogether } from "../engine/held-bytes.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { QueryResult } from "../results/model.ts";
import { termToText } from "../results/terms.ts";

/** Rows of an answer as text cells. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Answer of ASK. */
  readonly boolean?: boolean;
  /** There were more rows than wanted; the rest was not asked for. */
  readonly truncated: boolean;
  /** What ended the stream of rows early. */
  readonly error?: FedwayError;
}

/** Of one table's cells. */
const MOST_TABLE_BYTES = 32 * 1024 * 1024;
const together: HeldTogether = { most: 256 * 1024 * 1024, bytes: 0, holders: 0 };

/** The first rows of a result. Never throws: a failure is part of the table, beside the rows before it. */
export async function tabulate(result: QueryResult, maxRows: number): Promise<Table> {
  if (result.kind === "boolean") return { columns: [], rows: [], boolean: result.value, truncated: false };
  const columns = result.kind === "bindings" ? result.variables : ["subject", "predicate", "object"];
  const rows: (string | null)[][] = [];
  const held = createHeldBytes(MOST_TABLE_BYTES, together, tableErrors);
  const cellBytes = held.open();
  try {
    for await (const cells of cellsOf(result)) {
      if (rows.length === maxRows) return { columns, rows, truncated: true };
      cellBytes.add(cells.reduce((sum, cell) => sum + 2 * (cell?.length ?? 0), 0));
      rows.push(cells);
    }
    return { columns, rows, truncated: false };
  } catch (error) {
    return { columns, rows, truncated: false, error: toFedwayError(error) };
  } finally {
    held.close();
  }
}

const tableErrors: HeldErrors = {
  tooMuch: (most) =>
    new FedwayError("ANSWER_TOO_LARGE", `The table is larger than ${most / 1024 / 1024} MiB.`, {
      fault: "too-large",
      next: "Ask for fewer rows (maxRows) or columns, or send the query to /sparql, where answers of any size are streamed.",
    }),
  noRoomBesideOthers: () =>
    new FedwayError("SERVICE_BUSY", "Too many large tables are being made.", {
      retryAfterMs: 2_000,
      next: "Try again in a moment, or send the query to /sparql, where answers of any size are streamed.",
    }),
};

async function* cellsOf(result: Exclude<QueryResult, { kind: "boolean" }>): AsyncIterable<(string | null)[]> {
  if (result.kind === "quads") {
    for await (const { subject, predicate, object } of result.quads) yield [subject, predicate, object].map(termToText);
    return;
  }
  for await (const row of result.rows) {
    yield result.variables.map((name) => {
      const term = row.get(name);
      return term ? termToText(term) : null;
    });
  }
}
