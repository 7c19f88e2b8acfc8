import { setImmediate as settled } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createRateLimiter } from "../../../src/http/rate-limiter.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";

function limiterAt(perMinute: number, maxClients?: number) {
  let nowMs = 0;
  const options = { perMinute, now: () => nowMs, ...(maxClients !== undefined && { maxClients }) };
  return {
    limiter: createRateLimiter(options),
    pass: (ms: number): void => {
      nowMs += ms;
    },
  };
}

it("gives as many tokens as a minute has, then says how long to wait", () => {
  const { limiter, pass } = limiterAt(3);
  expect([1, 2, 3, 4].map(() => limiter.take("192.0.2.1"))).toStrictEqual([0, 0, 0, 20_000]);
  pass(19_999);
  expect(limiter.take("192.0.2.1")).toBe(1);
  pass(1);
  expect(limiter.take("192.0.2.1")).toBe(0);
});

it("never saves up more than a minute's tokens", () => {
  const { limiter, pass } = limiterAt(2);
  pass(600_000);
  expect([1, 2, 3].map(() => limiter.take("192.0.2.1") > 0)).toStrictEqual([false, false, true]);
});

it("counts each client for itself", () => {
  const { limiter } = limiterAt(1);
  expect(["192.0.2.1", "192.0.2.2", "192.0.2.1"].map((address) => limiter.take(address) > 0)).toStrictEqual([
    false,
    false,
    true,
  ]);
});

const shouldBeOne = (left: string, right: string, same: boolean): void =>
  it(`${left} and ${right} are ${same ? "one client" : "two"}`, () => {
    const { limiter } = limiterAt(1);
    limiter.take(left);
    expect(limiter.take(right) > 0).toBe(same);
  });

shouldBeOne("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true);
shouldBeOne("2001:db8::1", "2001:db8:0:0:5::", true);
shouldBeOne("2001:db8:0:1::1", "2001:db8:0:2::1", false);
shouldBeOne("::ffff:192.0.2.1", "192.0.2.1", true);
shouldBeOne("fe80::1%eth0", "fe80::2%eth1", true);

it("forgets the clients longest unseen", () => {
  const { limiter } = limiterAt(1, 100);
  limiter.take("seen often");
  for (let client = 0; client < 1000; client++) {
    limiter.take(`client ${client}`);
    limiter.take("seen often");
  }
  expect(limiter.size).toBe(100);
  expect(limiter.take("seen often")).toBeGreaterThan(0);
  expect(limiter.take("client 0")).toBe(0);
});

describe("limiters of several processes with one store", () => {
  const client = "192.0.2.1";

  function limitersAt(perMinute: number, count: number, store: Pick<Store, "get" | "put">) {
    let nowMs = 1_000_000;
    const now = (): number => nowMs;
    const limiters = Array.from({ length: count }, () => createRateLimiter({ perMinute, now, store }));
    return {
      limiters,
      /** Requests that come in over a time, to one after the other; how many of them get through. */
      come: async (requests: number, overMs: number, to = limiters): Promise<number> => {
        let through = 0;
        for (let index = 0; index < requests; index += 1) {
          nowMs += overMs / requests;
          if (to[index % to.length]?.take(client) === 0) through += 1;
          // What the store is told of this one is known before the next comes.
          await settled();
        }
        return through;
      },
    };
  }

  const memoryStore = (): Store => {
    let asked = 0;
    return openSqliteStore({ path: ":memory:", clock: { now: () => Math.floor(asked++ / 1_000) } });
  };

  it("give what one gives, and a twentieth and one request each beyond it, whichever they come to", async () => {
    for (const count of [2, 3]) {
      const { come } = limitersAt(100, count, memoryStore());
      expect(await come(600, 1)).toBeLessThanOrEqual(100 + 6 * count);
    }
    const { come, limiters } = limitersAt(100, 2, memoryStore());
    const one = await come(300, 1, limiters.slice(0, 1));
    const other = await come(300, 1, limiters.slice(1));
    expect(one).toBe(100);
    expect(other).toBeLessThanOrEqual(6);
  });

  it("give no more over a long time: what was too much is waited for", async () => {
    const { come } = limitersAt(60, 3, memoryStore());
    // A minute's worth at once, then one a second.
    expect(await come(6_000, 600_000)).toBeLessThanOrEqual(60 + 600 + 3 * 4);
  });

  it("give no less to who keeps to it", async () => {
    const { come } = limitersAt(60, 3, memoryStore());
    expect(await come(600, 600_000)).toBe(600);
    for (let minute = 0; minute < 5; minute += 1) {
      expect(await come(50, 1_000)).toBe(50);
      expect(await come(1, 59_000)).toBe(1);
    }
  });

  it("say when to come again", async () => {
    const { come, limiters } = limitersAt(60, 2, memoryStore());
    await come(200, 0);
    const [first, second] = limiters.map((limiter) => limiter.take(client));
    for (const wait of [first, second]) {
      expect(wait).toBeGreaterThanOrEqual(500);
      expect(wait).toBeLessThanOrEqual(7_000);
    }
    await come(1, Math.max(first ?? 0, second ?? 0), []);
    expect(limiters.some((limiter) => limiter.take(client) === 0)).toBe(true);
  });

  it("limit each for itself while the store is away, and ask it now and then", async () => {
    let asked = 0;
    const fail = (): Promise<never> => {
      asked += 1;
      return Promise.reject(new FedwayError("STORE_FAILED", "It is away."));
    };
    const { come } = limitersAt(100, 2, { get: fail, put: fail });
    expect(await come(600, 1)).toBe(200);
    expect(asked).toBe(2);
    const refilled = await come(400, 60_000);
    expect(refilled).toBeGreaterThan(195);
    expect(refilled).toBeLessThan(205);
    expect(asked).toBeLessThan(130);
  });

  it("write no address into the store", async () => {
    const store = memoryStore();
    const { come } = limitersAt(10, 2, store);
    await come(20, 1);
    expect(JSON.stringify(await store.list(""))).not.toContain(client);
  });
});
