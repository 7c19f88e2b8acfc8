import { describe, expect, it } from "vitest";
import { type ReadinessParts, readiness } from "../../../src/http/readiness.ts";
import type { Heartbeat } from "../../../src/monitor/monitor.ts";

const atMs = Date.UTC(2026, 2, 12, 14, 5);
const at = "2026-03-12T14:05:00.000Z";

const beating: Heartbeat = { enabled: true, alive: true, lastMs: atMs, gaps: [] };
const read = (given: Partial<ReadinessParts> = {}, heartbeat: Partial<Heartbeat> = {}) =>
  readiness({
    catalog: { entries: [], problems: [] },
    examples: undefined,
    closing: false,
    stateWatch: undefined,
    shardsOff: false,
    monitor: { heartbeat: () => ({ ...beating, ...heartbeat }) },
    ...given,
  });

/** One check; it never stops queries from being answered. */
const shouldSay = (
  name: string,
  check: "state" | "monitor" | "network",
  found: ReturnType<typeof read>,
  said: object,
): void =>
  it(`says of ${check}: ${name}`, () => {
    expect(found.ready).toBe(true);
    expect(found.checks[check]).toStrictEqual(said);
  });

const watch = (seen: Partial<NonNullable<ReadinessParts["stateWatch"]>>) =>
  read({ stateWatch: { lostAtMs: undefined, failingSinceMs: undefined, eviction: undefined, ...seen } });

describe("readiness", () => {
  it("ends with the first moment of the end", () => {
    const { ready, checks } = read({ closing: true });
    expect({ ready, service: checks["service"] }).toStrictEqual({
      ready: false,
      service: { ok: false, detail: "shutting down" },
    });
  });

  shouldSay("there", "network", read(), { ok: true, detail: "no loss seen" });
  shouldSay("lost", "network", read({}, { offline: { sinceMs: atMs, incident: "x._network" } }), {
    ok: false,
    detail: `cannot be reached since ${at}; hosted endpoints are answered, others most likely not`,
  });
  shouldSay("one's own", "state", read(), { ok: true, detail: "in the data folder" });
  it("is refused while Redis may evict what it has acknowledged", () => {
    const { ready, checks } = watch({ eviction: { detail: "it evicts" } });
    expect(ready).toBe(false);
    expect(checks["state"]).toStrictEqual({ ok: false, detail: "it evicts" });
  });
  shouldSay("shared, and not known to keep all", "state", watch({ eviction: "unknown" }), {
    ok: true,
    detail: "shared, and there; Redis does not say whether it evicts (maxmemory-policy)",
  });
  shouldSay("shared", "state", watch({}), { ok: true, detail: "shared, and there" });
  shouldSay("away", "state", watch({ failingSinceMs: atMs, lostAtMs: atMs }), {
    ok: false,
    detail: `cannot be reached since ${at}; queries are answered all the same`,
  });
  shouldSay("lost", "state", watch({ lostAtMs: atMs }), {
    ok: true,
    detail: `was lost at ${at}: earlier changes over the API are gone`,
  });

  shouldSay("probing", "monitor", read(), { ok: true, detail: `last probed at ${at}` });
  shouldSay("silent", "monitor", read({}, { alive: false }), { ok: false, detail: `last probed at ${at}` });
  shouldSay("off", "monitor", read({}, { enabled: false }), { ok: true, detail: "off" });
});

it("a monitor that has not probed yet is none that has stopped", () => {
  const { lastMs: _, ...never } = beating;
  const monitor = { heartbeat: () => ({ ...never, alive: false }) };
  expect(read({ monitor }).checks["monitor"]).toStrictEqual({ ok: true, detail: "has not probed yet" });
});
