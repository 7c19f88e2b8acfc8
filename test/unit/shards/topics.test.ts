import { describe, expect, it } from "vitest";
import type { Cell } from "../../../shards/src/rules/problem.ts";
import { topicsOf } from "../../../shards/src/shard-contents.ts";

const v = "http://example.org/v#";
const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const cell = (type: string | undefined, predicate: string, triples: number): Cell => ({
  types: type === undefined ? [] : [`${v}${type}`],
  predicate: predicate.startsWith("http") ? predicate : `${v}${predicate}`,
  bucket: 0,
  triples,
});
const shouldSay = (cells: readonly Cell[], expected: string): void => {
  it(`says "${expected}"`, () =>
    expect(
      topicsOf(
        cells,
        cells.map(() => "base"),
      ).get("base"),
    ).toBe(expected));
};

describe("what a shard is about", () => {
  shouldSay([cell("CarMaker", rdfType, 3), cell("CarMaker", "name", 3)], "Car maker with name");
  shouldSay([cell("car_names", "make", 3), cell("car_names", "car_names/model", 9)], "Car names with model and make");
  shouldSay(
    ["a", "b", "c", "d", "e", "f"].map((name, at) => cell("T", name, 10 - at)),
    "T with a, b, c, d and 2 more properties",
  );
  shouldSay(
    ["A", "B", "C"].map((name) => cell(name, "p", 1)),
    "A, b and 1 more class with p",
  );
  shouldSay([cell("Port", rdfType, 1), cell("Ferry", rdfType, 2)], "Which things are ferry and port");
  shouldSay([cell(undefined, "isPartOf", 1)], "Is part of");
  shouldSay([cell(undefined, `${v}名前`, 1)], "名前");

  it("tells shards with the same sentence apart", () => {
    const cells: readonly Cell[] = [
      { ...cell("Ferry", "age", 2), bucket: 1 },
      { ...cell("Ferry", "x", 11), bucket: 10 },
      { ...cell("Ferry", "name", 1), bucket: 0 },
    ];
    const keys = cells.map(({ bucket }) => `h/${v}Ferry/${bucket}`);
    expect([...topicsOf(cells, keys)]).toEqual([
      [`h/${v}Ferry/1`, "Ferry with x, age and name, part 2 of 3"],
      [`h/${v}Ferry/10`, "Ferry with x, age and name, part 3 of 3"],
      [`h/${v}Ferry/0`, "Ferry with x, age and name, part 1 of 3"],
    ]);
    const alike = [cell("Ferry", "http://a/name", 1), cell("Ferry", "http://b/name", 1)];
    const apart = alike.map(({ predicate }) => `v/${predicate}`);
    expect([...topicsOf(alike, apart).values()]).toEqual([
      "Ferry with name, part 1 of 2",
      "Ferry with name, part 2 of 2",
    ]);
  });

  it("is told for each shard, and the text of the operator wins", () => {
    const cells = [cell("Port", "name", 1), cell("Ferry", "name", 1)];
    const keys = cells.map(({ types }) => `c/${types[0]}`);
    const own = { [`c/${v}Port`]: "Harbours" };
    expect([...topicsOf(cells, keys, own)]).toEqual([
      [`c/${v}Port`, "Harbours"],
      [`c/${v}Ferry`, "Ferry with name"],
    ]);
    expect(() => topicsOf(cells, keys, { base: "The rest" })).toThrow(/"base", which does not exist/);
  });
});
