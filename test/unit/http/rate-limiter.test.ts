import { expect, it } from "vitest";
import { createRateLimiter, type RateLimiter } from "../../../src/http/rate-limiter.ts";

function limiterAt(perMinute: number, maxClients?: number): { limiter: RateLimiter; pass: (ms: number) => void } {
  let nowMs = 0;
  const options = { perMinute, now: () => nowMs, ...(maxClients !== undefined && { maxClients }) };
  return {
    limiter: createRateLimiter(options),
    pass: (ms) => {
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
