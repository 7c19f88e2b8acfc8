import { afterAll, beforeAll, expect, it } from "vitest";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { until } from "../support/eventually.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";

// Runs of one process are listed and cancelled at another one, over what they share.

let redis: RedisServer;
let server: SparqlTestServer;
let services: readonly RunningService[] = [];
beforeAll(async () => {
  redis = await startRedis();
  server = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
  const env = { REDIS_URL: redis.url, ROLE: "web", FEDWAY_TRUST_PROXY: "1", FEDWAY_MAX_CONCURRENT: "2" };
  services = await Promise.all([1, 2].map(() => startService({ slow: server.url }, env)));
});
afterAll(async () => {
  server?.setDelay(0);
  await Promise.all(services.map((service) => service.close()));
  await server?.close();
  await redis?.stop();
});

interface Run {
  readonly id: string;
  readonly call?: string;
}

const ask = (index: number, path: string, method = "GET"): Promise<Response> =>
  fetch(`${services[index]?.url}${path}`, { method, headers: { "X-Forwarded-For": "192.0.2.1" } });

const runningAt = async (index: number): Promise<readonly Run[]> =>
  ((await (await ask(index, "/api/runs?status=running")).json()) as { readonly runs: readonly Run[] }).runs;

const path = `/endpoints/slow/sparql?query=${encodeURIComponent("SELECT * { ?s ?p ?o }")}`;

it("a run and a waiting query of one process are listed and cancelled at the other one", async () => {
  server.setDelay(600_000);
  const answers = [ask(0, path), ask(0, `${path}%232`)];
  await until(async () => (await runningAt(1)).length === 2);
  const seen = await runningAt(1);
  expect(seen.filter(({ call }) => call === "waiting")).toHaveLength(1);
  // The one that waits first: the other one's end would let it in.
  for (const { id } of seen.toSorted((a, b) => (b.call ?? "").localeCompare(a.call ?? ""))) {
    const cancelled = await ask(1, `/api/runs/${id}`, "DELETE");
    expect([202, 204]).toContain(cancelled.status);
  }
  for (const answer of answers) expect(await (await answer).json()).toMatchObject({ code: "CANCELLED" });
  await until(() => server.requests.every(({ aborted }) => aborted));
  await until(async () => (await runningAt(0)).length + (await runningAt(1)).length === 0);
  const { id } = seen.find(({ call }) => call === undefined) ?? { id: "" };
  expect((await ask(1, `/api/runs/${id}`, "DELETE")).status).toBe(409);
});

it("a reader at another process waits for the end of a run when asked to, and sees it running otherwise", async () => {
  server.setDelay(1_500);
  const answer = ask(0, `${path}%233`);
  await until(async () => (await runningAt(1)).length === 1);
  const [run] = await runningAt(1);
  const statusAt = async (index: number, wait: number): Promise<unknown> =>
    ((await (await ask(index, `/api/runs/${run?.id}?wait=${wait}`)).json()) as { readonly status: string }).status;
  expect(await Promise.all([statusAt(0, 0), statusAt(1, 0), statusAt(1, 1)])).toEqual([
    "running",
    "running",
    "running",
  ]);
  expect(await Promise.all([statusAt(0, 10_000), statusAt(1, 10_000)])).toEqual(["ok", "ok"]);
  expect((await answer).status).toBe(200);
  expect((await ask(1, `/api/runs/${run?.id}?wait=10001`)).status).toBe(400);
});
