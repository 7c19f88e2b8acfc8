import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { createRunLog } from "../../../src/query/run-log.ts";
import { toFederatedPlan } from "../../support/engine-answer.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");
const heapMb = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
};

const mib = 2 ** 20;
const run = { reason: "REASON", status: "ok", requests: 1, bytes: 9, rows: 3, ms: 1 } as const;

it("keeps runs that ended by their bytes, and none of their plans", () => {
  const log = createRunLog({ keep: 1_000_000, keepBytes: 8 * mib, now: () => 0, onFinish: () => {} });
  const plan = toFederatedPlan("SELECT * { SERVICE <http://a.example/> { ?s ?p ?o } }");
  const before = heapMb();
  const ids = Array.from({ length: 300 }, (_, at) => {
    const query = `SELECT ?v${at} { ${"?s ?p ?o . ".repeat(1_800)} }`;
    const notes = [{ code: "EVALUATED_HERE" as const, message: "m".repeat(9_000) + at }];
    // All plans together have 300 MB.
    const opened = log.open({ ...plan, query: Buffer.alloc(1_000_000, "q").toString(), notes }, { hash: "h", query });
    for (let member = 0; member < 20; member += 1) {
      const endpoint = `http://${member}.example/${"e".repeat(200)}${at}`;
      opened.sources.set(endpoint, { ...run, endpoint });
    }
    opened.finish({ status: "ok" });
    return opened.id;
  });
  expect(heapMb() - before).toBeLessThan(32);
  const kept = ids.filter((id) => log.record(id) !== undefined);
  expect(kept.length).toBeGreaterThan(50);
  expect(kept).toEqual(ids.slice(-kept.length));
  expect(log.records(0, 1_000_000)).toHaveLength(kept.length);
  expect(log.record(ids.at(-1)!)).toMatchObject({
    plan: "federated",
    status: "ok",
    notes: [{ code: "EVALUATED_HERE" }],
  });
});
