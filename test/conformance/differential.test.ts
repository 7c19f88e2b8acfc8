import { sample } from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerDifference, bindingsAnswer } from "../support/canonical-answer.ts";
import { startEndpoints, startFederation, type Federation, type TestEndpoints } from "../support/federation-harness.ts";
import { createOracle, expectedAnswer, isInformative, isTotallyOrdered } from "../support/oracle.ts";
import { generatedCases } from "../support/query-generator.ts";
import { generateServiceData, nTriplesAt, type GeneratedCase } from "../support/query-generator-data.ts";
import { reduceCase } from "../support/query-generator-shrink.ts";
import { printQuery } from "../support/query-generator-syntax.ts";
import { countCase, createStatistics, printStatistics, rareOperators } from "../support/query-statistics.ts";
import { counterExamples, type CounterExample } from "./counter-examples.ts";

const names = ["a", "b", "c", "d"] as const;
const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 20_240_601);
const runs = Math.max(250, Number(process.env["FEDWAY_DIFFERENTIAL_CASES"] ?? 250));
/** Differences beyond these are counted but not shrunk. */
const shrunk = 5;

/** Refuses connections: clauses for it are SILENT. */
const dead = "http://127.0.0.1:9/sparql";
/** The endpoints of a clause are objects of a pattern before it. */
const followed = /\/(?:server|mirror)> (\?v\d+) \.\s+\}\s+(?:OPTIONAL \{\s+)?SERVICE (?:SILENT )?\1/u;

let endpoints: TestEndpoints;
let federation: Federation;
let urls: readonly string[];

beforeAll(async () => {
  endpoints = await startEndpoints({ a: "", b: "", c: "", d: "" });
  urls = names.map((name) => endpoints.url(name));
  federation = await startFederation({ ...endpoints.urls, dead });
});

afterAll(async () => {
  await federation?.close();
  await endpoints?.close();
});

/** The difference between oracle and federation as text; undefined when there is none. */
async function difference(value: GeneratedCase): Promise<string | undefined> {
  for (const [index, name] of names.entries())
    endpoints.setData(name, nTriplesAt(value.data, index, { endpoints: urls, dead }));
  const expected = expectedAnswer(value, urls, dead);
  try {
    const inOrder = isTotallyOrdered(value.query);
    const text = printQuery(value.query, { keyword: "SERVICE", endpoints: urls, dead });
    return answerDifference(expected, await federation.answer(text, { inOrder, timeoutMs: 120_000 }));
  } catch (error) {
    return `failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** While shrinking, a wrong answer stays any wrong answer, but a failure keeps its code. */
const sortOf = (text: string): string => (text.startsWith("failed") ? text.slice(0, 50) : "wrong");

async function shrinkAndPrint(value: GeneratedCase, found: string): Promise<string> {
  const reduced = await reduceCase(value, async (simpler) => {
    const again = await difference(simpler).catch(() => undefined);
    return again !== undefined && sortOf(again) === sortOf(found);
  });
  const spelling = { keyword: "SERVICE" as const, endpoints: ["A", "B", "C", "D"], dead: "dead" };
  const facts = reduced.data.facts.map(
    (fact) => `${fact.endpoints.join(",")} ${fact.subject} ${fact.predicate} ${fact.object}`,
  );
  return [printQuery(reduced.query, spelling), ...facts, await difference(reduced), `As generated: ${found}`].join(
    "\n",
  );
}

test("generated queries have the oracle's answers", { timeout: 1_200_000 }, async () => {
  const statistics = createStatistics();
  const failures: string[] = [];
  let failed = 0;
  const counts = { dead: 0, followed: 0 };
  for (const value of sample(generatedCases(generateServiceData), { seed, numRuns: runs })) {
    countCase(statistics, value.query, isInformative(value.query, expectedAnswer(value, urls, dead)));
    const text = printQuery(value.query, { keyword: "SERVICE", endpoints: urls, dead });
    if (text.includes(`SERVICE SILENT <${dead}>`)) counts.dead++;
    if (followed.test(text)) counts.followed++;
    const found = await difference(value);
    if (found === undefined) continue;
    failed++;
    if (failures.length < shrunk) failures.push(await shrinkAndPrint(value, found));
  }
  console.log(`${printStatistics(statistics, seed)}\n${JSON.stringify(counts)}\n${failed} differences`);
  expect(failures.join("\n\n")).toBe("");
  expect(failed).toBe(0);
  expect(statistics.cases).toBeGreaterThanOrEqual(250);
  expect(statistics.nonEmpty / statistics.cases).toBeGreaterThanOrEqual(0.6);
  expect(rareOperators(statistics, runs / 20)).toEqual([]);
  expect(Math.min(counts.dead, counts.followed)).toBeGreaterThanOrEqual(runs / 25);
});

describe("counter-examples", () => {
  const placeholders = ["A", "B", "C"] as const;
  const withUrls = (text: string): string =>
    placeholders.reduce((result, letter, index) => result.replaceAll(`<${letter}>`, `<${urls[index]}>`), text);

  test("are all there", () => {
    expect(counterExamples.length).toBeGreaterThanOrEqual(20);
  });

  test.each(counterExamples.map((one) => [one.name, one] as const))("%s", async (_, one: CounterExample) => {
    for (const [index, letter] of placeholders.entries()) endpoints.setData(names[index] ?? "", one.data[letter] ?? "");
    const inOrder = one.inOrder === true;
    const expected = bindingsAnswer(one.rows.map(withUrls), inOrder);
    const query = withUrls(one.query);
    const data = new Map(placeholders.map((letter, index) => [urls[index] ?? "", one.data[letter] ?? ""]));
    const judged = createOracle(data).answer(query.replaceAll(/\bSERVICE\b/gu, "GRAPH"), { inOrder });
    expect(answerDifference(expected, judged), "the oracle").toBeUndefined();
    expect(answerDifference(expected, await federation.answer(query, { inOrder }))).toBeUndefined();
  });
});
