import { cp, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Job } from "../../src/jobs/job-queue.ts";
import { createRedisStore } from "../../src/store/redis/redis-store.ts";
import { exampleFolder } from "../support/shard-workspace.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { newFolder } from "../support/scratch-folder.ts";

const token = "replicas-test-token";
const authorization = `Bearer ${token}`;
/** A replica looks for new shards every 15 s. */

let dataDir: string;
let redis: RedisServer;
let webs: readonly RunningService[];
let worker: RunningService;

beforeAll(async () => {
  dataDir = newFolder();
  await mkdir(join(dataDir, "shards-input"));
  await cp(exampleFolder, join(dataDir, "shards-input"), { recursive: true });
  redis = await startRedis();
  const start = (role: string): Promise<RunningService> =>
    startService(
      {},
      {
        ROLE: role,
        REDIS_URL: redis.url,
        FEDWAY_DATA_DIR: dataDir,
        FEDWAY_ADMIN_TOKEN: token,
        FEDWAY_PUBLIC_URL: "http://fedway.example",
      },
    );
  webs = [await start("web"), await start("web")];
  worker = await start("worker");
});
afterAll(async () => {
  await Promise.all([...webs, worker].map((service) => service.close()));
  await redis.stop();
});

const get = async <Value>({ url }: RunningService, path: string, headers?: Record<string, string>): Promise<Value> =>
  (await (await fetch(`${url}${path}`, headers && { headers })).json()) as Value;

interface Shard {
  readonly id: string;
  readonly triples: number;
  readonly bytes: number;
}

async function build(web: RunningService, body: object): Promise<void> {
  const headers = { authorization, "content-type": "application/json" };
  const response = await fetch(`${web.url}/api/shards`, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status).toBe(202);
  const { id } = (await response.json()) as Job;
  // Whatever replica is asked.
  for (const each of webs) {
    await expect.poll(async () => (await get<Job>(each, `/api/jobs/${id}`)).state).toBe("done");
  }
}

/** How often a document of the catalogue was changed, in the whole deployment. */
async function changes(): Promise<number> {
  const store = await createRedisStore({ url: redis.url, prefix: "fedway:" });
  try {
    return await store.increment("catalog/revision", 0);
  } finally {
    await store.close();
  }
}

const count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }";

describe("two web replicas and a worker over one Redis and one data folder", () => {
  let shards: readonly Shard[];

  it("host what the worker built, at both replicas", async () => {
    await build(webs[0]!, { file: "spec.json" });
    for (const web of webs) {
      const hosted = async (): Promise<unknown> => (await get<{ shards: object[] }>(web, "/api/shards")).shards;
      await expect.poll(hosted).toMatchObject([{ dataset: "harbour", triples: 416 }]);
    }
    ({ shards } = await get<{ shards: Shard[] }>(webs[0]!, "/api/shards/harbour"));
    expect(shards.length).toBeGreaterThan(1);
    expect((await get<{ shards: Shard[] }>(webs[1]!, "/api/shards/harbour")).shards).toEqual(shards);
    expect(await readdir(join(dataDir, "shards"))).toEqual(["harbour"]);
  });

  it("have each shard in the catalogue once, written by one of them", async () => {
    for (const web of webs) {
      const ids = async (): Promise<readonly string[]> => {
        const { endpoints } = await get<{ endpoints: { id: string }[] }>(web, "/api/endpoints?limit=100");
        return endpoints.map(({ id }) => id).toSorted();
      };
      await expect.poll(ids).toEqual(shards.map(({ id }) => `harbour-${id}`).toSorted());
      const { federations } = await get<{ federations: { id: string }[] }>(web, "/api/federations");
      expect(federations.map(({ id }) => id)).toEqual(["catalog", "harbour"]);
    }
    // A shard each, and the federation.
    expect(await changes()).toBe(shards.length + 1);
  });

  it("answer at both, shard by shard and over the federation", async () => {
    for (const web of webs) {
      for (const { id, triples } of shards) {
        const answer = await web.query(count, { path: `/shards/harbour/${id}/sparql` });
        expect(await answer.json()).toMatchObject({ results: { bindings: [{ n: { value: String(triples) } }] } });
      }
      const answer = await web.query(count, { path: "/federations/harbour/sparql" });
      expect(await answer.json()).toMatchObject({ results: { bindings: [{ n: { value: "416" } }] } });
    }
  });

  it("tell the same of their data, with the citation", async () => {
    for (const web of webs) {
      const path = `/api/endpoints/harbour-${shards[0]?.id}/void`;
      const turtle = async (): Promise<string> =>
        (await fetch(`${web.url}${path}`, { headers: { accept: "text/turtle" } })).text();
      await expect.poll(turtle).toContain("Invented for Fedway; no such ferries sail.");
    }
  });

  it("verify them on the worker", async () => {
    const response = await fetch(`${webs[1]?.url}/api/shards/harbour/verify`, {
      method: "POST",
      headers: { authorization },
    });
    expect(response.status).toBe(202);
    const { id } = (await response.json()) as Job;
    await expect.poll(async () => (await get<Job>(webs[0]!, `/api/jobs/${id}`)).state).toBe("done");
    expect(await get<Job>(webs[0]!, `/api/jobs/${id}`)).not.toHaveProperty("result");
    const job = await get<Job>(webs[0]!, `/api/jobs/${id}`, { authorization });
    expect(job).toMatchObject({ result: { outcome: "held" } });
  });

  it("follow when the shards are built anew, and take out of the catalogue what is no more", async () => {
    const buckets = { inputs: ["harbour.nt"], queries: "queries.json", buckets: 3 };
    const licence = "https://creativecommons.org/publicdomain/zero/1.0/";
    await build(webs[1]!, { dataset: "harbour", title: "Ferries", licence, ...buckets });
    let after: readonly Shard[] = [];
    for (const web of webs) {
      const title = async (): Promise<unknown> => (await get<{ title: string }>(web, "/api/shards/harbour")).title;
      await expect.poll(title).toBe("Ferries");
      ({ shards: after } = await get<{ shards: Shard[] }>(web, "/api/shards/harbour"));
      expect(after.map(({ id }) => id)).not.toEqual(shards.map(({ id }) => id));
      const ids = async (): Promise<readonly string[]> => {
        const { endpoints } = await get<{ endpoints: { id: string }[] }>(web, "/api/endpoints?limit=100");
        return endpoints.map(({ id }) => id).toSorted();
      };
      await expect.poll(ids).toEqual(after.map(({ id }) => `harbour-${id}`).toSorted());
      const answer = await web.query(count, { path: "/federations/harbour/sparql" });
      expect(await answer.json()).toMatchObject({ results: { bindings: [{ n: { value: "416" } }] } });
    }
  });
});
