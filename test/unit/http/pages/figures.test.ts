import { describe, expect, it } from "vitest";
import { amountText, durationText, latencyText, numberText, percentText } from "../../../../src/figures.ts";
import { day, moment, momentOf } from "../../../../src/http/pages/figures.ts";

const shouldWrite = (written: string, expected: string): void => it(expected, () => expect(written).toBe(expected));

describe("numbers", () => {
  shouldWrite(numberText(1_234_567), "1,234,567");
  shouldWrite(amountText(1, "endpoint"), "1 endpoint");
  shouldWrite(amountText(0, "endpoint"), "0 endpoints");
});

describe("shares are never rounded to all or to nothing", () => {
  shouldWrite(percentText(7, 7), "100 %");
  shouldWrite(percentText(99_999, 100_000), "99.99 %");
  shouldWrite(percentText(2, 3), "66.66 %");
  shouldWrite(percentText(1, 1_000_000), "0.01 %");
  shouldWrite(percentText(0, 3), "0 %");
});

describe("latencies", () => {
  shouldWrite(latencyText(0.2), "< 1 ms");
  shouldWrite(latencyText(85.4), "85 ms");
  shouldWrite(latencyText(1250), "1.25 s");
  shouldWrite(latencyText(10_040), "10.0 s");
});

describe("durations", () => {
  shouldWrite(durationText(999), "less than 1 s");
  shouldWrite(durationText(61_000), "1 min 1 s");
  shouldWrite(durationText(3_600_000), "1 h");
  shouldWrite(durationText(90_000_000 + 61_000), "1 d 1 h");
});

describe("times", () => {
  const at = Date.UTC(2026, 2, 2, 4, 5, 6);
  shouldWrite(moment(at).html, '<time datetime="2026-03-02T04:05:06.000Z">2 Mar 2026 04:05 UTC</time>');
  shouldWrite(moment(at, false).html, '<time datetime="2026-03-02T04:05:06.000Z">2 Mar 2026 04:05</time>');
  shouldWrite(day(at).html, '<time datetime="2026-03-02">2 Mar 2026</time>');
  shouldWrite(momentOf("<b>").html, "an unknown time");
  shouldWrite(moment(8.7e15).html, "an unknown time");
  shouldWrite(day(Number.NaN).html, "an unknown day");
});
