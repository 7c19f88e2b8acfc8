import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { BuiltService } from "../support/built-program.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";

let quick: SparqlTestServer;
let slow: SparqlTestServer;
let cluster: Cluster;

beforeAll(async () => {
  [quick, slow] = await Promise.all([startSparqlTestServer("<urn:a> <urn:b> <urn:c> ."), startSparqlTestServer("")]);
  slow.setDelay(2_000);
  cluster = await startCluster({
    endpoints: { quick: quick.url, slow: slow.url },
    webs: 2,
    workers: 0,
    env: { FEDWAY_DRAIN_MS: "1500", FEDWAY_MONITOR: "off" },
  });
});
afterAll(async () => {
  await cluster?.close();
  await Promise.all([quick?.close(), slow?.close()]);
});

/** As a Kubernetes Service does: requests go in turn to those that said lately that they are ready. */
class Balancer {
  readonly #services: BuiltService[];
  #ready: readonly BuiltService[] = [];
  #turn = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(services: BuiltService[]) {
    this.#services = services;
    this.#timer = setInterval(() => void this.look(), 200);
  }

  async look(): Promise<void> {
    const states = await Promise.all(
      [...this.#services].map(async (service) => {
        const ok = await fetch(`${service.url}/health/ready`).then(
          (response) => response.ok,
          () => false,
        );
        return ok ? [service] : [];
      }),
    );
    this.#ready = states.flat();
  }

  next(): string {
    this.#turn++;
    const service = this.#ready[this.#turn % this.#ready.length];
    if (service === undefined) throw new Error("nobody is ready");
    return service.url;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

async function request(base: string, endpoint: string): Promise<string> {
  const response = await fetch(`${base}/endpoints/${endpoint}/sparql`, {
    method: "POST",
    headers: { Accept: "text/csv" },
    body: new URLSearchParams({ query: "SELECT * WHERE { ?s ?p ?o }" }),
  });
  const text = await response.text();
  return response.status === 200 ? "ok" : `${response.status} ${text.slice(0, 200)}`;
}

it("a rolling restart under load loses no request", async () => {
  const live = [...cluster.webs];
  const old = [...cluster.webs];
  const balancer = new Balancer(live);
  await balancer.look();
  const outcomes: Promise<string>[] = [];
  const phase = { restarting: true };
  const load = (async () => {
    for (let count = 0; phase.restarting; count++) {
      const endpoint = count % 10 === 0 ? "slow" : "quick";
      outcomes.push(request(balancer.next(), endpoint).catch((error: unknown) => `lost: ${String(error)}`));
      await sleep(20);
    }
  })();
  for (const service of old) {
    live.push(await cluster.start("web"));
    await sleep(500);
    expect(await cluster.stop(service)).toBe(0);
    live.splice(live.indexOf(service), 1);
  }
  await sleep(500);
  phase.restarting = false;
  await load;
  const results = await Promise.all(outcomes);
  balancer.stop();
  const failed = results.filter((result) => result !== "ok");
  process.stdout.write(`${results.length} requests over two restarts, ${failed.length} lost\n`);
  expect(results.length).toBeGreaterThan(150);
  expect(failed).toStrictEqual([]);
});
