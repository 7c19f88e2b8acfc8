import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createTurnTable, turnAtMs, turnsBetween } from "../../../src/monitor/turns.ts";

const rules = { everyMs: 900_000, jitter: 0.1 };
const startMs = Date.parse("2026-03-01T00:00:00Z");
const ids = Array.from({ length: 500 }, (_, n) => `endpoint-${n}`);

const anyRules = fc.record({
  everyMs: fc.integer({ min: 1_000, max: 86_400_000 }),
  jitter: fc.double({ min: 0, max: 0.5, noNaN: true }),
});

it("every endpoint has one turn an interval, however time is cut", () => {
  fc.assert(
    fc.property(anyRules, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }), (some, cuts) => {
      const toMs = startMs + Math.floor(3.5 * some.everyMs);
      const ends = cuts.map((cut) => startMs + Math.floor(cut * 3.5 * some.everyMs)).toSorted((a, b) => a - b);
      const names = ids.slice(0, 20);
      const table = createTurnTable(some);
      let fromMs = startMs;
      const found = [];
      for (const end of [...ends, toMs]) {
        found.push(...table(names, { fromMs, toMs: end }));
        fromMs = end;
      }
      const expected = names.flatMap((endpoint) => {
        const first = Math.floor(startMs / some.everyMs) - 2;
        return Array.from({ length: 9 }, (_, n) => ({ endpoint, atMs: turnAtMs(endpoint, first + n, some) }));
      });
      const inside = expected.filter(({ atMs }) => atMs > startMs && atMs <= toMs);
      expect(inside.length).toBeGreaterThan(20);
      const key = ({ endpoint, atMs }: { endpoint: string; atMs: number }) => `${atMs} ${endpoint}`;
      expect(found.map(key).toSorted()).toEqual(inside.map(key).toSorted());
      expect(turnsBetween(names, some, { fromMs: startMs, toMs }).map(key).toSorted()).toEqual(
        inside.map(key).toSorted(),
      );
    }),
    { numRuns: 200 },
  );
});

it("stays within its jitter and comes in order", () => {
  const turns = turnsBetween(ids, rules, { fromMs: startMs, toMs: startMs + 10 * rules.everyMs });
  expect(turns.length).toBeGreaterThan(4_900);
  expect(turns.map(({ atMs }) => atMs)).toEqual(turns.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
  const own = turns.filter(({ endpoint }) => endpoint === "endpoint-7").map(({ atMs }) => atMs);
  const gaps = own.slice(1).map((atMs, index) => atMs - (own[index] ?? 0));
  for (const gap of gaps) {
    expect(gap).toBeGreaterThanOrEqual(0.8 * rules.everyMs);
    expect(gap).toBeLessThanOrEqual(1.2 * rules.everyMs);
  }
  expect(new Set(gaps).size).toBeGreaterThan(5);
});

it("spreads endpoints over the interval", () => {
  const turns = turnsBetween(ids, { ...rules, jitter: 0 }, { fromMs: startMs, toMs: startMs + rules.everyMs });
  expect(turns).toHaveLength(ids.length);
  const tenths = Array.from({ length: 10 }, (_, tenth) => {
    const from = startMs + (tenth * rules.everyMs) / 10;
    return turns.filter(({ atMs }) => atMs > from && atMs <= from + rules.everyMs / 10).length;
  });
  expect(Math.min(...tenths)).toBeGreaterThan(25);
  expect(Math.max(...tenths)).toBeLessThan(85);
});

it("a changed list of endpoints is taken in", () => {
  const table = createTurnTable(rules);
  const span = { fromMs: startMs, toMs: startMs + rules.everyMs };
  expect(table(["a"], span).map(({ endpoint }) => endpoint)).toEqual(["a"]);
  expect(new Set(table(["a", "b"], span).map(({ endpoint }) => endpoint))).toEqual(new Set(["a", "b"]));
});
