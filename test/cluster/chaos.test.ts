import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BuiltService } from "../support/built-program.ts";
import { type Cluster, startCluster, withToken } from "../support/cluster.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";

let server: SparqlTestServer;
let cluster: Cluster;

beforeAll(async () => {
  server = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
  cluster = await startCluster({
    endpoints: { alpha: server.url },
    webs: 2,
    workers: 1,
    env: { FEDWAY_PROBE_EVERY_MS: "2000" },
  });
});
afterAll(async () => {
  await cluster?.close();
  await server?.close();
});

const headers = { "Content-Type": "application/json" };

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function call(web: BuiltService | undefined, path: string, init?: RequestInit): Promise<Reply> {
  const response = await fetch(`${web?.url}${path}`, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const add = (web: BuiltService | undefined, id: string): Promise<Reply> => {
  const body = JSON.stringify({ id, title: id, url: `${server.url}/${id}` });
  return call(web, "/api/endpoints", withToken({ method: "POST", body, headers }));
};

const statusOf = async (web: BuiltService | undefined, id: string): Promise<number> =>
  (await call(web, `/api/endpoints/${id}`)).status;

const answers = async (web: BuiltService | undefined): Promise<number> =>
  (
    await fetch(`${web?.url}/endpoints/alpha/sparql`, {
      method: "POST",
      body: new URLSearchParams({ query: "SELECT ?o WHERE { ?s ?p ?o }" }),
    })
  ).status;

async function probesAt(web: BuiltService | undefined): Promise<number> {
  const { body } = await call(web, "/api/endpoints/alpha/availability");
  return (body["windows"] as { window: string; probes: number }[]).find(({ window }) => window === "24h")?.probes ?? 0;
}

describe("when a web process is killed", () => {
  it("what it acknowledged is there at the other one, and at the one that takes its place", async () => {
    const [victim, other] = cluster.webs;
    const ids = Array.from({ length: 10 }, (_, index) => `kept-${index}`);
    for (const id of ids) expect((await add(victim, id)).status).toBe(201);
    if (victim) await cluster.kill(victim);
    expect(await answers(other)).toBe(200);
    for (const id of ids) await expect.poll(() => statusOf(other, id)).toBe(200);
    const fresh = await cluster.start("web");
    for (const id of ids) expect(await statusOf(fresh, id)).toBe(200);
  });
});

describe("when Redis is killed", () => {
  it("queries go on, changes fail with a clear error, and acknowledged work survives", async () => {
    const [web] = cluster.webs;
    expect((await add(web, "before")).status).toBe(201);
    const job = await call(web, "/api/endpoints/alpha/capabilities", withToken({ method: "POST" }));
    expect(job.status).toBe(202);
    await cluster.redis.kill();
    expect(await answers(web)).toBe(200);
    const refused = await add(web, "meanwhile");
    expect(refused).toMatchObject({ status: 503, body: { code: "STORE_FAILED" } });
    expect(typeof refused.body["next"]).toBe("string");
    expect((await call(web, "/api/jobs")).status).toBe(503);
    await cluster.redis.restart();
    await expect.poll(async () => (await call(web, "/api/jobs")).status).toBe(200);
    for (const each of cluster.webs) await expect.poll(() => statusOf(each, "before")).toBe(200);
    await expect.poll(async () => (await add(web, "after")).status).toBe(201);
    const state = async (): Promise<unknown> => (await call(web, `/api/jobs/${String(job.body["id"])}`)).body["state"];
    await expect.poll(state).toBe("done");
    const probes = await probesAt(web);
    await expect.poll(() => probesAt(web)).toBeGreaterThan(probes);
  });
});

describe("when Redis comes back empty", () => {
  it("the catalogue is that of the files, the loss is told, and work goes on", async () => {
    const [web] = cluster.webs;
    expect((await add(web, "told-over-the-api")).status).toBe(201);
    await cluster.redis.restart({ empty: true });
    for (const each of cluster.webs) {
      await expect.poll(() => statusOf(each, "told-over-the-api")).toBe(404);
      await expect.poll(() => statusOf(each, "alpha")).toBe(200);
      expect(await answers(each)).toBe(200);
      const readiness = async (): Promise<string> => JSON.stringify((await call(each, "/health/ready")).body);
      await expect.poll(readiness).toContain("was lost at");
      await expect.poll(() => each.log()).toContain("state was lost");
    }
    // Nothing is left of the former record, and a new one begins.
    await expect.poll(() => probesAt(web)).toBeGreaterThan(1);
    const job = await call(web, "/api/endpoints/alpha/capabilities", withToken({ method: "POST" }));
    const state = async (): Promise<unknown> => (await call(web, `/api/jobs/${String(job.body["id"])}`)).body["state"];
    await expect.poll(state).toBe("done");
    expect((await add(web, "again")).status).toBe(201);
  });
});
