import { expect, test } from "vitest";
import { isInformative } from "../support/oracle.ts";
import { federatedCases } from "../support/federated-case.ts";
import { FederatedRun } from "../support/federated-run.ts";
import { countCase, createStatistics, printStatistics, rareOperators } from "../support/query-statistics.ts";

const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 20_261_124);
const runs = Math.max(500, Number(process.env["FEDWAY_FEDERATED_CASES"] ?? 600));
/** Differences beyond these are counted but not shrunk. */
const shrunk = Number(process.env["FEDWAY_DIFFERENTIAL_SHRUNK"] ?? 5);

test(`${runs} generated queries over federations of which something is known`, { timeout: 14_400_000 }, async () => {
  const statistics = createStatistics();
  const counts = new Map<string, number>();
  const count = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const run = new FederatedRun();
  const failures: string[] = [];
  let failed = 0;
  let requests = 0;
  for (const value of federatedCases(seed, runs)) {
    const outcome = await run.outcome(value);
    countCase(statistics, outcome.query, isInformative(outcome.query, outcome.expected.answer));
    count(value.mode);
    count(`told ${value.told}`);
    count(value.data.layout);
    value.knowledge.forEach((one) => count(`known ${one}`));
    count(`plan ${outcome.plan?.kind}`);
    if (outcome.expected.anyRows !== undefined) count("limit without order");
    requests += outcome.requests;
    if (outcome.difference === undefined) continue;
    failed++;
    if (failures.length < shrunk) failures.push(await run.shrunk(value, outcome.difference));
  }
  const shares = [...counts].map(([name, times]) => `${name} ${times}`).join(", ");
  console.log(`${printStatistics(statistics, seed)}\n${shares}\n${requests} requests, ${failed} differences`);
  expect(failures.join("\n\n")).toBe("");
  expect(failed).toBe(0);
  expect(statistics.cases).toBe(runs);
  expect(statistics.nonEmpty / statistics.cases).toBeGreaterThanOrEqual(0.6);
  expect(rareOperators(statistics, runs / 50)).toEqual([]);
});
