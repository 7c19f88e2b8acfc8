import { describe, expect, it } from "vitest";
import {
  literalInterpretation,
  interpretationNamed,
  interpretations,
} from "../../../../src/shards/rules/interpretations.ts";

describe("interpretations", () => {
  it("have distinct names, and differ from the literal one in what the name says", () => {
    const names = interpretations.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(interpretations[0]).toBe(literalInterpretation);
    expect(interpretationNamed("single-class")).toEqual({
      ...literalInterpretation,
      name: "single-class",
      classRule: "single",
    });
    expect(interpretationNamed("horizontal-covers-joins")).toMatchObject({
      horizontalCoversJoins: true,
      classRule: "pair",
    });
    expect(interpretationNamed("infer-and-exists")).toMatchObject({ infer: true, exists: true, typeIsPredicate: true });
  });

  it("each differs from the literal one in at most two options", () => {
    const literal = Object.entries(literalInterpretation).filter(([option]) => option !== "name");
    const changes = interpretations.map((reading) =>
      literal.filter(([option, value]) => Reflect.get(reading, option) !== value),
    );
    expect(changes.map(({ length }) => length)).toEqual([0, 1, 1, 1, 1, 1, 1, 2]);
  });

  it("no other name has one", () => {
    expect(interpretationNamed("single")).toBeUndefined();
    expect(interpretationNamed("")).toBeUndefined();
  });
});
