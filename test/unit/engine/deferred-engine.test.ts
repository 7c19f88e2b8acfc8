import { expect, it } from "vitest";
import { createDeferredEngine } from "../../../src/engine/deferred-engine.ts";
import type { ExecutionBounds, FederationEngine } from "../../../src/engine/federation-engine.ts";
import type { FederatedPlan } from "../../../src/plan/query-plan.ts";

const plan: FederatedPlan = {
  kind: "federated",
  answer: "boolean",
  query: "ASK {}",
  skeleton: "ASK {}",
  clauses: [],
  members: [],
  notes: [],
};
const bounds: ExecutionBounds = {
  signal: new AbortController().signal,
  deadlineMs: 0,
  partial: false,
  sources: new Map(),
};

/** An engine that notes what happens to it; its first `failures` loads fail. */
function setUp(failures = 0): { engine: FederationEngine; seen: string[] } {
  const seen: string[] = [];
  const loaded: FederationEngine = {
    name: "real",
    execute: async () => {
      seen.push("execute");
      return { kind: "boolean", value: true };
    },
    close: async () => {
      seen.push("close");
    },
  };
  const load = async (): Promise<FederationEngine> => {
    seen.push("load");
    if (seen.length <= failures) throw new Error("not there");
    return loaded;
  };
  return { engine: createDeferredEngine({ name: "real", load }), seen };
}

it("loads with its first plan, once", async () => {
  const { engine, seen } = setUp();
  expect(seen).toEqual([]);
  const answers = await Promise.all([engine.execute(plan, bounds), engine.execute(plan, bounds)]);
  expect(answers).toEqual([
    { kind: "boolean", value: true },
    { kind: "boolean", value: true },
  ]);
  await engine.close();
  expect(seen).toEqual(["load", "execute", "execute", "close"]);
});

it("loads nothing to be closed", async () => {
  const { engine, seen } = setUp();
  await engine.close();
  expect(seen).toEqual([]);
});

it("tries again after a load that failed", async () => {
  const { engine, seen } = setUp(1);
  await expect(engine.execute(plan, bounds)).rejects.toThrow("not there");
  await expect(engine.execute(plan, bounds)).resolves.toEqual({ kind: "boolean", value: true });
  expect(seen).toEqual(["load", "load", "execute"]);
});
