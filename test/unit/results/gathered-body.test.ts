import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import { gathered, GatheredBody, isWhole, piecesOf } from "../../../src/results/gathered-body.ts";

const pieces = [Buffer.from("ab"), Buffer.from("c"), Buffer.from("def")];

it("is a stream of its pieces", async () => {
  expect((await buffer(new GatheredBody(pieces))).toString()).toBe("abcdef");
});

it("gives its pieces without a copy", () => {
  const body = gathered(pieces);
  expect(body).toBeInstanceOf(GatheredBody);
  expect(piecesOf(body)).toBe(pieces);
});

it("is a plain buffer when there is one piece", () => {
  const [only] = pieces;
  const body = gathered(pieces.slice(0, 1));
  expect(body).toBe(only);
  expect(piecesOf(body)).toEqual([only]);
});

it.each([
  ["a buffer", Buffer.from("a"), true],
  ["a gathered body", new GatheredBody(pieces), true],
  ["another stream", Readable.from(pieces), false],
])("%s is whole: %s", (_what, body, whole) => {
  expect(isWhole(body)).toBe(whole);
});
