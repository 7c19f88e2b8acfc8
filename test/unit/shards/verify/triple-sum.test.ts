import { describe, expect, it } from "vitest";
import type { Statement } from "../../../../shards/src/load/statement.ts";
import { LineOrder, TripleSum } from "../../../../shards/src/verify/triple-sum.ts";

/** A line somewhere in a larger buffer; only its place counts for sums. */
function at(line: string, before = 0): Statement {
  const bytes = Buffer.from(`${"#".repeat(before)}${line}#`);
  const end = bytes.length - 1;
  return { bytes, start: before, subjectEnd: end, predicateEnd: end, objectEnd: end, end };
}

const key = [17, -4] as const;
function sumOf(...lines: readonly string[]): TripleSum {
  const sum = new TripleSum(key);
  for (const line of lines) sum.add(at(line));
  return sum;
}

const lines = Array.from({ length: 2_000 }, (_, index) => `<x:s${index}> <x:p> "${"é".repeat(index % 9)}${index}" .\n`);

describe("the sum of triples", () => {
  it("does not depend on their order or place", () => {
    const other = new TripleSum(key);
    for (const [index, line] of lines.toReversed().entries()) other.add(at(line, index % 7));
    expect(sumOf(...lines).equals(other)).toBe(true);
  });

  it.each([
    ["a triple less", ["a", "b"], ["a"]],
    ["a triple twice, another not", ["a", "b", "b"], ["a", "a", "b"]],
    ["ends that were exchanged", ["abcdXX", "efghYY"], ["abcdYY", "efghXX"]],
    ["words that were exchanged", ["abcdefgh"], ["efghabcd"]],
    ["zeros at the end", ["a\0"], ["a"]],
    ["a byte of 256", ["é"], ["è"]],
  ])("tells %s", (_, one, other) => {
    expect(sumOf(...one).equals(sumOf(...other))).toBe(false);
  });

  it("differs for each bit of a line", () => {
    const line = Buffer.from(lines[8] ?? "");
    for (let bit = 0; bit < line.length * 8; bit += 1) {
      const bytes = Buffer.from(line);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      const changed = new TripleSum(key);
      changed.add({ ...at(""), bytes, start: 0, end: bytes.length });
      expect(changed.equals(sumOf(line.toString()))).toBe(false);
    }
  });

  it("has other digests with another key", () => {
    const other = new TripleSum([17, -5]);
    other.add(at("a"));
    expect(other.equals(sumOf("a"))).toBe(false);
  });
});

it.each([
  [["a", "b", "ba"], true],
  [["a", "ab", "b"], true],
  [["a", "a"], false],
  [["b", "a"], false],
  [["é", "e"], false],
  [[], true],
])("lines %j ascend: %s", (given, expected) => {
  const order = new LineOrder();
  for (const line of given) order.next(at(line, 3));
  expect(order.isAscending).toBe(expected);
});
