import { afterEach, describe, expect, it } from "vitest";
import { type ClientKeys, openClientKeys } from "../../../src/clients/client-keys.ts";
import { createQuotas, type Quotas } from "../../../src/clients/quotas.ts";
import { systemClock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store/store.ts";

/** Opens stores of two processes over the same state; of an embedded store both are one. */
export interface Harness {
  readonly stores: readonly [Store, Store];
  readonly dispose: () => Promise<void>;
}

const hour = 3_600_000;
const dayStartMs = Date.UTC(2026, 0, 2);

/** What holds for clients, keys and quotas over any store, in each of its processes. */
export function describeClients(name: string, create: () => Promise<Harness>): void {
  describe(`clients on ${name}`, () => {
    const closings: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const close of closings.splice(0).toReversed()) await close();
    });
    async function open() {
      const { stores, dispose } = await create();
      closings.push(dispose);
      const time = { nowMs: dayStartMs + 10 * hour };
      const faults: unknown[] = [];
      const onFault = (fault: unknown): void => void faults.push(fault);
      const clock = { ...systemClock, now: () => time.nowMs };
      const process = async (store: Store): Promise<{ keys: ClientKeys; quotas: Quotas }> => {
        const keys = await openClientKeys({ store, clock, onFault });
        const quotas = createQuotas({ store, clients: keys, now: () => time.nowMs, onFault });
        closings.push(() => keys.close());
        return { keys, quotas };
      };
      return { here: await process(stores[0]), there: await process(stores[1]), time, faults, store: stores[0] };
    }

    it("are known to every process soon, and their keys by hash only", async () => {
      const { here, there, store } = await open();
      expect([here.keys.inUse, there.keys.inUse]).toEqual([false, false]);
      const { key } = await here.keys.add("ada", { role: "query" });
      expect(here.keys.nameOf(key)).toBe("ada");
      await expect.poll(() => there.keys.nameOf(key)).toBe("ada");
      expect(there.keys.inUse).toBe(true);
      expect(JSON.stringify(await store.list("client/"))).not.toContain(key.slice(-30));
      await here.keys.remove("ada");
      expect(here.keys.nameOf(key)).toBeUndefined();
      await expect.poll(() => there.keys.nameOf(key)).toBeUndefined();
      await expect(here.keys.remove("ada")).rejects.toMatchObject({ code: "CLIENT_UNKNOWN" });
    });

    it("have an old key for a stated time after a rotation, never more than two", async () => {
      const { here, there, time } = await open();
      const { key: first } = await here.keys.add("ada", { role: "query" });
      await expect.poll(() => there.keys.nameOf(first)).toBe("ada");
      const { key: second } = await there.keys.rotate("ada", hour);
      await expect.poll(() => here.keys.nameOf(second)).toBe("ada");
      expect([here, there].map(({ keys }) => keys.nameOf(first))).toEqual(["ada", "ada"]);
      time.nowMs += hour;
      expect([here, there].map(({ keys }) => keys.nameOf(first))).toEqual([undefined, undefined]);
      const made = await Promise.all([here, there, here, there].map(({ keys }) => keys.rotate("ada", hour)));
      const live = () => [second, ...made.map(({ key }) => key)].filter((key) => here.keys.nameOf(key) !== undefined);
      await expect.poll(() => live().length).toBe(2);
      expect(here.keys.sessionSecrets("ada").length).toBe(2);
    });

    it("have sessions that are signed out in all processes, in bounded memory", async () => {
      const { here, there, time, store } = await open();
      const session = (at: number) => ({ name: "ada", untilMs: time.nowMs + at });
      await here.keys.signOut(session(500));
      expect([500, 499].map((at) => here.keys.isSignedOut(session(at)))).toEqual([true, false]);
      await expect.poll(() => there.keys.isSignedOut(session(500))).toBe(true);
      expect(there.keys.isSignedOut({ ...session(500), name: undefined })).toBe(false);
      for (let at = 1; at <= 120; at += 1) await there.keys.signOut(session(1_000 + at));
      await expect.poll(() => here.keys.isSignedOut(session(1_120))).toBe(true);
      expect([500, 1_001, 1_120, 1_121].map((at) => here.keys.isSignedOut(session(at)))).toEqual([
        true,
        true,
        true,
        false,
      ]);
      expect((await store.list("signed-out/")).map(({ value }) => value.length < 3_000)).toEqual([true]);
    });

    it("of one name exist once, whoever adds them at the same time", async () => {
      const { here, there } = await open();
      const added = await Promise.allSettled([here, there].map(({ keys }) => keys.add("ada", { role: "read" })));
      expect(added.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const [won] = added.flatMap((each) => (each.status === "fulfilled" ? [each.value.key] : []));
      await expect.poll(() => [here, there].map(({ keys }) => keys.nameOf(won ?? ""))).toEqual(["ada", "ada"]);
    });

    it("spend one quota in all processes together, each kind in each window", async () => {
      const { here, there, time, faults } = await open();
      const quota = { hour: { requests: 10, seconds: 5 }, day: { rows: 100 } };
      const { key } = await here.keys.add("bot", { role: "query", quota });
      await expect.poll(() => there.keys.nameOf(key)).toBe("bot");
      const spend = async (cost: { requests?: number; rows?: number; seconds?: number }): Promise<void> => {
        for (const { quotas } of [here, there]) {
          await quotas.admit("key:bot");
          quotas.settle("key:bot", { requests: 0, rows: 0, seconds: 0, ...cost });
        }
        await Promise.all([here.quotas.use("bot"), there.quotas.use("bot")]);
      };
      await spend({ requests: 5, rows: 7, seconds: 0.25 });
      for (const { quotas } of [here, there]) {
        expect(await quotas.use("bot")).toEqual({
          hour: { requests: 10, rows: 14, seconds: 0.5 },
          day: { requests: 10, rows: 14, seconds: 0.5 },
        });
        await expect(quotas.admit("key:bot")).rejects.toMatchObject({
          code: "QUOTA_SPENT",
          message: "The client bot has used 10 of its 10 requests to endpoints of this hour.",
          details: { retryAfterMs: hour },
        });
      }
      time.nowMs += hour - 1;
      await expect(there.quotas.admit("key:bot")).rejects.toMatchObject({ details: { retryAfterMs: 1 } });
      time.nowMs += 1;
      await spend({ rows: 43, seconds: 2 });
      await expect(here.quotas.admit("key:bot")).rejects.toMatchObject({
        message: expect.stringContaining("100 of its 100 rows"),
      });
      time.nowMs = dayStartMs + 24 * hour;
      await spend({ seconds: 2.5 });
      await expect(there.quotas.admit("key:bot")).rejects.toMatchObject({
        message: expect.stringContaining("5 of its 5 seconds"),
      });
      expect(faults).toEqual([]);
    });

    it("lose no count when many calls end at once", async () => {
      const { here, there } = await open();
      await here.keys.add("bot", { role: "query" });
      for (let call = 0; call < 200; call += 1) {
        (call % 2 === 0 ? here : there).quotas.settle("key:bot", { requests: 3, rows: 1, seconds: 0.001 });
      }
      await Promise.all([here.quotas.close(), there.quotas.close()]);
      expect((await here.quotas.use("bot")).day).toEqual({ requests: 600, rows: 200, seconds: 0.2 });
    });

    it("without a quota, addresses and names of a proxy wait for nothing", async () => {
      const { here } = await open();
      await here.keys.add("ada", { role: "query" });
      for (const owner of ["key:ada", "key:nobody", "user:ada", "192.0.2.1", "admin"]) {
        expect(here.quotas.admit(owner)).toBeUndefined();
      }
    });
  });
}
