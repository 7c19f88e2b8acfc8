import { sample } from "fast-check";
import { expect, test } from "vitest";
import { answerDifference } from "../support/canonical-answer.ts";
import {
  createMergedFederation,
  mergedAnswer,
  type MemberKind,
  type MergedFederation,
} from "../support/merged-federation.ts";
import { isInformative, isTotallyOrdered } from "../support/oracle.ts";
import { generatedCases } from "../support/query-generator.ts";
import { nTriplesAt, type GeneratedCase } from "../support/query-generator-data.ts";
import { printQuery } from "../support/query-generator-syntax.ts";
import { countCase, createStatistics, printStatistics } from "../support/query-statistics.ts";
import { withoutAlternatives, withoutServices } from "../support/query-without-service.ts";

const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 20_250_703);
const runs = Math.max(500, Number(process.env["FEDWAY_DIFFERENTIAL_CASES"] ?? 500));
const names = [0, 1, 2, 3];
const endpoints = names.map((index) => `http://m${index}.example/data`);

/** One line a kind of member: the answers over these members are those over the merge of their data. */
function shouldEqualMerge(name: string, kinds: readonly MemberKind[], cases: number): void {
  test(`${name}: ${cases} generated queries have the answers of the merged graph`, { timeout: 1_200_000 }, async () => {
    const statistics = createStatistics();
    const failures: string[] = [];
    const federation = createMergedFederation([], kinds, { pageSize: 5 });
    for (const value of sample(generatedCases(), { seed, numRuns: cases })) {
      const { text, found, informative } = await compare(value, federation);
      countCase(statistics, value.query, informative);
      if (found !== undefined) failures.push(`${text}\n${found}`);
    }
    console.log(`${name}: ${printStatistics(statistics, seed)}\n${failures.length} differences`);
    expect(failures.slice(0, 5).join("\n\n")).toBe("");
    expect(failures).toEqual([]);
    expect(statistics.cases).toBe(cases);
    expect(statistics.nonEmpty / statistics.cases).toBeGreaterThanOrEqual(0.6);
  });
}

async function compare(value: GeneratedCase, federation: MergedFederation) {
  const data = names.slice(0, value.data.endpoints).map((index) => nTriplesAt(value.data, index));
  const query = withoutServices(value.query);
  const inOrder = isTotallyOrdered(value.query);
  const text = printQuery(query, { keyword: "GRAPH", endpoints });
  const judged = printQuery(withoutAlternatives(query), { keyword: "GRAPH", endpoints });
  const expected = mergedAnswer(data, judged, inOrder);
  const informative = isInformative(query, expected);
  try {
    federation.setData(data);
    const answer = await federation.answer(text, inOrder);
    return { text, found: answerDifference(expected, answer), informative };
  } catch (error) {
    return { text, found: `failed: ${error instanceof Error ? error.stack : String(error)}`, informative };
  }
}

shouldEqualMerge("SPARQL members", ["sparql"], Math.ceil(runs * 0.6));
shouldEqualMerge("members of all kinds", ["tpf", "sparql", "file", "tpf"], Math.ceil(runs * 0.2));
shouldEqualMerge("fragments", ["tpf"], Math.ceil(runs * 0.1));
shouldEqualMerge("files", ["file"], Math.ceil(runs * 0.1));
