import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rangesBetween, splittersOf } from "../../../../src/shards/materialise/gather-slice.ts";

const sorted = (texts: readonly string[]): readonly Buffer[] =>
  texts.map((text) => Buffer.from(text)).toSorted((left, right) => left.compare(right));

function shouldPlace(line: string, splitters: readonly string[], range: number): void {
  it(`places ${JSON.stringify(line)} among ${JSON.stringify(splitters)}`, () => {
    const bytes = Buffer.from(`--${line}--`);
    const ranges = rangesBetween(sorted(splitters));
    expect(ranges.count).toBe(splitters.length + 1);
    expect(ranges.of(bytes, 2, bytes.length - 2)).toBe(range);
  });
}

describe("ranges", () => {
  shouldPlace("a", [], 0);
  shouldPlace("ab", ["ab"], 1);
  shouldPlace("a", ["ab"], 0);
  shouldPlace("abc", ["ab"], 1);
  shouldPlace("xa", ["xb", "xc", "xd"], 0);
  shouldPlace("xc", ["xb", "xc", "xd"], 2);
  shouldPlace("xcc", ["xb", "xc", "xd"], 2);
  shouldPlace("x", ["xb", "xc", "xd"], 0);
  shouldPlace("w", ["xb", "xc", "xd"], 0);
  shouldPlace("y", ["xb", "xc", "xd"], 3);
  shouldPlace("é", ["a", "z"], 2);

  it("are those that comparing all bytes gives", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "é"), maxLength: 6 });
    let between = 0;
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 12 }),
        text,
        fc.constantFrom("", "ab"),
        (texts, end, begin) => {
          const splitters = splittersOf(sorted(texts.map((each) => begin + each)), 8);
          const line = Buffer.from(begin + end);
          const range = splitters.filter((splitter) => splitter.compare(line) <= 0).length;
          if (range > 0 && range < splitters.length) between += 1;
          expect(rangesBetween(splitters).of(line, 0, line.length)).toBe(range);
        },
      ),
      { numRuns: 500 },
    );
    expect(between).toBeGreaterThan(100);
  });
});
