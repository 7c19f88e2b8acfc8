import { expect, it } from "vitest";
import { CoolingDown } from "../../../src/engine/evaluators/cooling-down.ts";

const url = "http://slow.example/sparql";

/** A member that took too long for a query of 10 s, asked by another one with so much time, so much later. */
const cases: readonly (readonly [timeoutMs: number, afterMs: number, isCooling: boolean])[] = [
  [10_000, 0, true],
  [9_990, 59_999, true],
  [1_000, 30_000, true],
  [10_000, 60_000, false],
  [16_000, 0, false],
];

for (const [timeoutMs, afterMs, isCooling] of cases) {
  it(`${isCooling ? "does not ask" : "asks"} for a query of ${timeoutMs} ms, ${afterMs} ms later`, () => {
    let now = Date.parse("2026-01-01T00:00:00Z");
    const members = new CoolingDown(() => now);
    members.tookTooLong(url, 10_000);
    now += afterMs;
    const asked = () => members.require(url, timeoutMs);
    if (!isCooling) expect(asked).not.toThrow();
    else
      expect(asked).toThrow(
        expect.objectContaining({
          code: "CIRCUIT_OPEN",
          details: expect.objectContaining({
            retryAfterMs: 60_000 - afterMs,
            coolingDown: { since: "2026-01-01T00:00:00.000Z", until: "2026-01-01T00:01:00.000Z" },
          }),
        }),
      );
    members.answered(url);
    expect(asked).not.toThrow();
  });
}

it("remembers a mebibyte, long URLs for less long", () => {
  const members = new CoolingDown(() => 0);
  const long = `${url}${"x".repeat(2_000)}`;
  for (let n = 0; n < 1_000; n++) members.tookTooLong(`${url}${n}`, 10_000);
  expect(() => members.require(`${url}0`, 10_000)).toThrow();
  for (let n = 0; n < 300; n++) members.tookTooLong(`${long}${n}`, 10_000);
  expect(() => members.require(`${long}0`, 10_000)).not.toThrow();
  expect(() => members.require(`${long}299`, 10_000)).toThrow();
});
