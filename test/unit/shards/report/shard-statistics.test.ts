import { describe, expect, it } from "vitest";
import { placementOf } from "../../../../src/shards/rules/placement.ts";
import type { Rule } from "../../../../src/shards/rules/problem.ts";
import {
  impliedShards,
  queryShardsOf,
  relevantShards,
  touchedShards,
} from "../../../../src/shards/report/query-shards.ts";
import { statisticsOf } from "../../../../src/shards/report/shard-statistics.ts";
import { cells, ns, problem, shards, solution } from "../../../support/shard-benchmark.ts";

const placement = placementOf(solution.rules);

function shouldImply(rules: readonly Rule[], ...keys: readonly string[]): void {
  expect(impliedShards(rules)).toStrictEqual(keys);
}

describe("implied shards", () => {
  const pair: Rule = { kind: "vertical", predicates: ["http://a", "http://b"] };
  it("of no rule", () => shouldImply([]));
  it("of a pair of predicates", () => shouldImply([pair], "v/http://a", "v/http://b"));
  it("of a single class", () => shouldImply([{ kind: "class", classes: ["http://c"] }], "c/http://c", "elsewhere"));
  it("of two single classes", () =>
    shouldImply(
      [
        { kind: "class", classes: ["http://d"] },
        { kind: "class", classes: ["http://c"] },
      ],
      "c/http://c",
      "c/http://d",
      "elsewhere",
    ));
  it("of three buckets", () =>
    shouldImply(
      [{ kind: "horizontal", class: "http://c", buckets: 3 }],
      "h/http://c/0",
      "h/http://c/1",
      "h/http://c/2",
    ));
  it("count once", () =>
    shouldImply(
      [pair, { kind: "vertical", predicates: ["http://b", "http://c"] }],
      "v/http://a",
      "v/http://b",
      "v/http://c",
    ));
});

const touched = touchedShards(problem.placement!, placement);

it("touched shards are those of the touched cells", () =>
  expect(touched).toStrictEqual([
    [`h/${ns}Person/0`, `h/${ns}Person/1`],
    [`v/${ns}label`, `v/${ns}price`],
    [`c/${ns}Order`, `c/${ns}Product`, `v/${ns}price`],
    [],
  ]));

it("a cell that is not there is an error", () =>
  expect(() => touchedShards({ ...problem.placement!, touches: [[99]] }, placement)).toThrow("no cell 99 among 6"));

describe("relevant shards", () => {
  const relevantTo = (predicate?: string, object?: string): readonly (readonly string[])[] => {
    const pattern = { ...(predicate === undefined ? {} : { predicate }), ...(object === undefined ? {} : { object }) };
    return relevantShards([{ ...problem.queries[0]!, patterns: [pattern] }], cells, placement);
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
  const queries = queryShardsOf({ problem, rules: solution.rules, touched });
  const statistics = statisticsOf({ rules: solution.rules, queries, shards: [...shards, { key: "base", triples: 0 }] });

  it("rules that cover a query come from the candidates", () =>
    expect(queries.map(({ rules }) => rules.map(({ kind }) => kind))).toStrictEqual([
      ["horizontal"],
      ["vertical"],
      ["class"],
      [],
    ]));

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
    const relevant = relevantShards(problem.queries, cells, placement);
    const more = queryShardsOf({ problem, rules: solution.rules, touched, relevant });
    expect(statisticsOf({ rules: solution.rules, queries: more, shards }).relevantFanOut?.summary).toStrictEqual({
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

  it("lists of other lengths are an error", () =>
    expect(() => queryShardsOf({ problem, rules: [], touched: [[]] })).toThrow(
      "shards of 1 queries were given, there are 4",
    ));
});
