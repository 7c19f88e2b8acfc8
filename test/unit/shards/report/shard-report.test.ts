import { describe, expect, it } from "vitest";
import { reportOf, type ShardReport } from "../../../../src/shards/report/shard-report.ts";
import { ns, problem, reportInput, solution } from "../../../support/shard-benchmark.ts";

const report = reportOf(reportInput);

describe("the small report", () => {
  it("names its format", () =>
    expect(report).toMatchObject({
      format: "fedway-shard-report",
      version: 1,
      mode: "guaranteed",
      predicted: false,
      optimum: { cost: 3, lowerBound: 3, proven: true },
    }));

  it("says what each rule covers", () =>
    expect(report.rules).toStrictEqual([
      { name: "R1", kind: "vertical", iris: [`${ns}label`, `${ns}price`], covers: ["q2"], questions: 1 },
      { name: "R2", kind: "class", iris: [`${ns}Order`, `${ns}Product`], covers: ["q3"], questions: 1 },
      { name: "R3", kind: "horizontal", iris: [`${ns}Person`], buckets: 2, covers: ["q1"], questions: 3 },
    ]));

  it("numbers the shards and gives their share of the 40 triples", () => {
    expect(report.shards.map(({ number, triples, share }) => [number, triples, share])).toStrictEqual([
      [1, 15, 0.375],
      [2, 5, 0.125],
      [3, 6, 0.15],
      [4, 4, 0.1],
      [5, 5, 0.125],
      [6, 5, 0.125],
    ]);
    for (const { id } of report.shards) expect(id).toMatch(/^s[0-9a-f]{10}$/);
  });

  it("says of each query which rules cover it, what it needs and what it touches", () =>
    expect(report.queries.slice(2)).toStrictEqual([
      {
        number: 3,
        id: "q3",
        same: ["q3"],
        question: "Which orders?",
        text: problem.queries[2]?.query.text,
        rules: ["R2"],
        apartBy: ["R1", "R2"],
        implied: [`c/${ns}Order`, `c/${ns}Product`],
        touched: [`c/${ns}Order`, `c/${ns}Product`, `v/${ns}price`],
        federated: true,
        source: "one-shard",
      },
      {
        number: 4,
        id: "q4",
        same: ["q4"],
        question: "Who flies?",
        text: problem.queries[3]?.query.text,
        rules: [],
        apartBy: [],
        implied: [],
        touched: [],
        federated: false,
        source: "none",
        reason: "No triple of the data matches one of its patterns.",
      },
    ]));

  it("has the readings side by side", () =>
    expect(
      report.readings.map(({ reading, used, composition, cost, lowerBound, proven, impossible }) => [
        reading.name,
        used,
        composition,
        [cost, lowerBound, proven, impossible],
      ]),
    ).toStrictEqual([
      ["literal", true, { vertical: 1, class: 1, horizontal: 1 }, [3, 3, true, 1]],
      ["single-class", false, { vertical: 1, class: 1, horizontal: 1 }, [3, 2, false, 1]],
    ]));

  it("survives JSON, and the same input gives the same bytes", () => {
    const text = JSON.stringify(report);
    expect(JSON.stringify(reportOf(reportInput))).toBe(text);
    expect(JSON.parse(text)).toMatchObject({
      statistics: { shards: 6, questions: 6 },
      leftOut: [{ id: "q9", line: 2 }],
    });
    expect(text).not.toContain("seconds");
  });
});

describe("reasons why a query is not federated", () => {
  const reasonWith = (changes: Partial<typeof reportInput>): ShardReport["queries"][number] | undefined =>
    reportOf({ ...reportInput, solution: { ...solution, impossible: [] }, ...changes }).queries[1];

  it("nothing matches", () =>
    expect(reasonWith({ touched: [[], [], [], []] as never })?.reason).toBe(
      "No triple of the data matches any of its patterns.",
    ));
  it("its rules are shadowed", () =>
    expect(reasonWith({ touched: [[], ["base"], [], []] as never })?.reason).toMatch(
      /^All its matches lie in one shard, base: the rules that cover it do not take apart/,
    ));
  it("no rule covers it", () =>
    expect(
      reasonWith({ touched: [[], ["base"], [], []] as never, problem: { ...problem, candidates: [] } })?.reason,
    ).toBe("All its matches lie in one shard, base, and no chosen rule covers it."));
  it("none is needed", () => expect(reasonWith({})).not.toHaveProperty("reason"));
});
