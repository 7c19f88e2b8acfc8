import { afterAll, beforeAll } from "vitest";
import { createBullmqJobQueue } from "../../src/jobs/bullmq/bullmq-job-queue.ts";
import { createRedisStore } from "../../src/store/redis/redis-store.ts";
import { describeWatches } from "../contract/watch/watches-contract.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

let deployments = 0;

describeWatches("Redis and BullMQ, in two processes", async () => {
  deployments += 1;
  const prefix = `deployment-${deployments}:`;
  const { url } = server;
  const processes = await Promise.all(
    [1, 2].map(async () => ({
      store: await createRedisStore({ url, prefix }),
      jobs: createBullmqJobQueue({ url, prefix, lookMs: 200 }),
    })),
  );
  return {
    processes,
    async dispose() {
      for (const { jobs, store } of processes) {
        await jobs.close();
        await store.close();
      }
    },
  };
});
