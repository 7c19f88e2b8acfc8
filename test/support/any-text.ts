import * as fc from "fast-check";

/** Text of any code points, lone surrogates and control characters included. */
export const anyText = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.integer({ min: 0, max: 0x10_ff_ff }).map((code) => String.fromCodePoint(code)), maxLength });
