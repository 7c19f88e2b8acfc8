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

it("says once an hour and session how many endpoints were not asked, and wherever there is no row", async () => {
  let nowMs = 1;
  let status: "ok" | "empty" = "ok";
  const note = { code: "CATALOG_ASKED", message: "7 of the 9 endpoints of the catalogue are not described." } as const;
  const parts: RunQueryParts = {
    queries: { table: async (request) => ({ ...(await table(request)), status, notes: [note] }) },
    results: createResultStore({ now: () => nowMs }),
    maxRows: 100,
  };
  const box = createToolbox([runQuery(parts)], { profile: "full" });
  let asked = 0;
  const says = async (session?: string): Promise<boolean> => {
    const caller = { signal: new AbortController().signal, owner: "me", ...(session !== undefined && { session }) };
    asked += 1;
    const { text } = await box.call("run_query", { query: `SELECT ?s { ?s ?p ${asked} }` }, caller);
    return text.includes(note.message);
  };
  expect([await says("one"), await says("one"), await says("two")]).toEqual([true, false, true]);
  expect([await says(), await says()]).toEqual([true, true]);
  status = "empty";
  expect(await says("one")).toBe(true);
  status = "ok";
  nowMs += 61 * 60_000;
  expect([await says("one"), await says("one")]).toEqual([true, false]);
});
