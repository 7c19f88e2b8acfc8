import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll } from "vitest";
import { createBullmqJobQueue } from "../../src/jobs/bullmq/bullmq-job-queue.ts";
import type { JobQueueHarness } from "../contract/jobs/job-queue-fixture.ts";
import { describeJobQueue } from "../contract/jobs/job-queue-contract.ts";
import { describeSharedJobQueue } from "../contract/jobs/shared-job-queue-contract.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

let deployments = 0;

async function open(): Promise<JobQueueHarness> {
  deployments += 1;
  const prefix = `deployment-${deployments}:`;
  return {
    queue: () => createBullmqJobQueue({ url: server.url, prefix, backoffMs: () => 50, lookMs: 200 }),
    advance: async (ms) => {
      await sleep(ms);
    },
    dispose: async () => {},
  };
}

describeJobQueue("bullmq", open);
describeSharedJobQueue("bullmq", open);
