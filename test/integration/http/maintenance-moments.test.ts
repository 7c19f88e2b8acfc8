import { describe, expect, it } from "vitest";
import { createMaintenance } from "../../../src/monitor/maintenance.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { createFakeMonitor } from "../../support/fake-monitor.ts";
import { start } from "./http-fixture.ts";

const nowMs = Date.UTC(2026, 5, 1);
const headers = { "Content-Type": "application/json" };

/** Announces a window where the windows are really kept. */
async function announce(wish: object): Promise<{ readonly status: number; readonly body: object }> {
  const book = createMaintenance(createMemoryStore());
  const endpoints = [{ id: "alpha", url: "https://alpha.example/sparql" }];
  const monitor = {
    ...createFakeMonitor({ endpoints, nowMs }),
    addMaintenance: (window: Parameters<typeof book.add>[0]) => book.add(window, nowMs),
  };
  const app = await start({ monitor });
  const body = JSON.stringify(wish);
  const response = await fetch(`${app.url}/api/endpoints/alpha/maintenance`, { method: "POST", headers, body });
  return { status: response.status, body: (await response.json()) as object };
}

const shouldTake = (from: string, to: string, fromMs: number, toMs: number): void =>
  it(`takes ${from} to ${to}`, async () => {
    const [begin, end] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
    expect(await announce({ from, to })).toMatchObject({ status: 201, body: { from: begin, to: end } });
  });

const shouldRefuse = (from: string, to: string, detail: RegExp): void =>
  it(`refuses ${from} to ${to}`, async () => {
    const { status, body } = await announce({ from, to });
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: "REQUEST_INVALID", detail: expect.stringMatching(detail) },
    });
  });

const day = 24 * 3_600_000;

describe("a moment", () => {
  shouldTake("2026-06-02", "2026-06-03", nowMs + day, nowMs + 2 * day);
  shouldTake("2026-06-02T00:00Z", "2026-06-02T01:00:00.5Z", nowMs + day, nowMs + day + 3_600_500);
  shouldTake("2026-06-02T02:00+02:00", "2026-06-02T02:00:01-00:00", nowMs + day, nowMs + day + 7_201_000);
  shouldTake("2028-02-29", "2028-03-01", Date.UTC(2028, 1, 29), Date.UTC(2028, 2, 1));
  // Whose clock is meant is not known.
  shouldRefuse("2026-06-02T10:00", "2026-06-02T11:00:00Z", /^"from" is not a moment/);
  shouldRefuse("2026-06-02T10:00Z", "2026-06-02T11:00:00", /^"to" is not a moment/);
  // Days that are not in the calendar.
  shouldRefuse("2027-02-29", "2027-03-05", /^"from" is not a moment/);
  shouldRefuse("2026-06-30", "2026-06-31", /^"to" is not a moment/);
  shouldRefuse("2026-06-02T25:00Z", "2026-06-04", /^"from" is not a moment/);
  shouldRefuse("2026-06-02", "NaN", /^"to" is not a moment/);
  shouldRefuse("2026-06-02", "1780358400000", /^"to" is not a moment/);
});

describe("a maintenance window", () => {
  shouldRefuse("2026-06-03", "2026-06-02", /ends after its beginning/);
  shouldRefuse("2026-06-03", "2026-06-03", /ends after its beginning/);
  shouldRefuse("2026-05-01", "2026-05-02", /in the future/);
  shouldRefuse("2026-06-02", "2036-06-02", /at most a year/);
  shouldRefuse("2036-06-02", "2036-06-03", /within two/);
  shouldRefuse("0001-01-01", "2026-06-02", /at most a year/);
  shouldRefuse("2026-06-02", "9999-12-31", /at most a year/);
});
