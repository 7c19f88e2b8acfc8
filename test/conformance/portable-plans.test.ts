import { sample } from "fast-check";
import { expect, test } from "vitest";
import { type PortablePlan, portablePlan } from "../../src/plan/portable-plan.ts";
import { answerDifference } from "../support/canonical-answer.ts";
import { createMergedFederation, mergedAnswer } from "../support/merged-federation.ts";
import { createOracle, isInformative, isTotallyOrdered } from "../support/oracle.ts";
import { generatedCases } from "../support/query-generator.ts";
import { nTriplesAt } from "../support/query-generator-data.ts";
import { printQuery } from "../support/query-generator-syntax.ts";
import { withoutAlternatives, withoutServices } from "../support/query-without-service.ts";

// A query of the other suites' default seed keeps the oracle busy for more than ten minutes once its SERVICEs are gone.
const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 7);
const runs = Math.max(150, Number(process.env["FEDWAY_DIFFERENTIAL_CASES"] ?? 150));
const names = [0, 1, 2, 3];
const endpoints = names.map((index) => `http://m${index}.example/data`);

test(`${runs} generated queries have the same answers as portable plans at another engine`, {
  timeout: 600_000,
}, () => {
  const federation = createMergedFederation([]);
  const failures: string[] = [];
  let portable = 0;
  let informative = 0;
  for (const value of sample(generatedCases(), { seed, numRuns: runs })) {
    const data = names.slice(0, value.data.endpoints).map((index) => nTriplesAt(value.data, index));
    federation.setData(data);
    const query = withoutServices(value.query);
    const inOrder = isTotallyOrdered(value.query);
    const text = printQuery(query, { keyword: "GRAPH", endpoints });
    const plan: PortablePlan = portablePlan(federation.plan(text));
    if (!("query" in plan)) continue;
    portable++;
    const judged = printQuery(withoutAlternatives(query), { keyword: "GRAPH", endpoints });
    const expected = mergedAnswer(data, judged, inOrder);
    if (isInformative(query, expected)) informative++;
    const oracle = createOracle(new Map(federation.members.map(({ url }, index) => [url, data[index] ?? ""])));
    const answer = oracle.answer(plan.query.replaceAll(/SERVICE(?= <)/gu, "GRAPH"), { inOrder });
    const found = answerDifference(expected, answer);
    if (found !== undefined) failures.push(`${text}\n${plan.query}\n${found}`);
  }
  console.log(`${portable} of ${runs} plans are portable, ${informative} with solutions; seed ${seed}`);
  expect(failures.slice(0, 3).join("\n\n")).toBe("");
  expect(portable / runs).toBeGreaterThan(0.6);
  expect(informative / portable).toBeGreaterThan(0.5);
});
