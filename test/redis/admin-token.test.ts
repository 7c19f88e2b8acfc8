import { afterAll, beforeAll, expect, it } from "vitest";
import { offerToken, openAdminToken } from "../../src/store/admin-token.ts";
import { openState, type State } from "../../src/app/open-state.ts";
import { loadConfig } from "../../src/config/config.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

it("processes over one Redis that start at once agree on one admin token, also once Redis was emptied", async () => {
  const config = loadConfig({ REDIS_URL: redis.url });
  const states: readonly State[] = await Promise.all(Array.from({ length: 6 }, () => openState(config)));
  const tokens = await Promise.all(states.map((state) => openAdminToken(config, state)));
  expect(tokens[0]).toEqual({ value: expect.stringMatching(/^[\w-]{43}$/), from: "store" });
  expect(new Set(tokens.map(({ value }) => value)).size).toBe(1);
  await redis.restart({ empty: true });
  // As each process does when it finds the state gone.
  const [first] = tokens;
  await expect
    .poll(() => Promise.all(states.map(({ store }) => offerToken(store, first?.value ?? ""))).catch(() => []))
    .toEqual(states.map(() => first?.value));
  const late = await openState(config);
  expect(await openAdminToken(config, late)).toEqual(first);
  await Promise.all([...states, late].map((state) => state.close()));
});
