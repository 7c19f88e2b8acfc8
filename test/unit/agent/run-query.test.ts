import { expect, it } from "vitest";
import { createResultStore } from "../../../src/agent/results/result-store.ts";
import { createToolbox } from "../../../src/agent/toolbox.ts";
import { runQuery, type RunQueryParts } from "../../../src/agent/tools/run-query.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";

const query = 'SELECT ?s { ?s ?p ?o MINUS { ?s ?p "x" } }';

const table: RunQueryParts["queries"]["table"] = async () => ({
  run: "run-1",
  status: "ok",
  plan: { kind: "direct", endpoints: [], notes: [] },
  columns: ["s"],
  rows: [["<http://x.example/thing>"]],
  truncated: false,
  sources: [],
  notes: [],
  diagnosis: null,
});

it("shows rows that have come, though they cannot be checked", async () => {
  const lost = new FedwayError("STORE_FAILED", "The store does not answer.", {});
  let checks = 0;
  const check = async (): Promise<never> => {
    checks++;
    throw lost;
  };
  const prepare = async () => ({ query, endpoint: undefined, federation: undefined, repairs: [], repeatOf: 0, check });
  const parts = {
    queries: { table },
    results: createResultStore({ now: () => 0 }),
    maxRows: 100,
    check: { prepare, check, ran: () => {} } as unknown as NonNullable<RunQueryParts["check"]>,
  };
  const box = createToolbox([runQuery(parts)], { profile: "full" });
  const answer = await box.call("run_query", { query }, { signal: new AbortController().signal, owner: "me" });
  expect(answer.problem).toBeUndefined();
  expect(answer.text).toContain("thing");
  expect(checks).toBe(1);
});
