import { expect, it } from "vitest";
import { createRun } from "../../../src/engine/evaluator/run.ts";
import type { ExecutionBounds } from "../../../src/engine/execution-bounds.ts";

const bounds: ExecutionBounds = {
  signal: new AbortController().signal,
  deadlineMs: Date.now() + 60_000,
  partial: false,
  sources: new Map(),
};

it("a result that fails before its first row is no empty result", async () => {
  const next = () => Promise.reject(new Error("broken before"));
  const items = createRun(bounds).stream({ [Symbol.asyncIterator]: () => ({ next }) }, (item: never) => item);
  const first = items[Symbol.asyncIterator]().next();
  await expect(first).rejects.toMatchObject({ code: "INTERNAL" });
});
