import { describe, expect, it } from "vitest";
import { type ComparedFigure, comparedFigures } from "../../../../shards/src/report/compared-figures.ts";
import { impliedShards, relevantShards, touchedShards } from "../../../../shards/src/report/query-shards.ts";
import { reportOf, type ShardReport } from "../../../../shards/src/report/shard-report.ts";
import {
  coefficientOfVariation,
  type FanOut,
  type ShardStatistics,
  statisticsOf,
  weightedSummary,
} from "../../../../shards/src/report/shard-statistics.ts";
import { keysOfCells, placementOf } from "../../../../shards/src/rules/placement.ts";
import type { Rule } from "../../../../shards/src/rules/problem.ts";
import { cells, ns, problem, reportInput, shards, solution } from "../../../support/shard-benchmark.ts";

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
    expect(report.rules).toMatchObject([
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
    expect(new Set(report.shards.map(({ id }) => id)).size).toBe(6);
  });

  it("says of each query which rules cover it, what it needs and what it touches", () =>
    expect(report.queries.slice(2)).toEqual([
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
      /^All its matches lie in one shard, base: the rules that cover it do not separate/,
    ));
  it("no rule covers it", () =>
    expect(
      reasonWith({ touched: [[], ["base"], [], []] as never, problem: { ...problem, candidates: [] } })?.reason,
    ).toBe("All its matches lie in one shard, base, and no chosen rule covers it."));
  it("none is needed", () => expect(reasonWith({})?.reason).toBeUndefined());
});

const keysOfAll = keysOfCells(cells, placementOf(solution.rules));

describe("implied shards", () => {
  const pair: Rule = { kind: "vertical", predicates: ["http://a", "http://b"] };
  const single = (name: string): Rule => ({ kind: "class", classes: [`http://${name}`] });
  it.each<[string, readonly Rule[], readonly string[]]>([
    ["of no rule", [], []],
    ["of a pair of predicates", [pair], ["v/http://a", "v/http://b"]],
    ["of a single class", [single("c")], ["c/http://c", "elsewhere"]],
    ["of two single classes", [single("d"), single("c")], ["c/http://c", "c/http://d", "elsewhere"]],
    [
      "of three buckets",
      [{ kind: "horizontal", class: "http://c", buckets: 3 }],
      ["h/http://c/0", "h/http://c/1", "h/http://c/2"],
    ],
    [
      "count once",
      [pair, { kind: "vertical", predicates: ["http://b", "http://c"] }],
      ["v/http://a", "v/http://b", "v/http://c"],
    ],
  ])("%s", (_, rules, keys) => expect(impliedShards(rules)).toStrictEqual(keys));
});

it("touched shards are those of the touched cells", () =>
  expect(touchedShards(problem.placement!.touches, keysOfAll)).toStrictEqual(reportInput.touched));

describe("relevant shards", () => {
  const relevantTo = (predicate?: string, object?: string): readonly (readonly string[])[] => {
    return relevantShards([{ ...problem.queries[0]!, patterns: [{ predicate, object }] }], cells, keysOfAll);
  };
  const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
  it("of a predicate, whatever the object is", () =>
    expect(relevantTo(`<${ns}price>`, '"7"')).toStrictEqual([[`v/${ns}price`]]));
  it("of a class: where its instances are typed", () =>
    expect(relevantTo(type, `<${ns}Order>`)).toStrictEqual([[`c/${ns}Order`]]));
  it("of any class: where anything is typed", () =>
    expect(relevantTo(type)).toStrictEqual([[`c/${ns}Order`, `c/${ns}Product`, `h/${ns}Person/0`, `h/${ns}Person/1`]]));
  it("of a variable predicate: all", () => expect(relevantTo()[0]).toHaveLength(6));
});

