import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll } from "vitest";
import { createRedisStore } from "../../src/store/redis/redis-store.ts";
import { describeCollections } from "../contract/store/collection-contract.ts";
import { describeStore, type StoreHarness } from "../contract/store/store-contract.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

const create = async (): Promise<StoreHarness> => {
  const store = await createRedisStore({ url: server.url, prefix: "fedway-test:" });
  return {
    store,
    advance: async (ms) => {
      await sleep(ms);
    },
    dispose: () => store.close(),
  };
};

describeStore("redis", create);
describeCollections("redis", create);
