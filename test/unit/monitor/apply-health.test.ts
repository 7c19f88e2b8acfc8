import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { applyHealth, type AppliedHealth } from "../../../src/monitor/apply-health.ts";
import type { FaultKind } from "../../../src/errors/fedway-error.ts";
import type { EndpointHealth, Incident, MonitorEvent, Observation } from "../../../src/monitor/monitor.ts";
import { systemClock } from "../../../src/clock.ts";

const everyMs = 900_000;
const noon = Date.UTC(2026, 0, 1, 12);
const url = "http://a.example/sparql";

let known: Map<string, EndpointHealth>;
let listeners: Set<(event: MonitorEvent) => void>;
let told: string[];
let applied: AppliedHealth;

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(noon);
  known = new Map();
  listeners = new Set();
  told = [];
});
afterEach(() => {
  applied.close();
  vi.useRealTimers();
});

/** Applies what is known; what the breakers are told is in `told`, moments as minutes after noon. */
function apply(isLocal?: (url: string) => boolean): AppliedHealth {
  applied = applyHealth({
    monitor: {
      health: (id) => known.get(id),
      all: () => [...known.values()],
      onEvent(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    breakers: {
      holdOpen: ({ id, url: at }, untilMs, reason) =>
        told.push(`hold ${id} ${at} until ${(untilMs - noon) / 60_000}: ${reason}`),
      close: (at) => told.push(`close ${at}`),
    },
    everyMs,
    jitter: 0.1,
    clock: systemClock,
    onFault: (fault) => expect.fail(String(fault)),
    ...(isLocal && { isLocal }),
  });
  return applied;
}

const observation = (fault: FaultKind | undefined, atMs = Date.now()): Observation => ({
  atMs,
  ok: fault === undefined,
  ms: 10,
  ...(fault !== undefined && { fault }),
  tries: 1,
  source: "turn",
});

function know(id: string, more: Partial<EndpointHealth>): void {
  known.set(id, { endpoint: id, url: `http://${id}.example/sparql`, state: "up", streak: 0, hours: [], ...more });
}

/** An endpoint with an open incident whose latest probe failed with this fault. */
const knowDown = (id: string, fault: FaultKind, atMs = Date.now()): void =>
  know(id, { state: "down", sinceMs: noon - 60_000, incident: `incident-${id}`, last: observation(fault, atMs) });

const incidentOf = (id: string): Incident => ({
  id: `incident-${id}`,
  endpoint: id,
  url: `http://${id}.example/sparql`,
  startedMs: noon,
  openedMs: noon,
  fault: "connect",
  faults: {},
  evidence: [],
});

function notice(event: MonitorEvent): void {
  for (const listener of listeners) listener(event);
}

const later = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const heldAtNoon = `hold a ${url} until 16.5: down since 2026-01-01T11:59:00.000Z, incident incident-a`;

describe("an endpoint with an open incident", () => {
  it.each(["dns", "connect", "tls", "timeout", "reset", "http-5xx"] as const)(
    "of the kind %s cools down until its next turn",
    (fault) => {
      knowDown("a", fault);
      apply();
      expect(told).toEqual([heldAtNoon]);
    },
  );
  it.each([
    "address",
    "http-3xx",
    "http-4xx",
    "http-429",
    "wrong-media-type",
    "malformed",
    "wrong-answer",
    "partial",
    "too-large",
    "busy",
    "circuit-open",
  ] as const)("of the kind %s is asked all the same", async (fault) => {
    knowDown("a", fault);
    apply();
    await later(10_000);
    expect(told).toEqual([]);
    expect(applied.availability.state("a")).toBe("down");
  });
  it("cools down once for each failed probe, not once for each look", async () => {
    knowDown("a", "connect");
    apply();
    await later(60_000);
    expect(told).toHaveLength(1);
    knowDown("a", "timeout", noon + 62_000);
    await later(2_000);
    expect(told.slice(1)).toEqual([
      `hold a ${url} until ${62 / 60 + 16.5}: down since 2026-01-01T11:59:00.000Z, incident incident-a`,
    ]);
  });
  it("cools down from the end of a probe that took long, but of no longer one than there is", async () => {
    knowDown("a", "timeout", noon - 60_000);
    apply();
    knowDown("a", "timeout", noon - 122_000);
    await later(2_000);
    expect(told.map((text) => /until [\d.]+/.exec(text)?.[0])).toEqual(["until 16.5", "until 15.5"]);
  });
  it("does not cool down any longer when its latest probe was good or answered wrongly", async () => {
    knowDown("a", "connect");
    apply();
    know("a", { state: "down", sinceMs: noon, incident: "incident-a", last: observation(undefined, noon + 1) });
    await later(4_000);
    knowDown("a", "wrong-answer", noon + 2);
    await later(4_000);
    expect(told).toEqual([heldAtNoon]);
  });
  it("is not held for longer because the clock of the one who probed is ahead", () => {
    knowDown("a", "connect", noon + 3_600_000);
    apply();
    expect(told).toEqual([heldAtNoon]);
  });
  it("without a known beginning is told by its incident", () => {
    know("a", { state: "unknown", sinceMs: noon, incident: "i", last: observation("dns") });
    apply();
    expect(told).toEqual([`hold a ${url} until 16.5: down, incident i`]);
  });
  it("that each process answers itself is left to each of them", () => {
    knowDown("a", "connect");
    apply((at) => at === url);
    expect(told).toEqual([]);
  });
});

describe("an endpoint without an incident", () => {
  it("is asked, whatever a single probe said", async () => {
    know("a", { last: observation("connect"), streak: 1 });
    apply();
    await later(10_000);
    expect(told).toEqual([]);
  });
  it("is let back once when its incident was closed by another process", async () => {
    knowDown("a", "connect");
    apply();
    know("a", { state: "up", last: observation(undefined) });
    await later(10_000);
    expect(told).toEqual([heldAtNoon, `close ${url}`]);
  });
  it("is let back when it has left the catalogue", async () => {
    knowDown("a", "connect");
    apply();
    known.delete("a");
    await later(10_000);
    expect(told).toEqual([heldAtNoon, `close ${url}`]);
    expect(applied.availability.state("a")).toBe("unknown");
  });
});

describe("what this process notices itself", () => {
  it("is applied at once, and opening twice is holding once", () => {
    know("a", {});
    apply();
    knowDown("a", "connect");
    notice({ kind: "probed", endpoint: "a", observation: observation("connect") });
    notice({ kind: "incident-opened", incident: incidentOf("a") });
    expect(told).toEqual([heldAtNoon]);
    expect(applied.availability.state("a")).toBe("down");
  });
  it("lets an endpoint back at once, even before memory shows it", async () => {
    knowDown("a", "connect");
    apply();
    notice({ kind: "incident-closed", incident: { ...incidentOf("a"), closedMs: noon } });
    await later(10_000);
    expect(told).toEqual([heldAtNoon, `close ${url}`]);
  });
  it("of an endpoint that is gone lets it back", () => {
    knowDown("a", "connect");
    apply();
    known.delete("a");
    notice({ kind: "probed", endpoint: "a", observation: observation("connect") });
    expect(told).toEqual([heldAtNoon, `close ${url}`]);
  });
});

describe("availability for the planner", () => {
  it("is unknown for what nobody has probed", () => {
    const { availability } = apply();
    expect([availability.state("a"), availability.sinceMs?.("a")]).toEqual(["unknown", undefined]);
  });
  it("tells state and time, and grows in version when an endpoint goes down or comes back, and for nothing else", async () => {
    know("a", { state: "unknown" });
    know("b", { state: "up", sinceMs: noon });
    const { availability } = apply();
    const versions = [availability.version];
    const look = async (): Promise<void> => {
      await later(2_000);
      versions.push(availability.version);
    };
    know("a", { state: "up", sinceMs: noon + 1 });
    await look();
    know("b", { state: "up", sinceMs: noon, last: observation("connect"), streak: 1 });
    await look();
    knowDown("b", "connect");
    await look();
    expect([availability.state("b"), availability.sinceMs?.("b")]).toEqual(["down", noon - 60_000]);
    knowDown("b", "timeout");
    await look();
    know("b", { state: "up", sinceMs: noon + 9 });
    await look();
    expect(versions.map((version) => version - (versions[0] ?? 0))).toEqual([0, 0, 0, 1, 1, 2]);
  });
  it("stands still once it is closed", async () => {
    const { availability } = apply();
    applied.close();
    knowDown("a", "connect");
    await later(10_000);
    notice({ kind: "probed", endpoint: "a", observation: observation("connect") });
    expect([availability.state("a"), told, vi.getTimerCount()]).toEqual(["unknown", [], 0]);
  });
});