describe("statistics", () => {
  const { statistics } = reportOf({ ...reportInput, shards: [...shards, { key: "base", triples: 0 }] });

  it("counts rules, shards and triples", () =>
    expect(statistics).toMatchObject({
      questions: 6,
      distinctQueries: 4,
      rules: 3,
      composition: { vertical: 1, class: 1, horizontal: 1 },
      shards: 6,
      emptyShards: 1,
      triples: 40,
      relevantFanOut: undefined,
    }));

  // 15 5 6 4 5 5: mean 20/3; squared differences (625 + 25 + 4 + 64 + 25 + 25) / 9 = 768 / 9; over 6: 128 / 9.
  it("sizes and their variation", () => {
    expect(statistics.sizes).toStrictEqual({ count: 6, mean: 40 / 6, median: 5, min: 4, max: 15 });
    expect(statistics.sizeVariation).toBeCloseTo(Math.sqrt(128) / 20, 12);
  });

  // Three questions ask q1, whose rule makes two shards.
  it("implied fan-out weighs questions", () =>
    expect(statistics.impliedFanOut).toStrictEqual({
      questions: 6,
      summary: { count: 6, mean: 10 / 6, median: 2, min: 0, max: 2 },
      distribution: [
        { shards: 0, questions: 1 },
        { shards: 1, questions: 0 },
        { shards: 2, questions: 5 },
      ],
    }));

  it("realised fan-out", () =>
    expect(statistics.realisedFanOut).toStrictEqual({
      questions: 6,
      summary: { count: 6, mean: 11 / 6, median: 2, min: 0, max: 3 },
      distribution: [
        { shards: 0, questions: 1 },
        { shards: 1, questions: 0 },
        { shards: 2, questions: 4 },
        { shards: 3, questions: 1 },
      ],
    }));

  it("fan-out by vocabulary, when it was looked at", () => {
    const relevant = relevantShards(problem.queries, cells, keysOfAll);
    expect(reportOf({ ...reportInput, relevant }).statistics.relevantFanOut?.summary).toStrictEqual({
      count: 6,
      mean: 11 / 6,
      median: 2,
      min: 0,
      max: 3,
    });
  });

  it("of nothing are unknown, not 0", () =>
    expect(statisticsOf({ rules: [], shards: [], queries: [] })).toMatchObject({
      sizes: undefined,
      sizeVariation: undefined,
      impliedFanOut: { questions: 0, summary: undefined, distribution: [] },
    }));
});

const fanOut = (...questions: readonly number[]): FanOut => ({
  questions: questions.reduce((sum, each) => sum + each, 0),
  summary: undefined,
  distribution: questions.map((each, at) => ({ shards: at, questions: each })),
});

const small: ShardStatistics = {
  questions: 4,
  distinctQueries: 4,
  rules: 2,
  composition: { vertical: 1, class: 1, horizontal: 0 },
  shards: 4,
  emptyShards: 0,
  triples: 40,
  sizes: undefined,
  sizeVariation: 0.5,
  largestShare: 0.75,
  impliedFanOut: fanOut(0, 0, 4),
  relevantFanOut: undefined,
  realisedFanOut: fanOut(1, 1, 2),
  answers: undefined,
};
const large: ShardStatistics = {
  ...small,
  questions: 16,
  rules: 6,
  composition: { vertical: 0, class: 3, horizontal: 3 },
  shards: 9,
  sizeVariation: 1,
  largestShare: 0.25,
  answers: { none: 2, "one-shard": 3, "several-shards": 9, unknown: 2 },
  impliedFanOut: fanOut(0, 0, 0, 16),
  realisedFanOut: fanOut(0, 3, 3, 10),
};

const figures = (...of: readonly ShardStatistics[]): ReadonlyMap<string, ComparedFigure> =>
  new Map(comparedFigures(of).map((figure) => [figure.id, figure]));

