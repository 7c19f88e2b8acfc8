import { blankRecord, type HealthRecord, leftRecord, probedRecord } from "../../../src/monitor/health-record.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHealthRepository } from "../../../src/monitor/repositories.ts";
import type { Observation } from "../../../src/monitor/monitor.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";

const url = "http://people.example/sparql";
const rules = { incidentAfter: 3, recoveredAfter: 2, staleMs: 2_700_000 };
const minuteMs = 60_000;

const seen = (atMs: number, ok: boolean, more: Partial<Observation> = {}): Observation => ({
  atMs,
  ok,
  ms: 20,
  ...(!ok && { fault: "timeout" as const }),
  tries: 1,
  source: "turn",
  ...more,
});

/** Probes fifteen minutes apart: `g` good, `b` bad, `m` bad in maintenance, `e` bad and early, `.` none. */
function after(course: string, from: HealthRecord = blankRecord(url), startMs = 0): HealthRecord {
  let record = from;
  for (const [index, letter] of course.split("").entries()) {
    if (letter === ".") continue;
    const more = letter === "m" ? { maintenance: true as const } : letter === "e" ? { source: "early" as const } : {};
    const observation = seen(startMs + index * 15 * minuteMs, letter === "g", more);
    record = probedRecord("people", { record, observation }, rules);
  }
  return record;
}

const shouldBe = (course: string, state: HealthRecord["state"], streak: number, notices: string): void =>
  it(`${course}: ${state}, ${streak} in a row, ${notices || "nobody is told"}`, () => {
    const record = after(course);
    const told = record.outbox.map(({ kind }) => kind.replace("incident-", "")).join(" ");
    expect({ state: record.state, streak: record.streak, told }).toEqual({ state, streak, told: notices });
    expect(record.open !== undefined).toBe(state !== "up" && state !== "unknown");
  });

describe("states", () => {
  shouldBe("", "unknown", 0, "");
  shouldBe("g", "up", 0, "");
  shouldBe("b", "unknown", 1, "");
  shouldBe("bb", "unknown", 2, "");
  shouldBe("bbb", "down", 0, "opened");
  shouldBe("bbg", "up", 0, "");
  shouldBe("gbb", "up", 2, "");
  shouldBe("gbbb", "down", 0, "opened");
  shouldBe("gbbgbbgb", "up", 1, "");
  shouldBe("gbbgbbgbbg", "degraded", 1, "opened");
  shouldBe("gbgbgbgbgbgbgb", "degraded", 0, "opened");
  shouldBe("ggggggbbgggggbbggggggbbggggg", "up", 0, "");
  shouldBe(`gbbgbbgbb${"g".repeat(11)}`, "degraded", 11, "opened");
  shouldBe(`gbbgbbgbb${"g".repeat(12)}`, "up", 0, "opened closed");
  shouldBe("gbbgbbgbbgbbb", "flapping", 0, "opened");
  shouldBe(`gbbgbbgbb${"b".repeat(12)}`, "down", 0, "opened");
  shouldBe("gbbbg", "down", 1, "opened");
  shouldBe("gbbbgg", "down", 2, "opened");
  shouldBe("gbbbggg", "up", 0, "opened closed");
  shouldBe(`g${"b".repeat(20)}gggg`, "up", 0, "opened closed");
  shouldBe("gbbbgbgb", "flapping", 0, "opened");
  shouldBe("gbbbggbbbgg", "down", 2, "opened");
  shouldBe("gbbbggbbbggbbbggbbbggbbbgg", "flapping", 2, "opened");
  shouldBe("gbbbgggbbbggg", "flapping", 3, "opened closed opened");
  shouldBe(`gbbbgggbbb${"g".repeat(12)}`, "up", 0, "opened closed opened closed");
  shouldBe(`gbbbggbbbggbbbgg${"b".repeat(12)}`, "down", 0, "opened");
  shouldBe("gbeb", "down", 0, "opened");
  shouldBe("gmmmm", "up", 0, "");
  shouldBe("gbbmmmb", "down", 0, "opened");
  shouldBe("gbbbmmm", "down", 0, "opened");
});

describe("after a long silence", () => {
  shouldBe("g....", "up", 0, "");
  shouldBe("g....b", "unknown", 1, "");
  shouldBe("gbb....b", "unknown", 1, "");
  shouldBe("g....bbb", "down", 0, "opened");
  shouldBe("gbbb......g", "down", 1, "opened");
  shouldBe("gbbb......b", "down", 0, "opened");
});

