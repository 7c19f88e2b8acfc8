import { describe, expect, it } from "vitest";
import { answerCapture } from "../../../src/hosting/wasm-limits.ts";

const bytes = (size: number) => new Uint8Array(size).fill(97);

describe("answerCapture", () => {
  it("decodes what is small", () => {
    const capture = answerCapture(1_000_000);
    expect(new capture.TextDecoder().decode(bytes(65_535))).toHaveLength(65_535);
    expect(capture.bytes).toBeUndefined();
  });
  it("keeps a copy of what is large", () => {
    const capture = answerCapture(1_000_000);
    const text = bytes(65_536);
    expect(new capture.TextDecoder().decode(text)).toBe("");
    text.fill(0);
    expect(capture.bytes?.every((byte) => byte === 97)).toBe(true);
    expect(capture.bytes).toHaveLength(65_536);
  });
  it("only measures what is too large", () => {
    const capture = answerCapture(100_000);
    new capture.TextDecoder().decode(bytes(100_001));
    expect([capture.bytes, capture.skippedBytes]).toEqual([undefined, 100_001]);
  });
  it("forgets", () => {
    const capture = answerCapture(100_000);
    new capture.TextDecoder().decode(bytes(100_000));
    new capture.TextDecoder().decode(bytes(100_001));
    capture.reset();
    expect([capture.bytes, capture.skippedBytes]).toEqual([undefined, undefined]);
  });
});
