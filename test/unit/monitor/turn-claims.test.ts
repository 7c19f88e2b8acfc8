import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createTurnClaims, type TurnClaims, createTurnTable, turnsBetween } from "../../../src/monitor/turns.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";

const rules = { everyMs: 900_000, jitter: 0.1 };
const startMs = Date.parse("2026-03-01T00:00:00Z");
const ids = Array.from({ length: 40 }, (_, n) => `endpoint-${n}`);

const claimsOver = (store: Store): TurnClaims =>
  createTurnClaims({ store, table: createTurnTable(rules), everyMs: rules.everyMs });

/** Claims every 10 s up to a time; gives the moments of all turns that were won. */
async function claimUpTo(claims: readonly TurnClaims[], fromMs: number, toMs: number): Promise<number[]> {
  const won: number[] = [];
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 10_000) {
    for (const turns of await Promise.all(claims.map((one) => one.claim(ids, nowMs)))) {
      won.push(...turns.map(({ atMs }) => atMs));
    }
  }
  return won.toSorted((a, b) => a - b);
}

const momentsBetween = (fromMs: number, toMs: number): number[] =>
  turnsBetween(ids, rules, { fromMs, toMs }).map(({ atMs }) => atMs);

it("a new service begins with the turns of the interval that follows, at their places in it", async () => {
  const claims = claimsOver(openSqliteStore({ path: ":memory:" }));
  expect(await claims.claim(ids, startMs)).toEqual([]);
  const won = await claimUpTo([claims], startMs + 10_000, startMs + rules.everyMs);
  expect(won).toEqual(momentsBetween(startMs, startMs + rules.everyMs));
});

describe("several processes over one store", () => {
  it.each([1, 2, 5])("%i of them take each turn once", async (count) => {
    const store = openSqliteStore({ path: ":memory:" });
    const claims = Array.from({ length: count }, () => claimsOver(store));
    await Promise.all(claims.map((one) => one.claim(ids, startMs)));
    const won = await claimUpTo(claims, startMs, startMs + 2 * rules.everyMs);
    expect(won.length).toBeGreaterThan(70);
    expect(won).toEqual(momentsBetween(startMs, startMs + 2 * rules.everyMs));
  });

  it("clocks that are not quite the same change nothing", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const [ahead, behind] = [claimsOver(store), claimsOver(store)];
    await ahead.claim(ids, startMs);
    const won: number[] = [];
    for (let nowMs = startMs; nowMs <= startMs + rules.everyMs; nowMs += 10_000) {
      won.push(...(await behind.claim(ids, nowMs - 3_000)).map(({ atMs }) => atMs));
      won.push(...(await ahead.claim(ids, nowMs)).map(({ atMs }) => atMs));
    }
    expect(won.toSorted((a, b) => a - b)).toEqual(momentsBetween(startMs, startMs + rules.everyMs));
  });
});

describe("time that was lost", () => {
  it("a short pause is made up for", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    await claimsOver(store).claim(ids, startMs);
    const later = startMs + 300_000;
    expect((await claimsOver(store).claim(ids, later)).map(({ atMs }) => atMs)).toEqual(momentsBetween(startMs, later));
  });

  it("of a long one, one turn of each endpoint", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    await claimsOver(store).claim(ids, startMs);
    const turns = await claimsOver(store).claim(ids, startMs + 30 * 86_400_000);
    expect(turns.length).toBeLessThanOrEqual(ids.length);
    expect(turns.length).toBeGreaterThan(ids.length * 0.8);
    expect(new Set(turns.map(({ endpoint }) => endpoint)).size).toBe(turns.length);
  });

  it("a clock that was set back by a day goes on at once, without a storm", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const claims = claimsOver(store);
    await claims.claim(ids, startMs);
    const back = startMs - 86_400_000;
    expect(await claims.claim(ids, back)).toEqual([]);
    expect(await claimUpTo([claims], back, back + rules.everyMs)).toEqual(momentsBetween(back, back + rules.everyMs));
  });

  it("one that was set back by a minute waits until that time comes again", async () => {
    const claims = claimsOver(openSqliteStore({ path: ":memory:" }));
    await claims.claim(ids, startMs);
    const won = await claimUpTo([claims], startMs - 60_000, startMs + 600_000);
    expect(won).toEqual(momentsBetween(startMs, startMs + 600_000));
  });

  it("a store that was emptied begins anew", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const claims = claimsOver(store);
    await claims.claim(ids, startMs);
    await store.delete("monitor/turns");
    const won = await claimUpTo([claims], startMs + 10_000, startMs + rules.everyMs);
    expect(won.length).toBeGreaterThan(ids.length * 0.9);
  });
});

describe("a store that fails", () => {
  const failing = (store: Store, when: { fails: "before" | "after" | "never" }): Store => ({
    ...store,
    async put(key, value, options) {
      if (when.fails === "before") throw new FedwayError("STORE_FAILED", "Nothing was written.");
      const version = await store.put(key, value, options);
      if (when.fails === "after") throw new FedwayError("STORE_FAILED", "It was written, but nobody could say so.");
      return version;
    },
  });

  it.each(["before", "after"] as const)("loses no turn when it fails %s writing", async (fails) => {
    const when: { fails: "before" | "after" | "never" } = { fails: "never" };
    const claims = claimsOver(failing(openSqliteStore({ path: ":memory:" }), when));
    await claims.claim(ids, startMs);
    when.fails = fails;
    await expect(claims.claim(ids, startMs + 200_000)).rejects.toThrow(/written/u);
    when.fails = "never";
    const won = await claimUpTo([claims], startMs + 200_000, startMs + 400_000);
    expect(won).toEqual(momentsBetween(startMs, startMs + 400_000));
  });

  it("what another process has taken meanwhile is not taken again", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const when: { fails: "before" | "after" | "never" } = { fails: "never" };
    const claims = claimsOver(failing(store, when));
    await claims.claim(ids, startMs);
    when.fails = "before";
    await expect(claims.claim(ids, startMs + 200_000)).rejects.toThrow(/written/u);
    when.fails = "never";
    const others = await claimsOver(store).claim(ids, startMs + 210_000);
    const own = await claimUpTo([claims], startMs + 220_000, startMs + 400_000);
    const all = [...others.map(({ atMs }) => atMs), ...own].toSorted((a, b) => a - b);
    expect(all).toEqual(momentsBetween(startMs, startMs + 400_000));
  });

  it("a document that is not a claim is written over", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    await store.put("monitor/turns", "[]");
    expect(await claimsOver(store).claim(ids, startMs)).not.toEqual([]);
    expect(await claimsOver(store).claim(ids, startMs)).toEqual([]);
  });
});
