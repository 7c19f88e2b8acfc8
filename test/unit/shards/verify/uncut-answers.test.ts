import { describe, expect, it } from "vitest";
import { compareAnswers } from "../../../../shards/src/verify/compare-answers.ts";
import type { AnswerStore } from "../../../../shards/src/verify/answer-store.ts";

const never = new AbortController().signal;

/** A store with the rows of each query; others fail. */
const storeOf = (answers: Readonly<Record<string, readonly string[]>>): AnswerStore => ({
  answer: async (query) => {
    const rows = answers[query]?.map((value) => ({ x: { type: "literal", value } }));
    if (rows === undefined) throw new Error(`no answer to ${query}`);
    return {
      mediaType: "application/sparql-results+json",
      body: Buffer.from(JSON.stringify({ results: { bindings: rows } })),
    };
  },
  close: async () => {},
});

interface Rows {
  readonly cut: readonly string[];
  readonly uncut?: readonly string[];
}
const query = "SELECT ?x { ?x <urn:p> ?y } ORDER BY ?y LIMIT 1";
const uncut = "SELECT ?x (?y AS ?key1) { ?x <urn:p> ?y } ORDER BY ?y ";

const byChance = "The rows differ, as those of a query that depends on order or chance may.";

/** Outcome and reasons of rows that the whole and the union have for a query. */
async function compared([whole, union]: readonly [Rows, Rows], text = query): Promise<readonly string[]> {
  const sideOf = (rows: Rows): AnswerStore => storeOf({ [text]: rows.cut, ...(rows.uncut && { [uncut]: rows.uncut }) });
  const sides = { whole: sideOf(whole), union: sideOf(union) };
  const check = await compareAnswers([{ id: "q1", text }], sides, { signal: never, timeUp: never, onQuery: () => {} });
  return [check.outcome, ...check.findings.map(({ reason }) => reason)];
}

describe("other rows of a query with LIMIT", () => {
  const shouldBe = (name: string, sides: readonly [Rows, Rows], outcome: readonly string[]): void =>
    it(name, async () => expect(await compared(sides)).toStrictEqual(outcome));
  shouldBe(
    "are as good when both sides have the same rows to choose from",
    [
      { cut: ["a"], uncut: ["a", "b"] },
      { cut: ["b"], uncut: ["b", "a"] },
    ],
    ["held"],
  );
  shouldBe(
    "are wrong when they have not",
    [
      { cut: ["a"], uncut: ["a", "b"] },
      { cut: ["b"], uncut: ["b"] },
    ],
    ["broken", "The union gives other rows, and does so without LIMIT and OFFSET too."],
  );
  shouldBe(
    "are unknown when the whole has no answer to that",
    [{ cut: ["a"] }, { cut: ["b"], uncut: ["b"] }],
    ["unknown", byChance],
  );
  shouldBe(
    "are unknown when the union has no answer to that",
    [{ cut: ["a"], uncut: ["a"] }, { cut: ["b"] }],
    ["unknown", byChance],
  );
  shouldBe(
    "are wrong when there are more of them",
    [
      { cut: ["a"], uncut: ["a"] },
      { cut: ["a", "b"], uncut: ["a"] },
    ],
    ["broken", "The union gives 2 rows, not 1."],
  );
});

describe("other rows are unknown", () => {
  it.each([
    "SELECT (RAND() AS ?x) {} LIMIT 1",
    "SELECT DISTINCT ?x { ?x <urn:p> ?y } ORDER BY ?y LIMIT 1",
    "SELECT ?x { { SELECT ?x { ?x <urn:p> ?y } LIMIT 1 } } LIMIT 1",
    "SELECT ?x { { SELECT ?x { ?x <urn:p> ?y } LIMIT 1 } }",
  ])("of %s", async (text) => {
    expect(await compared([{ cut: ["a"] }, { cut: ["b"] }], text)).toStrictEqual(["unknown", byChance]);
  });
});
