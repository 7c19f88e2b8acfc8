import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortLines } from "../../../../shards/src/materialise/sort-lines.ts";

/** The lines in the order that `sortLines` gives them. */
function sorted(lines: readonly string[]): readonly string[] {
  const bytes = Buffer.from(lines.join(""));
  const ends = new Uint32Array(lines.length);
  let at = 0;
  lines.forEach((line, index) => {
    at += Buffer.byteLength(line);
    ends[index] = at;
  });
  const starts = ends.map((_, index) => (index === 0 ? 0 : ends[index - 1]!));
  const order = Uint32Array.from(lines, (_, index) => index);
  sortLines({ bytes, starts, ends }, order);
  return [...order].map((line) => bytes.toString("utf8", starts[line], ends[line]));
}

const byBytes = (lines: readonly string[]): readonly string[] =>
  lines.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));

function shouldSort(what: string, lines: readonly string[]): void {
  it(`sorts ${what}`, () => expect(sorted(lines)).toEqual(byBytes(lines)));
}

describe("sortLines", () => {
  const many = Array.from({ length: 3_000 }, (_, index) => index);
  shouldSort("nothing", []);
  shouldSort("one line", ["a\n"]);
  shouldSort(
    "equal lines",
    many.map(() => "<x:a> <x:p> <x:o> .\n"),
  );
  shouldSort(
    "few different lines",
    many.map((index) => `<x:${index % 7}> <x:p> <x:o> .\n`),
  );
  shouldSort(
    "lines that differ late",
    many.map((index) => `${"long ".repeat(40)}${(index * 7919) % 3_000}\n`),
  );
  shouldSort(
    "lines that begin as others",
    many.map((index) => `${"é".repeat((index * 31) % 100)}\n`),
  );

  it("sorts any lines by their bytes", () => {
    const part = fc.constantFrom("<x:", "a", "b", "é", "😀", "\u007f", "> ", "0", "long text ");
    const line = fc.array(part, { maxLength: 6 }).map((parts) => `${parts.join("")}\n`);
    fc.assert(
      fc.property(fc.array(line, { maxLength: 200, size: "max" }), (lines) => {
        expect(sorted(lines)).toEqual(byBytes(lines));
      }),
      { numRuns: 200 },
    );
  });
});
