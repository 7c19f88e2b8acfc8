import { describe, expect, it } from "vitest";
import { literalReading, readingNamed, readings } from "../../../../src/shards/rules/interpretations.ts";

describe("readings", () => {
  it("have distinct names, and differ from the literal one in what the name says", () => {
    const names = readings.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(readings[0]).toBe(literalReading);
    expect(readingNamed("single-class")).toEqual({ ...literalReading, name: "single-class", classRule: "single" });
    expect(readingNamed("horizontal-covers-joins")).toMatchObject({ horizontalCoversJoins: true, classRule: "pair" });
    expect(readingNamed("infer-and-exists")).toMatchObject({ infer: true, exists: true, typeIsPredicate: true });
  });

  it("each differs from the literal one in at most two options", () => {
    const literal = Object.entries(literalReading).filter(([option]) => option !== "name");
    const changes = readings.map((reading) =>
      literal.filter(([option, value]) => Reflect.get(reading, option) !== value),
    );
    expect(changes.map(({ length }) => length)).toEqual([0, 1, 1, 1, 1, 1, 1, 2]);
  });

  it("no other name has one", () => {
    expect(readingNamed("single")).toBeUndefined();
    expect(readingNamed("")).toBeUndefined();
  });
});
