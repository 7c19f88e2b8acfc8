import { DataFactory } from "n3";
import { describe, expect, it } from "vitest";
import { termSpaceOf } from "../../../src/selection/term-space.ts";

const spaceOf = (...iris: readonly string[]) => termSpaceOf(iris.map((iri) => DataFactory.namedNode(iri)));

describe("prefixes of the IRIs in one place", () => {
  const shouldBe = (iris: readonly string[], prefixes: readonly string[] | undefined): void => {
    it(iris.slice(0, 4).join(" "), () => {
      const found = spaceOf(...iris).prefixes;
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
  expect(termSpaceOf([DataFactory.namedNode("x:a")])).toMatchObject({ noLiterals: true, noBlankNodes: true });
  expect(termSpaceOf([DataFactory.literal("a")])).not.toHaveProperty("noLiterals");
  expect(termSpaceOf([DataFactory.blankNode("a")])).not.toHaveProperty("noBlankNodes");
});
