import { describe, expect, it } from "vitest";
import { heldOutOutcomes, heldOutQueries } from "../support/dialect/held-out.ts";
import { hasPublishedData } from "../support/published-shards.ts";
import { publishedQuestions } from "../support/published-questions.ts";
import { typedCheck } from "../support/typed-registry.ts";
import { suiteText, syntaxCases } from "../support/w3c/suite.ts";
import { exampleQueries } from "../bench/agents/recover/gold-queries.ts";
import { deviationOf } from "./w3c-deviations.ts";

const { check } = await typedCheck({ data: { some: "<urn:a> <urn:b> <urn:c> ." } });

/** The kinds of changes that are offered as what another language writes. */
async function kindsOf(text: string): Promise<readonly string[]> {
  const { repairs } = await check(text, { endpoint: "some" });
  return repairs.flatMap(({ kind }) => (kind.startsWith("dialect-") ? [kind.slice("dialect-".length)] : []));
}

const cases = syntaxCases().map(({ name, query, legal }) => ({
  name,
  legal: legal && deviationOf(name, "syntax") === undefined,
  text: `BASE <${query}>\n${suiteText(query)}`,
}));

describe("queries with habits of other languages", () => {
  it("are mended, nine of ten that were written without looking at the rules", async () => {
    const counts = { mended: 0, wrong: 0, none: 0 };
    for await (const { outcome } of heldOutOutcomes()) counts[outcome]++;
    const all = counts.mended + counts.wrong + counts.none;
    expect(new Set(heldOutQueries().map(({ kind }) => kind)).size).toBe(45);
    expect(all).toBe(704);
    expect(counts.mended / all, JSON.stringify(counts)).toBeGreaterThan(0.9);
    expect(counts.wrong / all, JSON.stringify(counts)).toBeLessThan(0.03);
  });

  it("are no right queries: those are never changed", async () => {
    const right = [
      ...cases.filter(({ legal }) => legal).map(({ text }) => text),
      ...new Set(heldOutQueries().map(({ meant }) => meant)),
      ...exampleQueries.map(({ text }) => text),
      ...(hasPublishedData ? new Set(publishedQuestions().map(({ sparql }) => sparql)) : []),
    ];
    const changed: string[] = [];
    for (const text of right) if ((await kindsOf(text)).length > 0) changed.push(text);
    expect(right.length).toBeGreaterThan(300);
    expect(changed).toEqual([]);
  });

  it("are among the illegal queries of the W3C only where the form says what is meant", async () => {
    const mended: Record<string, number> = {};
    for (const { legal, text } of cases) {
      if (legal) continue;
      for (const kind of new Set(await kindsOf(text))) mended[kind] = (mended[kind] ?? 0) + 1;
    }
    expect(mended).toEqual({
      and: 1,
      column: 2,
      dot: 12,
      filter: 1,
      "group-by": 8,
      prefix: 1,
      subquery: 1,
      union: 1,
    });
  });
});
