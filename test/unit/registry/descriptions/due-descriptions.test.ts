import { expect, it } from "vitest";
import { DueDescriptions } from "../../../../src/registry/descriptions/due-descriptions.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";
import { eventually } from "../../../support/eventually.ts";
import type { CatalogDocument, CatalogEntry } from "../../../../src/registry/catalog.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const now = 100 * day;

interface Situation {
  /** Of the last run, in milliseconds before now; absent: there was none. */
  readonly began?: number;
  readonly ended?: number;
  readonly unfinished?: boolean;
  readonly own?: boolean;
  readonly origin?: CatalogDocument["origin"];
  /** In milliseconds before now. */
  readonly changed?: number;
  readonly resting?: boolean;
  readonly hosted?: boolean;
  readonly described?: "on" | "hosted" | "off";
  readonly entry?: Partial<CatalogEntry>;
}

/** One endpoint, and how it was asked to be described. */
function opened({ began, ended = 0, unfinished = false, own = false, origin = "file", ...more }: Situation) {
  const clock = { nowMs: now, now: () => clock.nowMs };
  const entries = [{ ...catalogEntry("people"), ...more.entry }];
  const requests: object[] = [];
  const listeners: (() => void)[] = [];
  const last = began === undefined ? undefined : { startedMs: now - began, finishedMs: now - ended, unfinished };
  const changed = more.changed === undefined ? {} : { changedAt: new Date(now - more.changed).toISOString() };
  const due = new DueDescriptions({
    catalog: {
      entries,
      byId: (id) => entries.find((entry) => entry.id === id),
      authorship: () => ({ origin, ...changed }),
      onChange(listener) {
        listeners.push(listener);
        return () => {};
      },
    },
    descriptions: {
      lastRun: async () => last,
      async request(_id, how = {}) {
        requests.push(how);
        return { id: "", kind: "", state: "waiting", payload: {}, attempts: 0, createdAt: "" };
      },
    },
    isHosted: () => more.hosted ?? false,
    isOwn: () => own,
    isResting: () => more.resting ?? false,
    clock,
    maxAgeMs: 7 * day,
    described: more.described ?? "on",
    onFault: (error) => {
      throw error;
    },
  });
  const context = { id: "", attempt: 1, signal: new AbortController().signal, progress: () => {}, children: [] };
  return {
    due,
    clock,
    requests,
    change: () => listeners.forEach((listener) => listener()),
    turn: () => due.kind.run({}, context),
  };
}

const own = { own: true };
const hosted = { own: true, hosted: true };
const api = { origin: "api" } as const;

it.each<readonly [string, Situation, boolean]>([
  ["own, never described", own, true],
  ["registered, never described", api, true],
  ["public, of a file, never described", {}, false],
  ["own, where hosted ones alone are described", { ...own, described: "hosted" }, false],
  ["registered, where hosted ones alone are described", { ...api, described: "hosted" }, false],
  ["hosted, where they alone are described", { ...hosted, described: "hosted" }, true],
  ["not SPARQL", { ...own, entry: { interface: "file" } }, false],
  ["resting", { ...own, resting: true }, false],
  ["fresh", { ...own, began: 5 * day, ended: 5 * day }, false],
  ["nearly too old", { ...own, began: 6.1 * day, ended: 6 * day }, true],
  ["changed since", { ...api, began: day, ended: day, changed: minute }, true],
  ["changed before", { ...api, began: day, ended: day, changed: 2 * day }, false],
  ["unfinished just now", { ...own, began: 2 * minute, ended: minute, unfinished: true }, false],
  ["unfinished, 10 minutes ago", { ...own, began: 12 * minute, ended: 11 * minute, unfinished: true }, true],
  ["failing for an hour, 50 minutes ago", { ...own, began: 110 * minute, ended: 50 * minute, unfinished: true }, false],
  ["failing for an hour, an hour ago", { ...own, began: 121 * minute, ended: 61 * minute, unfinished: true }, true],
  ["failing for days, a day ago", { ...own, began: 5 * day, ended: 1.1 * day, unfinished: true }, true],
])("a turn looks at an endpoint that is %s", async (_name, situation, isDue) => {
  const { requests, turn } = opened(situation);
  await turn();
  await turn();
  expect(requests).toHaveLength(isDue ? 1 : 0);
});

it.each<readonly [string, Situation, boolean]>([
  ["never described", {}, true],
  ["described six days ago", { began: 6.5 * day, ended: 6.4 * day }, false],
  ["not finished six days ago", { began: 6.5 * day, ended: 6.4 * day, unfinished: true }, false],
  ["described more than a week ago", { began: 7.3 * day, ended: 7.2 * day }, true],
  ["resting", { resting: true }, false],
  ["never described, where hosted ones alone are", { described: "hosted" }, false],
])("a query used a public endpoint that is %s", async (_name, situation, isDue) => {
  const { due, requests } = opened(situation);
  due.start(true);
  due.used(["people", "unknown"]);
  due.used(["people"]);
  await due.close();
  expect(requests.map((how) => "isPolite" in how && how.isPolite)).toEqual(isDue ? [true] : []);
});

it("entries are looked at when they come, and nothing is before the start or after the end", async () => {
  const { due, requests, change } = opened(own);
  due.used(["people"]);
  change();
  due.start(false);
  expect(requests).toEqual([]);
  change();
  await eventually(() => expect(requests).toEqual([{ priority: -1, again: true, isPolite: false }]));
  await due.close();
  due.used(["people"]);
  expect(requests).toHaveLength(1);
});

it.each<readonly [string, Situation, boolean]>([
  ["own", own, true],
  ["public", {}, false],
  ["public, when nothing is automatic,", { described: "off" }, true],
])("wrong facts of an %s endpoint have it described anew at once: %s", async (_name, situation, isDue) => {
  const { due, requests } = opened({ ...situation, began: minute, ended: minute });
  await due.renew("people");
  expect(requests).toEqual(isDue ? [{ again: true, isPolite: situation.own !== true }] : []);
});

it.each([
  ["all", hosted, ["people"]],
  ["hosted ones", { ...hosted, described: "hosted" }, ["people"]],
  ["none", { ...hosted, described: "off" }, []],
  ["all, and this one was", { ...hosted, began: day, ended: day }, []],
] as const)("a hosted endpoint is being described for the first time, where %s are", async (_, situation, first) => {
  const { due, clock, requests } = opened(situation);
  due.start(true);
  await due.close();
  expect(requests).toHaveLength(first.length);
  expect(await due.describedFirst()).toEqual(first);
  clock.nowMs += 11 * minute;
  expect(await due.describedFirst()).toEqual([]);
});

it("facts that are wrong at every look are renewed later each time, and at once when they have held", async () => {
  const { due, requests, clock } = opened(own);
  const renewed: number[] = [];
  const look = async (minutes: number): Promise<void> => {
    clock.nowMs = now + minutes * minute;
    const before = requests.length;
    await due.renew("people");
    if (requests.length > before) renewed.push(minutes);
  };
  const days = 4;
  for (let minutes = 0; minutes < days * 24 * 60; minutes += 15) await look(minutes);
  expect(renewed).toEqual([0, 15, 45, 90, 180, 345, 675, 1_320, 2_610, 4_050, 5_490]);
  // The facts of the last one held for four days.
  for (const minutes of [11_000, 11_005, 11_015]) await look(minutes);
  expect(renewed.slice(-2)).toEqual([11_000, 11_015]);
});
