import { describe, expect, it } from "vitest";
import {
  brief,
  createNames,
  figureText,
  partsOfKey,
  shardWords,
  shareText,
} from "../../../../src/shards/report/words.ts";

describe("shares", () => {
  const shouldRead = (share: number, text: string): void => it(text, () => expect(shareText(share)).toBe(text));
  shouldRead(0, "0 %");
  shouldRead(1, "100 %");
  shouldRead(0.0484, "4.84 %");
  shouldRead(0.99999, "99.99 %");
  shouldRead(0.000001, "0.01 %");
});

describe("figures", () => {
  const shouldRead = (figure: Parameters<typeof figureText>, text: string): void =>
    it(text, () => expect(figureText(...figure)).toBe(text));
  shouldRead([{ mean: 3.7, median: 4, min: 2, max: 8 }, "number"], "mean 3.7, median 4, 2 to 8");
  shouldRead([{ mean: 3, median: 3, min: 3, max: 3 }, "number"], "3");
  shouldRead([{ mean: 0.183 }, "share"], "18.30 %");
  shouldRead([{ mean: 0.25, median: 0.2, min: 0, max: 0.5 }, "share"], "mean 25.00 %, median 20.00 %, 0 % to 50.00 %");
});

describe("names", () => {
  const nameOf = createNames(["http://a/x#Person", "http://b/x#Person", "http://a/x#Dog", "http://a/tail/"]);
  it("local ones where they are unique", () => expect(nameOf("http://a/x#Dog")).toBe("Dog"));
  it("whole IRIs where they are not", () => expect(nameOf("http://b/x#Person")).toBe("http://b/x#Person"));
  it("whole IRIs where nothing follows", () => expect(nameOf("http://a/tail/")).toBe("http://a/tail/"));
  it("of strangers are whole", () => expect(nameOf("http://c/Dog2")).toBe("http://c/Dog2"));
});

describe("shard keys", () => {
  it("with slashes in the class", () =>
    expect(partsOfKey("h/http://a/b/c/12")).toStrictEqual({ kind: "horizontal", iri: "http://a/b/c", bucket: "12" }));
  const nameOf = createNames(["http://a/Dog", "http://a/name"]);
  const shouldRead = (key: string, words: string): void => it(words, () => expect(shardWords(key, nameOf)).toBe(words));
  shouldRead("h/http://a/Dog/1", "instances of Dog, bucket 1");
  shouldRead("c/http://a/Dog", "instances of Dog");
  shouldRead("v/http://a/name", "triples with name");
  shouldRead("base", "base: what no rule claims");
  shouldRead("elsewhere", "elsewhere");
});

describe("brief texts", () => {
  it("are one line", () => expect(brief(" a\n\tb ")).toBe("a b"));
  it("end where they are too long, not inside a character", () => expect(brief("😀😀", 3)).toBe("😀\uFFFD …"));
});
