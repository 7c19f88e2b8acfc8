import { expect, it } from "vitest";
import { Bag, type Placed } from "../../../src/outbound/bag.ts";

interface Named extends Placed {
  readonly name: string;
}

const setUp = (names: string): { bag: Bag<Named>; at: (name: string) => Named; held: () => string } => {
  const bag = new Bag<Named>();
  const all = new Map(names.split("").map((name) => [name, { name, place: -1 }]));
  for (const member of all.values()) bag.add(member);
  const at = (name: string): Named => all.get(name) ?? expect.fail(`no ${name}`);
  const held = (): string =>
    bag
      .members()
      .map((member) => member.name)
      .toSorted()
      .join("");
  return { bag, at, held };
};

it.each([
  ["the first", "abcd", "a", "bcd"],
  ["one in the middle", "abcd", "b", "acd"],
  ["the last", "abcd", "d", "abc"],
  ["the only one", "a", "a", ""],
  ["one after the other", "abcd", "adcb", ""],
  ["one that was moved by another", "abcd", "ad", "bc"],
])("gives up %s", (_what, names, gone, left) => {
  const { bag, at, held } = setUp(names);
  for (const name of gone) bag.delete(at(name));
  expect(held()).toBe(left);
});

it("holds a member once, and takes it back after it was deleted", () => {
  const { bag, at, held } = setUp("ab");
  bag.add(at("a"));
  expect(held()).toBe("ab");
  bag.delete(at("a"));
  bag.delete(at("a"));
  expect(held()).toBe("b");
  bag.add(at("a"));
  expect(held()).toBe("ab");
});

it("is empty after clear, and its members can go elsewhere", () => {
  const { bag, at, held } = setUp("ab");
  bag.clear();
  expect(held()).toBe("");
  const other = new Bag<Named>();
  other.add(at("a"));
  expect(other.members()).toEqual([at("a")]);
});

it("gives the members of the moment, whatever becomes of them meanwhile", () => {
  const { bag, held } = setUp("abc");
  for (const member of bag.members()) bag.delete(member);
  expect(held()).toBe("");
});
