import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningService, startService } from "../support/running-service.ts";

// What strangers may ask of the example endpoints, all at once, does not end the service, nor keep others out of it.

const ids = ["museums", "people", "places", "library", "weather"];
/** Of each query; on a busy machine a small one may take a second of it. */
const runMs = 5_000;
const totalMb = 384;

let service: RunningService;
beforeAll(async () => {
  service = await startService(
    {},
    {
      FEDWAY_EXAMPLES: "on",
      FEDWAY_TRUST_PROXY: "127.0.0.0/8",
      FEDWAY_HOSTED_TIMEOUT_MS: String(runMs),
      FEDWAY_HOSTED_MEMORY_MB: "64",
      FEDWAY_HOSTED_TOTAL_MB: String(totalMb),
    },
  );
});
afterAll(() => service.close());

const never = new AbortController().signal;

async function ask(path: string, query: string, client: string, signal = never): Promise<number> {
  const headers = {
    accept: "application/sparql-results+json",
    "content-type": "application/sparql-query",
    "x-forwarded-for": client,
  };
  const response = await fetch(`${service.url}${path}`, { method: "POST", headers, body: query, signal });
  await response.arrayBuffer().catch(() => undefined);
  return response.status;
}

const cross = (count: number): string =>
  Array.from({ length: count }, (_, index) => `?s${index} ?p${index} ?o${index}`).join(" . ");
const quick = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }";
const endless = `SELECT (COUNT(*) AS ?n) { ${cross(3)} FILTER(?o0 < ?o1 && ?o1 < ?o2) }`;
const greedy = `SELECT ("${"x".repeat(50_000)}" AS ?x) { ${cross(1)} }`;

describe("slow queries of one client", () => {
  it.each(["/hosted/people/sparql", "/endpoints/people/sparql"])("keep nobody else waiting at %s", async (path) => {
    await ask(path, quick, "10.0.0.1");
    const statuses: number[] = [];
    const leaving = new AbortController();
    const slow = Array.from({ length: 6 }, async () => {
      statuses.push(await ask(path, endless, "10.0.0.1", leaving.signal));
    });
    // By the time that one has ended all of them are there.
    await Promise.race(slow);
    expect(await ask(path, quick, "10.0.0.2")).toBe(200);
    expect(statuses.length).toBeLessThanOrEqual(2);
    expect(new Set(statuses)).toEqual(new Set([504]));
    leaving.abort();
    await Promise.allSettled(slow);
  });

  it("do not close an endpoint for the others", async () => {
    const path = "/endpoints/people/sparql";
    for (let times = 0; times < 6; times += 1) expect(await ask(path, greedy, "10.0.0.1")).toBeGreaterThan(499);
    expect(await ask(path, quick, "10.0.0.2")).toBe(200);
  });
});

describe("the memory of all hosted endpoints", () => {
  const hostile = [
    `SELECT (GROUP_CONCAT(CONCAT(STR(?o0), STR(?o1))) AS ?x) { ${cross(2)} }`,
    `SELECT DISTINCT * { ${cross(2)} }`,
  ];

  it("stays below its bound, whatever they are asked", async () => {
    for (const id of ids) await ask(`/hosted/${id}/sparql`, quick, "10.0.0.1");
    const before = process.memoryUsage.rss();
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 10);
    const asked = ids.flatMap((id, at) =>
      [greedy, hostile[at % hostile.length] ?? ""].map((query, n) => ask(`/hosted/${id}/sparql`, query, `10.0.1.${n}`)),
    );
    const statuses = await Promise.all(asked);
    clearInterval(timer);
    const grownMb = Math.round((most - before) / 1_048_576);
    console.log(`resident memory: ${Math.round(before / 1_048_576)} MB, at most ${grownMb} MB more`);
    expect(statuses.filter((status) => status >= 500).length).toBeGreaterThan(6);
    // What the rest of this process allocates meanwhile included.
    expect(grownMb).toBeLessThan(totalMb + 64);
    for (const id of ids) expect(await ask(`/hosted/${id}/sparql`, quick, "10.0.0.2")).toBe(200);
  });

  it("is not kept by readers that never read", async () => {
    const rows = encodeURIComponent(`SELECT ?o0 ?o1 ?s1 { ${cross(2)} } LIMIT 100000`);
    const left = new Set<Socket>();
    for (let reader = 0; reader < 24; reader += 1) {
      const socket = connect(Number(new URL(service.url).port), "127.0.0.1").on("error", () => {});
      left.add(socket);
      socket.once("close", () => left.delete(socket)).pause();
      const target = `/hosted/${ids[reader % ids.length]}/sparql?query=${rows}`;
      socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 10.0.2.${reader % 3}\r\n\r\n`);
    }
    // Paused sockets learn of a reset when they write.
    const cut = async (): Promise<number> => {
      for (const socket of left) socket.write("\r\n");
      return 24 - left.size;
    };
    await expect.poll(cut).toBeGreaterThan(0);
    expect(await ask("/hosted/people/sparql", quick, "10.0.0.2")).toBe(200);
    for (const socket of left) socket.destroy();
  });
});
