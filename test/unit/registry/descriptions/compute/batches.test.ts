import { describe, expect, it } from "vitest";
import { Batcher } from "../../../../../src/registry/descriptions/compute/batches.ts";
import { chunks, verificationParts } from "../../../../../src/registry/descriptions/compute/compute-facts.ts";
import { weighed } from "../../../../../src/registry/descriptions/compute/run.ts";

const items = (...weights: number[]) => weights.map((weight, at) => ({ key: `k${at}`, weight }));

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
    expect(made).toHaveLength(7);
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

describe("Batcher", () => {
  type End = "fast" | "slow" | "failed";
  const many = items(...Array.from({ length: 100 }, () => 1));
  /** First key and size of each batch, when the batches end in this way. */
  const batches = (limits: ConstructorParameters<typeof Batcher>[1], ...ends: readonly End[]): readonly string[] => {
    const batcher = new Batcher(many, limits);
    const made: string[] = [];
    for (const batch of batcher) {
      made.push(`${batch[0]}+${batch.length}`);
      const end = ends[made.length - 1];
      if (end === undefined) break;
      if (end === "failed") expect(batcher.failed()).toBe(batch.length > 1);
      else batcher.answered(limits.rows === undefined ? batch.length : 80, end === "fast");
    }
    return made;
  };

  it.each<[string, Parameters<typeof batches>, readonly string[]]>([
    [
      "doubles after fast answers, up to the end",
      [{ first: 10, most: 50 }, "fast", "fast", "fast", "fast"],
      ["k0+10", "k10+20", "k30+40", "k70+30"],
    ],
    ["stays as it is after slow ones", [{ first: 10, most: 50 }, "slow"], ["k0+10", "k10+10"]],
    [
      "goes down to single keys at once while nothing works, and leaves out a key that fails alone",
      [{ first: 10, most: 50 }, "failed", "failed"],
      ["k0+10", "k0+1", "k1+1"],
    ],
    [
      "halves after a failure, with the same keys",
      [{ first: 10, most: 50 }, "fast", "failed"],
      ["k0+10", "k10+20", "k10+10"],
    ],
    [
      "grows again after one heavy key",
      [{ first: 8, most: 50 }, "failed", "fast", "fast", "fast"],
      ["k0+8", "k0+1", "k1+2", "k3+4", "k7+8"],
    ],
    ["keeps to the work", [{ first: 10, most: 50, work: 7 }], ["k0+7"]],
    ["keeps to the characters", [{ first: 10, most: 50, text: 12 }], ["k0+6"]],
    ["keeps to the keys", [{ first: 10, most: 4 }], ["k0+4"]],
    ["asks for no more than fits under the row cap", [{ first: 10, most: 50, rows: 100 }, "fast"], ["k0+10", "k10+10"]],
  ])("%s", (_name, steps, expected) => expect(batches(...steps)).toEqual(expected));
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
