import { type FedwayError, toFedwayError } from "../errors/fedway-error.ts";
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

/** The first `maxRows` rows of a result. Never throws: a failure is part of the table, beside the rows before it. */
export async function tabulate(result: QueryResult, maxRows: number): Promise<Table> {
  if (result.kind === "boolean") return { columns: [], rows: [], boolean: result.value, truncated: false };
  const columns = result.kind === "bindings" ? result.variables : ["subject", "predicate", "object"];
  const rows: (string | null)[][] = [];
  try {
    for await (const cells of cellsOf(result)) {
      if (rows.length === maxRows) return { columns, rows, truncated: true };
      rows.push(cells);
    }
    return { columns, rows, truncated: false };
  } catch (error) {
    return { columns, rows, truncated: false, error: toFedwayError(error) };
  }
}

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
