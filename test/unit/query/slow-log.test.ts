import { expect, it } from "vitest";
import { createRunLog } from "../../../src/query/run-log.ts";
import { toFederatedPlan } from "../../support/engine-answer.ts";

const plan = toFederatedPlan("SELECT * { SERVICE <http://a.example/> { ?s ?p ?o } }");
const planned = { hash: "hash", query: "ASK {}" };
const report = { status: "ok", requests: 2, bytes: 9, rows: 3 } as const;

it("says of a slow query whose it was and where its time went, of quick ones nothing", () => {
  const lines: object[] = [];
  let now = 0;
  const log = createRunLog({
    keep: 9,
    now: () => now,
    onFinish: () => {},
    slow: { ms: 1_000, write: (run) => lines.push(run) },
  });
  log.open(plan, planned, { owner: "key:ada" }).finish({ status: "ok" });
  const run = log.open(plan, planned, { owner: "key:ada" });
  for (const [endpoint, ms] of [
    ["quick", 4.2],
    ["slow", 995.6],
  ] as const) {
    run.sources.set(endpoint, { ...report, endpoint, ms });
  }
  now = 1_000.4;
  run.finish({ status: "partial" });
  expect(lines).toEqual([
    {
      run: run.id,
      client: "ada",
      plan: "federated",
      status: "partial",
      code: undefined,
      queryHash: "hash",
      ms: 1_000,
      endpoints: [
        { endpoint: "slow", ms: 996, rows: 3, requests: 2 },
        { endpoint: "quick", ms: 4, rows: 3, requests: 2 },
      ],
      query: "ASK {}",
    },
  ]);
});
