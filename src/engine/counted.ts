import type { QueryResult } from "../results/model.ts";

/** A result and the number of rows or triples read from it so far; undefined for ASK, which has none. */
export interface CountedResult {
  readonly result: QueryResult;
  readonly count: () => number | undefined;
}

/** Counts what is read from a result. */
export function counted(result: QueryResult): CountedResult {
  if (result.kind === "boolean") return { result, count: () => undefined };
  let count = 0;
  async function* tally<T>(items: AsyncIterable<T>): AsyncIterable<T> {
    for await (const item of items) {
      count++;
      yield item;
    }
  }
  return {
    result:
      result.kind === "bindings" ? { ...result, rows: tally(result.rows) } : { ...result, quads: tally(result.quads) },
    count: () => count,
  };
}
