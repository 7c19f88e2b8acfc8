import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";
import { type Listening, listening } from "../support/listening.ts";

const perMinute = 60;

let redis: RedisServer;
let server: SparqlTestServer;
/** An endpoint that answers with all but the end. */
let slow: Listening;
const halfAnswered: ServerResponse[] = [];
let services: readonly RunningService[];
beforeAll(async () => {
  redis = await startRedis();
  server = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
  const answering = createServer((request, response) => {
    response.writeHead(200, { "content-type": "application/sparql-results+json" });
    response.write('{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","value":"urn:x:s"}}');
    request.resume();
    halfAnswered.push(response);
  });
  slow = await listening(answering);
  const env = {
    REDIS_URL: redis.url,
    ROLE: "web",
    FEDWAY_TRUST_PROXY: "1",
    FEDWAY_RATE_LIMIT: String(perMinute),
  };
  services = await Promise.all(
    [1, 2].map(() => startService({ alpha: server.url, slow: `${slow.origin}/sparql` }, env)),
  );
});
afterAll(async () => {
  await Promise.all((services ?? []).map((service) => service.close()));
  await slow.close();
  await server.close();
  await redis.stop();
});

const of = (index: number): RunningService => services[index] as RunningService;

/** As a client with an address of its own. */
const ask = (service: RunningService, path: string, client: string): Promise<Response> =>
  fetch(`${service.url}${path}`, { headers: { "X-Forwarded-For": client } });

const query = (service: RunningService, client: string, endpoint = "alpha"): Promise<Response> =>
  ask(service, `/endpoints/${endpoint}/sparql?query=${encodeURIComponent("SELECT ?s { ?s ?p ?o }")}`, client);

const statusAt = async (service: RunningService, run: string, client: string): Promise<unknown> => {
  const response = await ask(service, `/api/runs/${run}`, client);
  return response.ok ? ((await response.json()) as { readonly status: unknown }).status : response.status;
};

describe("two replicas on one Redis", () => {
  it("tell of each other's runs while they run and when they are over", async () => {
    const client = "192.0.2.1";
    const answer = await query(of(0), client);
    await answer.text();
    const run = answer.headers.get("Fedway-Run") ?? "";
    await expect.poll(() => statusAt(of(1), run, client)).toBe("ok");
    expect(await statusAt(of(0), run, client)).toBe("ok");
    const unknown = `${run.slice(0, -4)}${run.endsWith("beef") ? "dead" : "beef"}`;
    expect(await statusAt(of(1), unknown, client)).toBe(404);
    const streamed = await query(of(0), client, "slow");
    const running = streamed.headers.get("Fedway-Run") ?? "";
    await expect.poll(() => statusAt(of(1), running, client)).toBe("running");
    for (const response of halfAnswered) response.end("]}}");
    await streamed.text();
    await expect.poll(() => statusAt(of(1), running, client)).toBe("ok");
  });

  it("hold the limit of a client together, and say when to come again", async () => {
    const client = "192.0.2.2";
    for (let index = 0; index < perMinute; index += 1) {
      expect((await ask(of(0), "/api/runs/none", client)).status).toBe(404);
    }
    let through = 0;
    let refused = await ask(of(1), "/api/runs/none", client);
    while (refused.status !== 429 && through < perMinute) {
      through += 1;
      // Time for what the other one gave to be told.
      await sleep(20);
      refused = await ask(of(1), "/api/runs/none", client);
    }
    process.stdout.write(`${perMinute} requests at one replica, ${through} more at the other\n`);
    expect(through).toBeLessThan(perMinute / 2);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
  });

  it("limit each for itself while Redis is away; other processes' runs are then not said to be unknown", async () => {
    const client = "192.0.2.3";
    const answer = await query(of(0), client);
    await answer.text();
    await redis.kill();
    const elsewhere = await ask(of(1), `/api/runs/${answer.headers.get("Fedway-Run") ?? ""}`, client);
    expect(elsewhere.status).toBe(503);
    expect(await elsewhere.json()).toMatchObject({ code: "STORE_FAILED", retryable: true });
    for (const service of services) {
      let through = 0;
      let refused = 0;
      for (let index = 0; index < 2 * perMinute; index += 1) {
        const { status } = await ask(service, "/health/ready", "192.0.2.4");
        expect(status).toBe(200);
        if ((await ask(service, "/api/runs/none", "192.0.2.4")).status === 429) refused += 1;
        else through += 1;
      }
      expect(through).toBeGreaterThanOrEqual(perMinute);
      expect(refused).toBeGreaterThan(0);
    }
    await redis.restart();
    await expect.poll(() => statusAt(of(1), answer.headers.get("Fedway-Run") ?? "", "192.0.2.5")).not.toBe(503);
  });
});
