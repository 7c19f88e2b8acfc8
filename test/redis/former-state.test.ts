import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { redisPrefix } from "../../src/app/open-state.ts";
import { createRedisStore } from "../../src/store/redis/redis-store.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { answersOf, formerState, hourPoints, shouldKeepUptime } from "../support/former-state.ts";
import { freePort } from "../support/listening.ts";
import { createMonitoredFolder } from "../support/monitored-service.ts";
import { newFolder } from "../support/scratch-folder.ts";

const restoreScript = fileURLToPath(new URL("../../deploy/restore-redis.sh", import.meta.url));

/** What a deployment of version 0.1.0 left in Redis; its jobs are BullMQ's there. */
async function writeRedis({ url }: RedisServer): Promise<void> {
  const store = await createRedisStore({ url, prefix: redisPrefix });
  for (const { key, value } of formerState.rows.documents) {
    if (!key.startsWith("jobs/")) await store.put(key, value);
  }
  await store.close();
  const redis = new Redis(url);
  const pipeline = redis.pipeline();
  for (const [at, { atMs, value }] of hourPoints.entries()) {
    pipeline.zadd(`${redisPrefix}s:monitor/hour/alpha`, atMs, `${at}`.padStart(16, "0") + value);
  }
  await pipeline.exec();
  redis.disconnect();
}

it("a deployment of an earlier version loses nothing, nor does its restored backup", { timeout: 90_000 }, async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  await writeRedis(redis);
  const folder = await createMonitoredFolder(formerState.files);
  const env = { FEDWAY_PROBE_EVERY_MS: "3600000" };
  const service = await folder.start({ ...env, REDIS_URL: redis.url });
  await shouldKeepUptime(service);
  const before = await answersOf(service);
  expect(before.titles).toContain("alpha: Alpha, changed");
  expect(before.incidents).toMatchObject([{ state: "open", fault: "connect" }]);
  await service.close();

  const options = { maxBuffer: 2 ** 28 };
  const backup = spawnSync("/bin/sh", ["-c", `redis-cli -p ${redis.port} --rdb -`], options).stdout;
  const dir = newFolder();
  const script = [restoreScript, `${await freePort()}`];
  const { status } = spawnSync("/bin/sh", script, { cwd: dir, input: backup, timeout: 30_000 });
  expect(status).toBe(0);
  const clean = await startRedis({ dir });
  onTestFinished(() => clean.stop());
  const restored = await folder.start({ ...env, REDIS_URL: clean.url });
  onTestFinished(() => restored.close());
  expect(await answersOf(restored)).toEqual(before);
});
