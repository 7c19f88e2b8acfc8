import { expect, it } from "vitest";
import type { HolderQuestion } from "../../../src/plan/source-selection.ts";
import { PrunedKeys } from "../../../src/plan/pruned-keys.ts";

const endpoint = { id: "a", url: "http://a.example/" };
const pattern = ["?v0", "<x:p>", "?v1"] as const;
const rowsOf = (count: number): readonly (readonly string[])[] => Array.from({ length: count }, (_, n) => [`<x:${n}>`]);

function noted(rows: readonly (readonly string[])[], held: readonly number[] = [], variables = ["v0"]): PrunedKeys {
  const question: HolderQuestion = { members: [endpoint], patterns: [pattern], variables, rows };
  const pruned = new PrunedKeys();
  pruned.add({ endpoint, seenAt: 7, question, held });
  return pruned;
}

const texts = (pruned: PrunedKeys, isExact: boolean): readonly string[] =>
  pruned.exclusions(isExact)?.list.flatMap(({ patterns }) => patterns.map(({ text }) => text)) ?? [];

it("asks for a unit with the keys that a member was not asked with", () => {
  const unit = "?v0 <x:p> ?v1";
  expect(texts(noted(rowsOf(3), [1]), true)).toEqual([`{ VALUES (?v0) { (<x:0>) (<x:2>) } } ${unit}`]);
  expect(texts(noted([["<x:0>", ""]], [], ["v0", "v1"]), true)).toEqual([
    `{ VALUES (?v0 ?v1) { (<x:0> UNDEF) } } ${unit}`,
  ]);
  expect(texts(noted([[]], [], []), true)).toEqual([unit]);
  expect(new PrunedKeys().exclusions(true)).toBeUndefined();
});

it("takes questions with other keys for others only where that is wanted", () => {
  const keys = (count: number, isExact: boolean) => noted(rowsOf(count)).exclusions(isExact)?.list[0]?.patterns[0]?.key;
  expect(keys(1, false)).toBe(keys(2, false));
  expect(keys(1, true)).not.toBe(keys(2, true));
  expect(keys(1, true)).toBe(keys(1, true));
});

it("asks in the background for 64 of many keys, and now for none that it cannot ask for", () => {
  const many = noted(rowsOf(200));
  expect(texts(many, false)[0]?.match(/<x:\d+>/gu)).toHaveLength(64);
  expect(texts(many, true)[0]?.match(/<x:\d+>/gu)).toHaveLength(200);
  expect(many.isSampled).toBe(false);
  const tooMany = noted(rowsOf(20_001));
  expect(texts(tooMany, true)[0]?.match(/<x:\d+>/gu)).toHaveLength(64);
  expect([tooMany.isSampled, tooMany.endpoints]).toEqual([true, ["a"]]);
});

it("keeps the names of members when it forgets the keys, and asks those that are to be asked", () => {
  const pruned = noted(rowsOf(2));
  pruned.settle();
  expect([pruned.endpoints, pruned.exclusions(false)]).toEqual([["a"], undefined]);
  const key = noted(rowsOf(9)).exclusions(true)?.list[0]?.patterns[0]?.key ?? "";
  expect([pruned.has("a", [key]), pruned.has("b", [key]), pruned.has("a", ["?v0 <x:q> ?v1"])]).toEqual([
    true,
    false,
    false,
  ]);
  pruned.clear(["a"]);
  expect([pruned.endpoints, pruned.asks("a"), pruned.asks("b")]).toEqual([[], true, false]);
});
