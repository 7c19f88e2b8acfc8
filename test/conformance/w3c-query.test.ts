import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { expectedAnswer, suiteDifference } from "../support/w3c/suite-answer.ts";
import { startSuiteWays, type SuiteWays, type Way } from "../support/w3c/suite-ways.ts";
import { queryCases, suiteText, type QueryCase } from "../support/w3c/suite.ts";
import { deviationOf, notInOrder, usesNamedGraphs } from "./w3c-deviations.ts";

const cases = queryCases();
let ways: SuiteWays;

beforeAll(async () => {
  ways = await startSuiteWays(cases);
});
afterAll(async () => ways?.close());

async function difference(way: Way, one: QueryCase): Promise<string | undefined> {
  const expected = await expectedAnswer(one.result);
  const isOrdered = expected.inOrder && /\bORDER\s+BY\b/iu.test(suiteText(one.query));
  const inOrder = isOrdered && !notInOrder.includes(one.name);
  try {
    return suiteDifference(expected, await ways.answer(way, one, expected.kind), { inOrder, lax: one.lax });
  } catch (error) {
    if (error instanceof FedwayError) return `failed: ${error.code} ${error.message}`;
    return `failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** A federation's members are one default graph (src/plan/README.md), and results that are not serialised are no CSV. */
function isAsked(way: Way, one: QueryCase): boolean {
  if (way === "service" || one.name.startsWith("1.1/service/"))
    return way === "service" && one.name.includes("/service/");
  if (way === "own" || way === "wrapped") return true;
  return !usesNamedGraphs(one) && (way === "split" || !one.result.endsWith(".csv"));
}

test("the suites are whole", () => {
  expect(cases).toHaveLength(434);
  expect(cases.filter(usesNamedGraphs)).toHaveLength(34);
});

describe.each(["own", "wrapped", "split", "files", "shards", "split-told", "shards-told", "service"] as const)(
  "%s",
  (way) => {
    const asked = cases.filter((one) => isAsked(way, one));
    test.each(asked.map((one) => [one.name, one] as const))("%s", async (name, one) => {
      const deviation = deviationOf(name, way);
      const found = await difference(way, one);
      if (deviation === undefined) expect(found, suiteText(one.query)).toBeUndefined();
      else expect(found, `passes: take it from the list (${deviation})`).toBeDefined();
    });
  },
);
