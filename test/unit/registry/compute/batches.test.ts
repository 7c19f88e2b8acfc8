import { describe, expect, it } from "vitest";
import { chunks, createBatcher, verificationParts, weighed } from "../../../../src/registry/compute/batches.ts";

const items = (...weights: number[]) => weights.map((weight, at) => ({ key: `k${at}`, weight }));
const keys = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `k${from + at}`);

describe("weighed", () => {
  it("sorts by weight and name, and nothing weighs less than 1", () => {
    const weights: Record<string, number> = { a: 9, b: 0, c: 4, d: 0 };
    expect(weighed(["d", "a", "c", "b"], (key) => weights[key] ?? 0)).toEqual([
      { key: "b", weight: 1 },
      { key: "d", weight: 1 },
      { key: "c", weight: 4 },
      { key: "a", weight: 9 },
    ]);
  });
});

describe("verificationParts", () => {
  const parts = (weights: readonly number[], most = 100, text?: number) =>
    verificationParts(items(...weights), { most, ...(text !== undefined && { text }) });

  it.each([
    ["nothing", [], []],
    ["a single key once", [5], [["k0"]]],
    ["two keys apart", [5, 90], [["k1"], ["k0"]]],
    ["a half, a quarter, an eighth and so on", [1, 1, 2, 4, 8, 16], [["k5"], ["k4"], ["k3"], ["k2"], ["k1"], ["k0"]]],
  ])("has %s", (_name, weights, expected) => {
    const light = weights.findIndex((weight) => weight >= 5);
    const single = light < 0 || expected.some((part) => part.length === 1 && part[0] === `k${light}`);
    expect(parts(weights)).toEqual(single ? expected : [...expected, [`k${light}`]]);
  });

  it("covers every key, halves the work, and asks one light key on its own", () => {
    const weights = Array.from({ length: 500 }, (_, at) => 1 + Math.floor(at / 10));
    const made = parts(weights, 1000);
    expect(made).toHaveLength(8);
    expect(new Set(made.flat()).size).toBe(500);
    expect(made.at(-1)).toHaveLength(1);
    const work = (part: readonly string[]) => part.reduce((sum, key) => sum + (weights[Number(key.slice(1))] ?? 0), 0);
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    expect(work(made[0] ?? [])).toBeLessThan(all * 0.52);
  });

  it("asks for a doubtful key on its own, unless it is heavy", () => {
    const ten = items(...Array.from({ length: 10 }, () => 10));
    expect(verificationParts(ten, { most: 100, doubtful: "k7" }).at(-1)).toEqual(["k7"]);
    expect(
      verificationParts(items(5, 5, 90), { most: 100, doubtful: "k2" }).filter(([key]) => key === "k2"),
    ).toHaveLength(1);
  });

  it.each([
    ["number", 300, 40, undefined, 38],
    ["length", 90, 1000, 30, 9],
  ])("keeps to the %s of keys", (_name, all, most, text, largest) => {
    const made = parts(
      Array.from({ length: all }, () => 1),
      most,
      text,
    );
    expect(Math.max(...made.map(({ length }) => length))).toBe(largest);
    expect(new Set(made.flat()).size).toBe(all);
  });
});

describe("createBatcher", () => {
  const many = items(...Array.from({ length: 100 }, () => 1));

  it("doubles after fast answers", () => {
    const batcher = createBatcher(many, { first: 10, most: 50 });
    const sizes: number[] = [];
    for (let batch = batcher.next(); batch; batch = batcher.next()) {
      sizes.push(batch.length);
      batcher.answered(batch.length, true);
    }
    expect(sizes).toEqual([10, 20, 40, 30]);
  });

  it("stays as it is after slow ones", () => {
    const batcher = createBatcher(many, { first: 10, most: 50 });
    batcher.next();
    batcher.answered(10, false);
    expect(batcher.next()).toEqual(keys(10, 20));
  });

  it("goes down to single keys at once while nothing works, and leaves out a key that fails alone", () => {
    const batcher = createBatcher(many, { first: 10, most: 50 });
    batcher.next();
    expect(batcher.failed()).toBe(true);
    expect(batcher.next()).toEqual(["k0"]);
    expect(batcher.failed()).toBe(false);
    expect(batcher.next()).toEqual(["k1"]);
  });

  it("halves after a failure, with the same keys", () => {
    const batcher = createBatcher(many, { first: 10, most: 50 });
    batcher.next();
    batcher.answered(10, true);
    expect(batcher.next()).toEqual(keys(10, 30));
    expect(batcher.failed()).toBe(true);
    expect(batcher.next()).toEqual(keys(10, 20));
  });

  it("grows again after one heavy key", () => {
    const batcher = createBatcher(many, { first: 8, most: 50 });
    for (let size = 8; size > 0 && batcher.next(); size = 0) batcher.failed();
    const sizes = Array.from({ length: 5 }, () => {
      const { length } = batcher.next() ?? [];
      batcher.answered(length, true);
      return length;
    });
    expect(sizes.at(-1)).toBeGreaterThan(4);
  });

  it.each([
    ["rows that are left", { first: 10, most: 50, rows: 100 }, 10],
    ["work", { first: 10, most: 50, work: 7 }, 7],
    ["characters", { first: 10, most: 50, text: 12 }, 6],
    ["keys", { first: 10, most: 4 }, 4],
  ])("keeps to the %s", (_name, limits, size) => {
    const batcher = createBatcher(many, limits);
    expect(batcher.next()).toHaveLength(size);
  });

  it("asks for no more than fits under the row cap", () => {
    const batcher = createBatcher(many, { first: 10, most: 50, rows: 100 });
    batcher.next();
    batcher.answered(80, true);
    expect(batcher.next()).toHaveLength(10);
  });
});

it.each([
  [[], 3, []],
  [[1, 2, 3], 3, [[1, 2, 3]]],
  [
    [1, 2, 3, 4],
    3,
    [
      [1, 2],
      [3, 4],
    ],
  ],
])("chunks %j by at most %i", (all, most, expected) => {
  expect(chunks(all, most)).toEqual(expected);
});
