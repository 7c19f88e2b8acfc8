import { beforeEach, describe, expect, it } from "vitest";
import { followRemovals } from "../../../../src/registry/catalog/follow-removals.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";
import { createSimulatedClock, type SimulatedClock } from "../../../support/simulated-clock.ts";
import type { CatalogEntry } from "../../../../src/registry/catalog.ts";

let clock: SimulatedClock;
let entries: readonly CatalogEntry[];
let removed: string[];
let faults: unknown[];
let listeners: Set<() => void>;
/** Ids whose removal fails now. */
let failing: Set<string>;

beforeEach(() => {
  clock = createSimulatedClock(0);
  entries = ["a", "b", "c"].map((id) => catalogEntry(id));
  [removed, faults] = [[], []];
  [listeners, failing] = [new Set(), new Set()];
});

function follow() {
  return followRemovals({
    catalog: {
      get entries() {
        return entries;
      },
      byId: (id) => entries.find((entry) => entry.id === id),
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    async remove(id) {
      removed.push(id);
      if (failing.has(id)) throw new Error(`not ${id}`);
    },
    clock,
    onFault: (fault) => faults.push(fault),
  });
}

/** The catalogue has these from now on. */
function show(...ids: readonly string[]): Promise<void> {
  entries = ids.map((id) => catalogEntry(id));
  for (const listener of listeners) listener();
  return clock.advance(0);
}

const hourMs = 3_600_000;

describe("what is kept of an endpoint", () => {
  it("is dropped once when it leaves the catalogue, and that of no other", async () => {
    follow();
    await show("a", "b", "c", "new");
    await show("a", "new");
    await show("a", "new");
    await clock.advance(2 * hourMs);
    expect([removed, faults]).toEqual([["b", "c"], []]);
  });

  it("is dropped later when that fails, and then no more", async () => {
    follow();
    failing.add("b");
    await show("a", "c");
    await clock.advance(20_000);
    const tried = removed.length;
    expect(tried).toBeGreaterThanOrEqual(3);
    expect(faults).toHaveLength(tried);
    failing.clear();
    await clock.advance(2 * hourMs);
    expect(removed).toEqual(Array.from({ length: tried + 1 }, () => "b"));
    expect(faults).toHaveLength(tried);
  });

  it("stays when that fails for more than an hour, which is said", async () => {
    follow();
    failing.add("b");
    await show("a", "c");
    await clock.advance(hourMs);
    expect(removed.length).toBeLessThan(40);
    await clock.advance(23 * hourMs);
    expect(removed).toHaveLength(40);
    expect(String(faults.at(-1))).toContain('endpoint "b" could not be deleted');
  });

  it("stays when the endpoint is back before it could be dropped", async () => {
    follow();
    failing.add("b");
    await show("a", "c");
    await show("a", "b", "c");
    failing.clear();
    await clock.advance(2 * hourMs);
    expect(removed).toEqual(["b"]);
    await show("a", "c");
    expect(removed).toEqual(["b", "b"]);
  });

  it("is tried anew from the beginning when the endpoint has left a second time", async () => {
    follow();
    failing.add("b");
    await show("a", "c");
    await clock.advance(10 * 60_000);
    await show("a", "b", "c");
    removed = [];
    await show("a", "c");
    await clock.advance(2_000);
    expect(removed.length).toBeGreaterThanOrEqual(3);
    failing.clear();
    await clock.advance(2 * hourMs);
    const tried = removed.length;
    await clock.advance(2 * hourMs);
    expect(removed).toHaveLength(tried);
  });

  it("is left when everything ends", async () => {
    const removals = follow();
    failing.add("b");
    await show("a", "c");
    removals.close();
    const tried = removed.length;
    await show("c");
    await clock.advance(2 * hourMs);
    expect([removed.length, listeners.size]).toEqual([tried, 0]);
  });

  it("waits for no more than a thousand endpoints", async () => {
    follow();
    const many = Array.from({ length: 1_100 }, (_, n) => `e${n}`);
    await show(...many);
    failing = new Set(many);
    await show();
    [removed, faults] = [[], []];
    await clock.advance(1_000);
    expect(new Set(removed).size).toBe(1_000);
  });
});
