import { describe, expect, it } from "vitest";
import {
  readStatusFilter,
  sortedRows,
  type StatusRow,
  statusPath,
  statusRow,
  type StatusFilter,
} from "../../../../src/http/pages/status-rows.ts";
import { lookBetweenTurns } from "../../../support/held-loop.ts";
import type { EndpointHealth, HourSummary } from "../../../../src/monitor/monitor.ts";

const hour = (probes: number, good: number, p50Ms?: number): HourSummary => ({
  fromMs: 0,
  probes,
  good,
  ...(p50Ms !== undefined && { p50Ms }),
  faults: {},
});
const row = (endpoint: string, more: Partial<EndpointHealth> = {}): StatusRow =>
  statusRow({ endpoint, url: `http://${endpoint}.example/`, state: "up", streak: 0, hours: [], ...more }, endpoint);

describe("figures", () => {
  it("of all hours together", () =>
    expect(row("a", { hours: [hour(4, 4, 10), hour(4, 1, 30)] })).toMatchObject({ probes: 8, good: 5, latencyMs: 20 }));
  it("the median of the hours that have one", () =>
    expect(row("a", { hours: [hour(1, 1, 9), hour(1, 0), hour(1, 1, 1), hour(1, 1, 4)] }).latencyMs).toBe(4));
  it("nothing is known without a probe", () => expect(row("a")).toMatchObject({ probes: 0, latencyMs: undefined }));
});

describe("order", () => {
  const rows = [
    row("b", { hours: [hour(4, 2, 50)], sinceMs: 2 }),
    row("nothing", { state: "unknown" }),
    row("c10", { hours: [hour(4, 4, 90)], sinceMs: 3, state: "down" }),
    row("A", { hours: [hour(4, 4, 90)], sinceMs: 1 }),
    row("c9", { hours: [hour(4, 0)], sinceMs: 4, state: "down" }),
  ];
  const shouldSort = (filter: StatusFilter, ...expected: readonly string[]): void =>
    it(`by ${filter.sort}, ${filter.order}`, async () =>
      expect((await sortedRows(rows, filter)).map(({ title }) => title)).toStrictEqual(expected));
  shouldSort({ sort: "name", order: "asc" }, "A", "b", "c9", "c10", "nothing");
  shouldSort({ sort: "name", order: "desc" }, "nothing", "c10", "c9", "b", "A");
  shouldSort({ sort: "state", order: "asc" }, "c9", "c10", "nothing", "A", "b");
  shouldSort({ sort: "state", order: "desc" }, "A", "b", "nothing", "c9", "c10");
  shouldSort({ sort: "uptime", order: "asc" }, "c9", "b", "A", "c10", "nothing");
  shouldSort({ sort: "uptime", order: "desc" }, "A", "c10", "b", "c9", "nothing");
  shouldSort({ sort: "latency", order: "asc" }, "b", "A", "c10", "c9", "nothing");
  shouldSort({ sort: "latency", order: "desc" }, "A", "c10", "b", "c9", "nothing");
  shouldSort({ sort: "since", order: "asc" }, "A", "b", "c10", "c9", "nothing");
  shouldSort({ sort: "since", order: "desc" }, "c9", "c10", "b", "A", "nothing");
});

it("sorts thousands of rows as few ones, and lets others have their turn", async () => {
  const many = Array.from({ length: 5_003 }, (_, at) => row(`e${(at * 7_919) % 5_003}`, { sinceMs: at % 7 }));
  let turns = 0;
  const sorted = await lookBetweenTurns(
    () => sortedRows(many, { sort: "since", order: "desc" }),
    () => (turns += 1),
  );
  expect(turns).toBeGreaterThan(5);
  const expected = many.toSorted((a, b) => {
    const [first, second] = [a, b].map(({ health }) => health.sinceMs ?? 0);
    return (second ?? 0) - (first ?? 0) || Number(a.title.slice(1)) - Number(b.title.slice(1));
  });
  expect(sorted.map(({ title }) => title)).toEqual(expected.map(({ title }) => title));
});

describe("filters", () => {
  const shouldRead = (query: string, filter: StatusFilter, path: string): void =>
    it(`?${query}`, () => {
      const read = readStatusFilter(new URLSearchParams(query));
      expect(read).toEqual(filter);
      expect(statusPath(read)).toBe(path);
      expect(readStatusFilter(new URL(path, "http://x.example").searchParams)).toEqual(filter);
    });
  shouldRead("", { sort: "state", order: "asc" }, "/status");
  shouldRead("sort=&order=&state=", { sort: "state", order: "asc" }, "/status");
  shouldRead("cursor=100", { sort: "state", order: "asc", cursor: "100" }, "/status?cursor=100");
  shouldRead("sort=uptime&order=desc", { sort: "uptime", order: "desc" }, "/status?sort=uptime&order=desc");
  shouldRead("sort=since", { sort: "since", order: "desc" }, "/status?sort=since&order=desc");
  shouldRead("state=down&utm=1", { sort: "state", order: "asc", state: "down" }, "/status?state=down");

  it("unknown values are refused with the like", () =>
    expect(() => readStatusFilter(new URLSearchParams("sort=uptme"))).toThrow(
      expect.objectContaining({
        code: "REQUEST_INVALID",
        details: expect.objectContaining({ next: "Did you mean uptime?" }),
      }),
    ));
});