it("figures stand beside the published ones", () => {
  const published = Object.fromEntries([...figures(small)].map(([id, figure]) => [id, figure.published]));
  expect(published).toStrictEqual({
    rules: { mean: 3.7, median: 4, min: 2, max: 8 },
    "vertical-share": { mean: 0.183 },
    "class-share": { mean: 0.3042 },
    "horizontal-share": { mean: 0.5128 },
    shards: { mean: 6.21, median: 6, min: 3, max: 14 },
    "size-variation": { mean: 0.88 },
    "implied-fan-out": { mean: 6.48, median: 6, min: 2, max: 14 },
    "largest-shard": undefined,
    "realised-fan-out": undefined,
    "no-match-by-solutions": { mean: 0.0484 },
    "no-match": undefined,
    "one-shard": { mean: 0.2449 },
    "two-shards": undefined,
    federated: undefined,
    "answered-alone": undefined,
  });
});

it("figures of several datasets: each dataset counts once, each question once", () => {
  const both = figures(small, large);
  const value = (id: string): unknown => both.get(id)?.value;
  expect(value("rules")).toStrictEqual({ count: 2, mean: 4, median: 4, min: 2, max: 6 });
  expect(value("vertical-share")).toStrictEqual({ count: 2, mean: 0.25, median: 0.25, min: 0, max: 0.5 });
  expect(value("class-share")).toStrictEqual({ count: 2, mean: 0.5, median: 0.5, min: 0.5, max: 0.5 });
  expect(value("shards")).toStrictEqual({ count: 2, mean: 6.5, median: 6.5, min: 4, max: 9 });
  expect(value("size-variation")).toStrictEqual({ count: 2, mean: 0.75, median: 0.75, min: 0.5, max: 1 });
  expect(value("implied-fan-out")).toStrictEqual({ count: 20, mean: 2.8, median: 3, min: 2, max: 3 });
  expect(value("realised-fan-out")).toStrictEqual({ count: 20, mean: 2.2, median: 2.5, min: 0, max: 3 });
  expect(value("largest-shard")).toStrictEqual({ count: 2, mean: 0.5, median: 0.5, min: 0.25, max: 0.75 });
  expect(both.get("no-match")?.value?.mean).toBe(1 / 20);
  expect(both.get("two-shards")?.value?.mean).toBe(5 / 20);
  expect(both.get("one-shard")?.value?.mean).toBe(4 / 20);
  expect(both.get("federated")?.value?.mean).toBe(15 / 20);
});

it("figures by solutions: of the questions whose answers are known, and of those with solutions", () => {
  const both = figures(small, large);
  expect(both.get("no-match-by-solutions")?.value?.mean).toBe(2 / 14);
  expect(both.get("answered-alone")?.value?.mean).toBe(3 / 12);
  for (const id of ["no-match-by-solutions", "answered-alone"]) expect(figures(small).get(id)?.value).toBeUndefined();
});

it("without rules and questions shares are unknown, not 0", () => {
  const none = figures({ ...small, rules: 0, impliedFanOut: fanOut(), realisedFanOut: fanOut() });
  for (const id of ["vertical-share", "implied-fan-out", "realised-fan-out", "no-match", "federated"]) {
    expect(none.get(id)?.value).toBeUndefined();
  }
  expect(none.get("rules")?.value?.mean).toBe(0);
});

describe("summaries", () => {
  const once = (...values: readonly number[]) => values.map((value) => ({ value, weight: 1 }));
  it.each([
    ["of nothing are not zero", [], undefined],
    ["an odd number has one in the middle", once(9, 1, 2), { count: 3, mean: 4, median: 2, min: 1, max: 9 }],
    ["an even number has two", once(4, 1, 3, 10), { count: 4, mean: 4.5, median: 3.5, min: 1, max: 10 }],
    [
      "weights are repetitions",
      [...once(5), { value: 2, weight: 3 }],
      { count: 4, mean: 2.75, median: 2, min: 2, max: 5 },
    ],
  ])("%s", (_, observed, summary) => expect(weightedSummary(observed)).toStrictEqual(summary));

  // Mean 5, squared differences 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, over 8: 4; root 2.
  it.each([
    [[2, 4, 4, 4, 5, 5, 7, 9], 0.4],
    [[3, 3, 3], 0],
    [[], undefined],
    [[0, 0], undefined],
  ])("the variation of %j is that of a population: %s", (values, variation) =>
    expect(coefficientOfVariation(values)).toBe(variation),
  );
});
