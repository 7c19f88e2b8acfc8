import { expect, it } from "vitest";
import { runOnce } from "../../../src/watch/run-watch.ts";
import type { Watch } from "../../../src/watch/watch.ts";
import { fakeTable } from "../../support/fake-query-service.ts";

const watch: Watch = {
  id: "w",
  name: "w",
  query: "SELECT * { ?s ?p ?x }",
  endpoint: "alpha",
  everyMs: 1,
  origin: "api",
  nextMs: 0,
  drifts: {},
  results: [],
};

it("measures how long a run took whose record is gone: a duration that is not known is not 0", async () => {
  let nowMs = 1_000;
  const { outcome } = await runOnce(watch, new AbortController().signal, {
    queries: {
      explain: () => ({ kind: "direct", endpoints: [], notes: [] }),
      async table() {
        nowMs += 250;
        return fakeTable;
      },
      runRecord: async () => undefined,
    },
    catalog: { byId: () => undefined, byUrl: () => undefined },
    finder: { hasTerm: () => "unknown" },
    troubleOf: () => undefined,
    now: () => nowMs,
  });
  expect(outcome).toMatchObject({ status: "ok", size: 2, ms: 250 });
});
