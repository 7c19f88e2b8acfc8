import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { readShardSpec, readShardSpecs } from "../../../shards/src/spec.ts";

const least = { dataset: "harbour", inputs: ["a.nt"], queries: "q.json", licence: "https://example.org/licence" };

function shouldRefuse(json: unknown, message: RegExp, next?: RegExp): void {
  let thrown: unknown;
  try {
    readShardSpec(json);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(FedwayError);
  const { code, message: found, details } = thrown as FedwayError;
  expect({ code, found }).toEqual({ code: "REQUEST_INVALID", found: expect.stringMatching(message) });
  if (next) expect(details.next).toMatch(next);
}

describe("the description of shards", () => {
  it("takes the least that is needed, with defaults", () => {
    expect(readShardSpec(least)).toEqual({
      ...least,
      title: "harbour",
      mode: "balanced",
      gzip: false,
      skipBadLines: false,
    });
  });

  it("takes every field", () => {
    const all = {
      ...least,
      title: "Ferries",
      only: { dataset: "harbour" },
      ontology: "o.ttl",
      prefixes: { "": "https://example.org/", v: "https://example.org/v#" },
      reading: { classRule: "single", infer: true },
      mode: "balanced",
      shares: { vertical: 0.18, class: 0.3, horizontal: 0.51 },
      maxShards: 2,
      minShardTriples: 1,
      precedence: ["class", "vertical", "horizontal"],
      buckets: 4,
      output: "out",
      ids: "opaque",
      topics: { base: "Whatever else there is" },
      gzip: true,
      skipBadLines: true,
      citation: "A. Author, 2020",
      source: "https://example.org/source",
    };
    expect(readShardSpec(all)).toEqual(all);
  });

  it("can be of several datasets, each named where a text says so", () => {
    const { dataset: _, ...more } = least;
    const specs = readShardSpecs({
      ...more,
      datasets: ["a", "b"],
      inputs: ["{dataset}/{dataset}.nt"],
      only: { kg: "{dataset}" },
    });
    expect(specs.map(({ dataset, title, inputs, only }) => [dataset, title, inputs, only])).toEqual([
      ["a", "a", ["a/a.nt"], { kg: "a" }],
      ["b", "b", ["b/b.nt"], { kg: "b" }],
    ]);
    expect(readShardSpecs(least)).toEqual([readShardSpec(least)]);
    for (const datasets of [[], "a", ["a", "a"], ["../a"], [1]]) {
      expect(() => readShardSpecs({ ...more, datasets })).toThrow(FedwayError);
    }
    expect(() => readShardSpecs({ ...least, datasets: ["a"] })).toThrow("both dataset and datasets");
  });

  it.each<[string, unknown, RegExp, RegExp?]>([
    ["no object", [], /has to be an object/],
    ["null", null, /has to be an object/],
    ["an unknown field", { ...least, licens: "x" }, /unknown field "licens"/, /Did you mean "licence"/],
    ["a field of objects", { ...least, constructor: 1 }, /unknown field "constructor"/],
    ["no dataset", { ...least, dataset: undefined }, /dataset is missing/],
    ["a dataset that is a path", { ...least, dataset: "../up" }, /dataset has to be/],
    [
      "a dataset that is called like an unfinished one",
      { ...least, dataset: "x.building" },
      /may not end in \.building/,
    ],
    ["a dataset of upper case", { ...least, dataset: "Harbour" }, /dataset has to be/],
    ["a dataset with a line break", { ...least, dataset: "a\n" }, /not printable/],
    ["no inputs", { ...least, inputs: [] }, /inputs has to be a list/],
    ["inputs that are no list", { ...least, inputs: "a.nt" }, /inputs has to be a list/],
    ["the same input twice", { ...least, inputs: ["a.nt", "a.nt"] }, /names a file twice/],
    ["a NUL in a path", { ...least, inputs: ["a\0.nt"] }, /not printable/],
    ["no queries", { dataset: "a", inputs: ["a"], licence: "urn:x:y" }, /queries is missing/],
    ["no licence", { dataset: "a", inputs: ["a"], queries: "q" }, /licence is missing/],
    ["a licence that is no IRI", { ...least, licence: "CC0" }, /licence has to be an IRI/],
    ["an unknown mode", { ...least, mode: "fast" }, /mode has to be one of balanced, guaranteed, paper/],
    ["a precedence with a kind twice", { ...least, precedence: ["class", "class", "vertical"] }, /each once/],
    ["a precedence of two", { ...least, precedence: ["class", "vertical"] }, /each once/],
    ["one bucket", { ...least, buckets: 1 }, /from 2 to 64/],
    ["half a bucket", { ...least, buckets: 2.5 }, /from 2 to 64/],
    ["no shards", { ...least, maxShards: 0 }, /maxShards has to be a whole number from 2/],
    ["one shard", { ...least, maxShards: 1 }, /maxShards has to be a whole number from 2/],
    ["shards that are no number", { ...least, maxShards: Number.NaN }, /maxShards has to be a whole number/],
    ["shards of no triples", { ...least, minShardTriples: 0 }, /minShardTriples has to be a whole number from 1/],
    ["shares above 1", { ...least, shares: { vertical: 0.6, class: 0.6 } }, /add up to 1\.2/, /add up to 1, or/],
    ["shares below 1", { ...least, shares: { vertical: 0.2, class: 0.2, horizontal: 0.2 } }, /add up to 0\.6/],
    ["a negative share", { ...least, shares: { class: -0.1 } }, /share of class rules has to be a number from 0 to 1/],
    ["a share that is no number", { ...least, shares: { class: Number.NaN } }, /share of class rules has to be/],
    ["shares in percent", { ...least, shares: { class: 30 } }, /from 0 to 1/],
    ["a share of an unknown kind", { ...least, shares: { diagonal: 1 } }, /unknown field "diagonal"/],
    ["shares as a list", { ...least, shares: [0.2] }, /shares has to be an object/],
    ["a target in paper mode", { ...least, mode: "paper", maxShards: 8 }, /maxShards has no meaning in paper mode/],
    ["gzip as text", { ...least, gzip: "yes" }, /gzip has to be true or false/],
    [
      "an unknown part of a reading",
      { ...least, reading: { classRules: "pair" } },
      /unknown field "classRules"/,
      /classRule"/,
    ],
    ["a wrong part of a reading", { ...least, reading: { verticalRule: "triple" } }, /one of pair, single/],
    ["a filter of numbers", { ...least, only: { year: 1 } }, /only has to be a text/],
    ["a text of 3,000 characters", { ...least, title: "x".repeat(3_000) }, /longer than 2000/],
    ["half a surrogate pair", { ...least, title: "\ud800" }, /not printable/],
  ])("refuses %s", (_, json, message, next) => shouldRefuse(json, message, next));
});
