import { finished } from "node:stream/promises";
import type { FederatedPlan } from "../plan/query-plan.ts";
import { serializeResult } from "../results/serialize.ts";
import { type Executor, readBy, withItems } from "./executor.ts";
import type { FederationEngine } from "./federation-engine.ts";
import type { QueryResult } from "../results/model.ts";

/** Executes federated plans with an engine in this very process: what each evaluator does, and tests. */
export function createInProcessExecutor(engine: FederationEngine): Executor<FederatedPlan> {
  return {
    async fetch(plan, { format }, bounds) {
      const { result, count } = counted(await engine.execute(plan, bounds));
      const body = serializeResult(result, format);
      const end = finished(body).then(count);
      // Whoever reads the body hears of its failure there.
      end.catch(() => {});
      return { contentEncoding: "identity", body, end };
    },
    evaluate: (plan, bounds) => engine.execute(plan, bounds),
  };
}

/** A result, and the number of rows or triples read from it so far; undefined for ASK, which has none. */
export function counted(result: QueryResult): {
  readonly result: QueryResult;
  readonly count: () => number | undefined;
} {
  let count = 0;
  const tally = <T>(items: AsyncIterable<T>): AsyncIterable<T> => {
    const iterator = items[Symbol.asyncIterator]();
    return readBy(iterator, async () => {
      const item = await iterator.next();
      if (!item.done) count++;
      return item;
    });
  };
  return { result: withItems(result, tally), count: () => (result.kind === "boolean" ? undefined : count) };
}
