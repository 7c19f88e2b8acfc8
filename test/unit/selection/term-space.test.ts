import { DataFactory } from "n3";
import { describe, expect, it } from "vitest";
import { TermFilter } from "../../../src/selection/term-filter.ts";
import { keySpaceOf, mayHold } from "../../../src/selection/term-space.ts";

const spaceOf = (...iris: readonly string[]) => keySpaceOf(iris.map((iri) => DataFactory.namedNode(iri)));

describe("prefixes of the IRIs in one place", () => {
  const shouldBe = (iris: readonly string[], prefixes: readonly string[] | undefined): void => {
    it(iris.slice(0, 4).join(" "), () => {
      const found = spaceOf(...iris).space.prefixes;
      expect(found).toEqual(prefixes);
      for (const iri of iris) expect(found?.some((prefix) => iri.startsWith(prefix)) ?? true).toBe(true);
    });
  };
  shouldBe([], []);
  shouldBe(["http://a.example/x/1", "http://a.example/x/2"], ["http://a.example/x/"]);
  shouldBe(["http://a.example/x/1", "http://b.example/y#2"], ["http://a.example/x/", "http://b.example/y#"]);
  shouldBe(["http://a.example/x/1", "http://a.example/x"], ["http://a.example/"]);
  shouldBe(["http://a.example", "http://a.example/"], ["http://a.example", "http://a.example/"]);
  shouldBe(["urn:x:1", "urn:x:2", "mailto:a@b.example"], ["mailto:", "urn:x:"]);
  const many = Array.from({ length: 40 }, (_, index) => `http://host${index}.example/x`);
  shouldBe(many, undefined);
  const folders = Array.from({ length: 40 }, (_, index) => `http://a.example/${index}/x`);
  shouldBe(folders, ["http://a.example/"]);
  shouldBe(
    ["http://a.example/x/y/1/a", "http://a.example/x/y/2/b"],
    ["http://a.example/x/y/1/", "http://a.example/x/y/2/"],
  );
  shouldBe(["http://a.example/x/y/z/1", "http://a.example/x/y"], ["http://a.example/x/"]);
  shouldBe(["", "nothing"], [""]);
  const deep = Array.from({ length: 40 }, (_, index) => `http://a.example/${"x/".repeat(900)}${index}`);
  shouldBe(deep, [`http://a.example/${"x/".repeat(119)}`]);
  shouldBe([`http://a.example/${"x".repeat(3_000)}/y`], ["http://a.example/"]);
  shouldBe([`http://${"a".repeat(3_000)}.example/y`], [`http://${"a".repeat(249)}`]);
});

it("a space tells which kinds of terms there are", () => {
  expect(keySpaceOf([DataFactory.namedNode("x:a")]).space).toMatchObject({ noLiterals: true, noBlankNodes: true });
  expect(keySpaceOf([DataFactory.literal("a")]).space).not.toHaveProperty("noLiterals");
  expect(keySpaceOf([DataFactory.blankNode("a")]).space).not.toHaveProperty("noBlankNodes");
});

it("a space never refuses what is in it, and most of what is not", () => {
  const iris = Array.from({ length: 5_000 }, (_, index) => `http://a.example/item/${index * 7}`);
  const space = spaceOf(...iris);
  const admits = (iri: string): boolean => mayHold(space, { kind: "iri", iri });
  expect(iris.every(admits)).toBe(true);
  const others = Array.from({ length: 5_000 }, (_, index) => `http://a.example/item/${index * 7 + 3}`);
  expect(others.filter(admits).length).toBeLessThan(150);
  expect(mayHold(space, { kind: "variable", name: "x" })).toBe(true);
});

it("a filter comes back from its text", () => {
  const filter = TermFilter.from(TermFilter.of(new Set(["x:a", "x:é😀"])).toText());
  expect(["x:a", "x:é😀", "x:b"].map((iri) => filter.mayHave(iri))).toEqual([true, true, false]);
});
