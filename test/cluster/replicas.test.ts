import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BuiltService } from "../support/built-program.ts";
import { type Cluster, startCluster, withToken } from "../support/cluster.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";

const everyMs = 2_000;
const data = '<urn:x:s> <urn:x:p> "o" .';
const ids = ["alpha", "beta", "gamma", "delta", "epsilon"];

let servers: SparqlTestServer[];
let cluster: Cluster;

beforeAll(async () => {
  servers = await Promise.all(ids.map(() => startSparqlTestServer(data)));
  cluster = await startCluster({
    endpoints: Object.fromEntries(ids.map((id, index) => [id, servers[index]?.url ?? ""])),
    webs: 2,
    workers: 2,
    env: { FEDWAY_PROBE_EVERY_MS: String(everyMs), FEDWAY_PROBE_JITTER: "10" },
  });
});
afterAll(async () => {
  await cluster?.close();
  await Promise.all((servers ?? []).map((server) => server.close()));
});

const json = async (url: string, init?: RequestInit): Promise<{ status: number; body: Record<string, unknown> }> => {
  const response = await fetch(url, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const ask = (web: BuiltService | undefined, endpoint: string): Promise<Response> =>
  fetch(`${web?.url}/endpoints/${endpoint}/sparql`, {
    method: "POST",
    body: new URLSearchParams({ query: "SELECT ?o WHERE { ?s ?p ?o }" }),
  });

describe("two web replicas and two workers on one Redis", () => {
  it("answer from any replica", async () => {
    for (const web of cluster.webs) {
      const response = await ask(web, "alpha");
      expect(response.status).toBe(200);
      expect(await response.text()).toContain("o");
    }
  });

  it("have workers that answer nothing but health and metrics", async () => {
    const [worker] = cluster.workers;
    expect((await fetch(`${worker?.url}/metrics`)).status).toBe(200);
    expect((await fetch(`${worker?.url}/health/live`)).status).toBe(200);
    expect((await ask(worker, "alpha")).status).toBe(404);
  });

  it("show a change that one took at the other", async () => {
    const [first, second] = cluster.webs;
    const body = JSON.stringify({ id: "zeta", title: "Zeta", url: servers[0]?.url.replace("/sparql", "/zeta") });
    const headers = { "Content-Type": "application/json" };
    const { status } = await json(`${first?.url}/api/endpoints`, withToken({ method: "POST", body, headers }));
    expect(status).toBe(201);
    const seen = async (): Promise<number> => (await fetch(`${second?.url}/api/endpoints/zeta`)).status;
    const createdMs = Date.now();
    await expect.poll(seen).toBe(200);
    process.stdout.write(`seen by the other replica after ${Date.now() - createdMs} ms\n`);
    expect((await fetch(`${first?.url}/api/endpoints/zeta`, withToken({ method: "DELETE" }))).status).toBe(204);
  });

  it("run a job that one replica took on a worker, and both replicas tell its result", async () => {
    const [first, second] = cluster.webs;
    const { status, body } = await json(
      `${first?.url}/api/endpoints/alpha/capabilities`,
      withToken({ method: "POST" }),
    );
    expect(status).toBe(202);
    const result = async (): Promise<unknown> =>
      (await json(`${second?.url}/api/jobs/${String(body["id"])}`)).body["state"];
    await expect.poll(result).toBe("done");
    const known = async (web: BuiltService | undefined): Promise<number> =>
      (await fetch(`${web?.url}/api/endpoints/alpha/capabilities`)).status;
    expect(await known(first)).toBe(200);
    expect(await known(second)).toBe(200);
  });

  it("probe each turn once", async () => {
    const [web] = cluster.webs;
    const canaries = (server: SparqlTestServer): number =>
      server.requests.filter(({ query }) => query?.includes("1 2 3") ?? false).length;
    const recorded = async (id: string): Promise<number> => {
      const { body } = await json(`${web?.url}/api/endpoints/${id}/availability`);
      return (
        (body["windows"] as { window: string; probes: number }[]).find(({ window }) => window === "24h")?.probes ?? 0
      );
    };
    // The endpoint with a capability job is left out: its prober asks the canary too.
    const [, ...others] = ids.map((id, index) => ({ id, server: servers[index] as SparqlTestServer }));
    for (const { server } of others) server.clearRequests();
    const startedMs = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 10 * everyMs));
    const turns = (Date.now() - startedMs) / everyMs;
    const counts = others.map(({ server }) => canaries(server));
    process.stdout.write(`${turns.toFixed(1)} intervals, canaries: ${counts.join(", ")}\n`);
    for (const count of counts) {
      expect(count).toBeGreaterThanOrEqual(Math.floor(turns) - 2);
      // Twice each turn would be twice as many.
      expect(count).toBeLessThanOrEqual(Math.ceil(turns) + 2);
    }
    for (const { id } of others) expect(await recorded(id)).toBeGreaterThan(0);
  });

  it("share the state of circuit breakers", async () => {
    const [first, second] = cluster.webs;
    const server = servers[ids.indexOf("delta")];
    server?.setFault({ kind: "reset" });
    const codeAt = async (web: BuiltService | undefined): Promise<unknown> =>
      ((await (await ask(web, "delta")).json()) as { code?: unknown }).code;
    await expect.poll(() => codeAt(first)).toBe("CIRCUIT_OPEN");
    await expect.poll(() => codeAt(second)).toBe("CIRCUIT_OPEN");
    server?.setFault(undefined);
    const statusAt = async (web: BuiltService | undefined): Promise<number> => (await ask(web, "delta")).status;
    await expect.poll(() => statusAt(first)).toBe(200);
    await expect.poll(() => statusAt(second)).toBe(200);
  });

  it("show an endpoint that went down as down at every replica, and its incident closed afterwards", async () => {
    const server = servers[ids.indexOf("epsilon")];
    server?.setFault({ kind: "status", status: 503 });
    const stateAt = async (web: BuiltService | undefined): Promise<unknown> =>
      (await json(`${web?.url}/api/endpoints/epsilon/availability`)).body["state"];
    for (const web of cluster.webs) await expect.poll(() => stateAt(web)).toBe("down");
    server?.setFault(undefined);
    for (const web of cluster.webs) await expect.poll(() => stateAt(web)).toBe("up");
    const { body } = await json(`${cluster.webs[0]?.url}/api/endpoints/epsilon/incidents`);
    expect(body["incidents"]).toMatchObject([{ endpoint: "epsilon", state: "closed", fault: "http-5xx" }]);
  });
});