describe("an incident", () => {
  it("has its beginning, its opening, its end and its faults", () => {
    const record = after("gbbbbgbgggggg");
    const quarter = 15 * minuteMs;
    expect(record.outbox.at(-1)?.incident).toMatchObject({
      endpoint: "people",
      url,
      startedMs: quarter,
      openedMs: 3 * quarter,
      closedMs: 12 * quarter,
      closedBy: "recovered",
      fault: "timeout",
      faults: { timeout: 5 },
    });
    expect(record.outbox[0]?.incident.closedMs).toBeUndefined();
    expect(record.outbox[0]?.incident.id).toBe(record.outbox[1]?.incident.id);
    expect(record.sinceMs).toBe(12 * quarter);
  });

  it("keeps at most 20 observations: the first, the last, and some of those between", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("b", "b", "gb"), { maxLength: 400 }), (between) => {
        const record = after(`gbbb${between.join("")}${"g".repeat(12)}`);
        const { evidence, startedMs, closedMs, faults } = record.outbox.at(-1)?.incident ?? expect.fail("none");
        const moments = evidence.map(({ atMs }) => atMs);
        expect(evidence.length).toBeLessThanOrEqual(20);
        expect(moments[0]).toBe(startedMs);
        expect(moments.at(-1)).toBe(closedMs);
        expect(moments).toEqual(moments.toSorted((a, b) => a - b));
        expect(new Set(moments).size).toBe(moments.length);
        expect(evidence.length).toBeGreaterThanOrEqual(Math.min(8, between.length + 5));
        expect(faults.timeout).toBe(3 + between.length);
      }),
      { numRuns: 100 },
    );
  });

  it("ids of later incidents sort first", () => {
    const ids = [0, 1, 1e6, 1.7e12, 1.8e12].map(
      (startMs) => after("bbb", blankRecord(url), startMs).open?.id ?? expect.fail("none"),
    );
    expect(ids.toSorted()).toEqual(ids.toReversed());
    for (const id of ids) expect(id).toMatch(/^[0-9a-z]{9}\.people$/u);
  });

  it("is closed when its endpoint moves; nothing of it is left but what is to be told", () => {
    const moved = leftRecord("people", after("gbbbbg"), { url: "http://new.example/", atMs: 9_000_000, by: "moved" });
    expect(moved).toMatchObject({ url: "http://new.example/", state: "unknown", streak: 0, past: [], trail: [] });
    expect(moved.open).toBeUndefined();
    expect(moved.outbox.at(-1)).toMatchObject({
      kind: "incident-closed",
      incident: { url, closedBy: "moved", closedMs: 9_000_000 },
    });
  });
});

/** What another process reads of a record, and its text. */
async function stored(
  record: HealthRecord,
): Promise<{ readonly text: string; readonly read: HealthRecord | undefined }> {
  const store = openSqliteStore({ path: ":memory:" });
  await createHealthRepository(store).put("a", record);
  const text = (await store.get("monitor/health/a"))?.value ?? "";
  return { text, read: await readAs(text) };
}

async function readAs(text: string): Promise<HealthRecord | undefined> {
  const store = openSqliteStore({ path: ":memory:" });
  await store.put("monitor/health/a", text);
  const records = createHealthRepository(store);
  await records.refresh();
  return records.get("a");
}

it("a record is read again as it was written", async () => {
  for (const course of ["g", "gb", "gbbb", "gbbbgbgg", "gggggggggggbbbmbbg"]) {
    const record = after(course);
    const { read } = await stored(record);
    // Durations of the hour that ended last are kept by the history.
    expect(read).toEqual({ ...record, past: record.past.map((hour) => ({ ...hour, bins: undefined })) });
    expect(after("gbg", read, 9e7)).toEqual(after("gbg", record, 9e7));
  }
});

it("what is no record is none", async () => {
  const { text: good } = await stored(after("gbbb"));
  expect(await readAs(good)).toBeDefined();
  for (const text of [
    "",
    "null",
    "[]",
    "{}",
    good.replace('"down"', '"off"'),
    good.replace('"url"', '"uri"'),
    good.slice(1),
  ]) {
    expect(await readAs(text)).toBeUndefined();
  }
});
