import { fromArray } from "asynciterator";
import { expect, it } from "vitest";
import { createExecution } from "../../../src/engine/comunica/execution.ts";
import { createHeldBytes } from "../../../src/engine/held-bytes.ts";
import type { ExecutionBounds } from "../../../src/engine/federation-engine.ts";

const bounds: ExecutionBounds = {
  signal: new AbortController().signal,
  deadlineMs: Date.now() + 60_000,
  partial: false,
  sources: new Map(),
};

it("a result that fails before it is read is no empty result", async () => {
  const source = fromArray([1, 2, 3]);
  const items = createExecution(bounds, { count: () => {}, held: createHeldBytes(1_000) }).stream(
    source,
    (item) => item,
  );
  source.destroy(new Error("broken before"));
  const first = items[Symbol.asyncIterator]().next();
  await expect(first).rejects.toMatchObject({ code: "INTERNAL" });
});
