import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareKeys, prefixEnd } from "../../../src/store/key-order.ts";

const bytes = (text: string): Buffer => Buffer.from(text);
const text = fc.string({ unit: "binary", maxLength: 6 });

describe("order of keys", () => {
  it("is the order of the UTF-8 bytes", () => {
    let beyondBasicPlane = 0;
    const property = fc.property(text, text, (left, right) => {
      if (/[\u{10000}-\u{10ffff}]/u.test(left) && /[\u{e000}-\u{ffff}]/u.test(right)) beyondBasicPlane += 1;
      expect(Math.sign(compareKeys(left, right))).toBe(Buffer.compare(bytes(left), bytes(right)));
    });
    fc.assert(property, { numRuns: 3_000, seed: 1 });
    expect(beyondBasicPlane).toBeGreaterThan(20);
  });
});

describe("end of a prefix", () => {
  it.each([
    ["", undefined],
    ["a", "b"],
    ["a/", "a0"],
    ["\ud7ff", "\u{e000}"],
    ["\u{ffff}", "\u{10000}"],
    ["a\u{10ffff}", "b"],
    ["\u{10ffff}\u{10ffff}", undefined],
  ])("of %j is %j", (prefix, end) => expect(prefixEnd(prefix)).toBe(end));

  it("lies above every key with the prefix and below every later one", () => {
    const property = fc.property(text, text, (prefix, key) => {
      const end = prefixEnd(prefix);
      if (end === undefined) return;
      expect(compareKeys(prefix + key, end)).toBeLessThan(0);
      const above = compareKeys(key, prefix) >= 0 && !key.startsWith(prefix);
      if (above) expect(compareKeys(key, end)).toBeGreaterThanOrEqual(0);
    });
    fc.assert(property, { numRuns: 2_000, seed: 1 });
  });
});
