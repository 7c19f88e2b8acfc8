import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Job } from "../../src/jobs/job-queue.ts";
import { exampleFolder } from "../support/shard-workspace.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { newFolder } from "../support/scratch-folder.ts";

// That one shared folder works is seen in shard-replicas.test.ts.

const token = "folders-test-token";
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const problem = "This worker has another data folder than the process that was asked to work on the shards.";

let redis: RedisServer;
let folders: readonly [string, string];
let web: RunningService;
let worker: RunningService;

const inputFolder = async (): Promise<string> => {
  const folder = newFolder();
  await mkdir(join(folder, "shards-input"));
  await cp(exampleFolder, join(folder, "shards-input"), { recursive: true });
  return folder;
};
const start = (role: string, dataDir: string): Promise<RunningService> =>
  startService({}, { ROLE: role, REDIS_URL: redis.url, FEDWAY_DATA_DIR: dataDir, FEDWAY_ADMIN_TOKEN: token });

beforeAll(async () => {
  redis = await startRedis();
  folders = [await inputFolder(), await inputFolder()];
  web = await start("web", folders[0]);
});
afterAll(async () => {
  await Promise.all([web, worker].map((service) => service.close()));
  await redis.stop();
});

const build = (dataset: string): Promise<Response> => {
  const described = {
    dataset,
    inputs: ["harbour.nt"],
    queries: "queries.json",
    licence: "https://example.org/licence",
  };
  return fetch(`${web.url}/api/shards`, { method: "POST", headers, body: JSON.stringify(described) });
};
const jobOf = async (id: string): Promise<Job> =>
  (await (await fetch(`${web.url}/api/jobs/${id}`, { headers })).json()) as Job;

describe("processes over one Redis whose data folders differ", () => {
  it("end a build that waited for the worker with an error that says so", async () => {
    expect((await build("early")).status).toBe(202);
    worker = await start("worker", folders[1]);
    const state = async (): Promise<string> => (await jobOf("build-shards.early")).state;
    await expect.poll(state).toBe("failed");
    expect(await jobOf("build-shards.early")).toMatchObject({
      attempts: 1,
      error: { code: "CONFIG_INVALID", message: problem },
    });
  });

  it("build when they have one folder, the input there for all", async () => {
    await worker.close();
    worker = await start("worker", folders[0]);
    expect((await build("shared")).status).toBe(202);
    const state = async (): Promise<string> => (await jobOf("build-shards.shared")).state;
    await expect.poll(state).toBe("done");
    const hosted = async (): Promise<unknown> =>
      ((await (await fetch(`${web.url}/api/shards`)).json()) as { shards: object[] }).shards;
    await expect.poll(hosted).toMatchObject([{ dataset: "shared" }]);
  });
});
