import { describe, expect, it } from "vitest";
import {
  type CellLevel,
  createStrips,
  dayScale,
  hourScale,
  levelsOf,
  stripText,
} from "../../../../src/http/pages/strip.ts";

const hourMs = 3_600_000;
const now = Date.UTC(2026, 2, 12, 14, 5);
const scale = hourScale(now);
const probed = (hour: number, probes: number, good: number) => ({
  fromMs: Date.UTC(2026, 2, 12, hour),
  probes,
  good,
});

describe("the last 24 hours", () => {
  it("begin 24 hours before the one that runs", () => {
    expect(new Date(scale.fromMs).toISOString()).toBe("2026-03-11T14:00:00.000Z");
    expect(scale.cells).toBe(25);
  });

  const shouldBe = (name: string, cell: ReturnType<typeof probed>, expected: readonly [number, CellLevel]): void =>
    it(name, () => {
      const [at, level] = expected;
      const levels = levelsOf(scale, [cell]);
      expect(levels[at]).toBe(level);
      expect(levels.filter((each) => each !== "none")).toHaveLength(level === "none" ? 0 : 1);
    });
  shouldBe("the running hour is the last cell", probed(14, 1, 1), [24, "good"]);
  shouldBe("the first hour is the first cell", { ...probed(14, 4, 4), fromMs: scale.fromMs }, [0, "good"]);
  shouldBe("some good", probed(13, 4, 1), [23, "mixed"]);
  shouldBe("none good", probed(13, 4, 0), [23, "bad"]);
  shouldBe("an hour without a probe is unknown, not bad", probed(13, 0, 0), [23, "none"]);
  shouldBe("what is older is left out", { ...probed(13, 4, 4), fromMs: scale.fromMs - hourMs }, [0, "none"]);
  shouldBe("what is to come is left out", { ...probed(13, 4, 4), fromMs: now + hourMs }, [24, "none"]);
});

it("90 days end with today", () => {
  const days = dayScale(now);
  const levels = levelsOf(days, [{ fromMs: Date.UTC(2026, 2, 12), probes: 1, good: 1 }]);
  expect(levels).toHaveLength(90);
  expect(levels[89]).toBe("good");
});

describe("drawn", () => {
  it("without data it shows neither good nor bad", () => {
    const { html } = createStrips(scale)([]);
    expect(html).toContain('aria-label="25 hours: 25 without data"');
    expect(html.match(/<path[^>]*>/g)).toStrictEqual(['<path class="o" d="M0 8h25V10H0z"/>']);
  });

  it("one path a level, one box a run", () => {
    const { html } = createStrips(scale)([probed(10, 4, 4), probed(11, 4, 4), probed(12, 4, 0), probed(14, 2, 1)]);
    expect(html).toContain('aria-label="25 hours: 2 good, 1 with faults, 1 down, 21 without data"');
    expect(html.match(/<path[^>]*>/g)).toStrictEqual([
      '<path class="o" d="M0 8h20V10H0zM23 8h1V10H23z"/>',
      '<path class="g" d="M20 4h2V10H20z"/>',
      '<path class="m" d="M24 2h1V10H24z"/>',
      '<path class="b" d="M22 0h1V10H22z"/>',
    ]);
  });

  it("equal strips are one drawing, others are not", () => {
    const draw = createStrips(scale);
    expect(draw([probed(10, 4, 4)])).toBe(draw([probed(10, 2, 2)]));
    expect(draw([probed(10, 4, 4)])).not.toBe(draw([probed(10, 4, 0)]));
  });
});

it("tells only the levels that occur", () =>
  expect(stripText(["good", "bad", "good"], "day")).toBe("3 days: 2 good, 1 down"));
