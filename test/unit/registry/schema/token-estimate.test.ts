import { estimateTokens } from "../../../../src/token-estimate.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "../../../support/any-text.ts";

/** `atLeast`: what the tokenizer cl100k_base makes of the text. */
const shouldEstimate = (text: string, atLeast: number, atMost: number) =>
  it(`estimates ${JSON.stringify(text).slice(0, 60)}`, () => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(atLeast);
    expect(estimateTokens(text)).toBeLessThanOrEqual(atMost);
  });

describe("estimateTokens", () => {
  shouldEstimate("", 0, 0);
  shouldEstimate("up:Protein (320960)", 7, 12);
  shouldEstimate("PREFIX up: <http://purl.uniprot.org/core/>", 14, 20);
  shouldEstimate("up:Protein (320960): up:mnemonic -> xsd:string (320960); up:encodedBy -> up:Gene (>=299120)", 35, 55);
  shouldEstimate("蛋白质", 4, 9);

  it("adds up over lines", () => {
    let tokens = 0;
    const run = (left: string, right: string): void => {
      tokens += estimateTokens(left);
      expect(estimateTokens(`${left}\n${right}`)).toBe(estimateTokens(left) + 1 + estimateTokens(right));
    };
    const line = anyText(30).map((text) => text.replaceAll("\n", ""));
    fc.assert(fc.property(line, line, run), { seed: 1 });
    expect(tokens).toBeGreaterThan(500);
  });

  it("is never above one a byte and leaves no character out", () => {
    const run = (text: string): void => {
      expect(estimateTokens(text)).toBeLessThanOrEqual(Buffer.byteLength(text));
      expect(estimateTokens(`${text}\u0000`)).toBeGreaterThan(0);
    };
    fc.assert(fc.property(anyText(40), run), { seed: 2 });
  });
});
