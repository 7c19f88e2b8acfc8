import { describe, expect, it } from "vitest";
import { html } from "../../../../src/html.ts";
import { latencyChart, niceCeiling } from "../../../../src/http/pages/endpoint-health.ts";
import { hourScale } from "../../../../src/http/pages/strip.ts";

const scale = hourScale(Date.UTC(2026, 2, 12, 14, 5));
const hour = (at: number, p50Ms?: number) => ({
  fromMs: scale.fromMs + at * scale.spanMs,
  probes: 4,
  good: p50Ms === undefined ? 0 : 4,
  ...(p50Ms !== undefined && { p50Ms }),
  faults: {},
});
const chart = (...summaries: ReturnType<typeof hour>[]): string =>
  latencyChart({ scale, summaries, ends: [html`then`, html`now`] }).html;

describe("the top of the scale", () => {
  const shouldBe = (value: number, top: number): void =>
    it(`${value} has room below ${top}`, () => expect(niceCeiling(value)).toBe(top));
  shouldBe(0, 1);
  shouldBe(1, 1);
  shouldBe(96, 100);
  shouldBe(100, 100);
  shouldBe(101, 200);
  shouldBe(2001, 5000);
  shouldBe(7000, 10_000);
});

describe("the curve", () => {
  it("breaks where nothing is known", () => {
    const text = chart(hour(0, 100), hour(1, 50), hour(2), hour(3, 0), hour(4, 100));
    expect(text).toContain('<path class="line" d="M0.5 0L1.5 50M3.5 100L4.5 0"/>');
    expect(text).not.toContain('class="dot"');
  });

  it("shows a span without neighbours as a dot", () => {
    const text = chart(hour(7, 100));
    expect(text).toContain('<path class="dot" d="M7.5 0h0"/>');
    expect(text).not.toContain('class="line"');
  });

  it("is told in words", () =>
    expect(chart(hour(0, 80), hour(9, 1200))).toContain(
      'aria-label="Median latency by hour, between 80 ms and 1.20 s; 2 of 25 hours have data"',
    ));

  it("is not drawn without data", () => {
    expect(chart(hour(3))).not.toContain("<svg");
    expect(chart(hour(3))).toContain("No latency is known");
  });
});
