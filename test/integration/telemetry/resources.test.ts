import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { type RunningService, startService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

// What may run out: places, memory, disk.

let endpoint: SparqlTestServer;
let other: SparqlTestServer;
let service: RunningService;

beforeAll(async () => {
  endpoint = await startSparqlTestServer("<urn:x:a> <urn:x:p> <urn:x:b> .");
  other = await startSparqlTestServer("<urn:x:a> <urn:x:q> <urn:x:c> .");
  service = await startService({ alpha: endpoint.url, beta: other.url }, { FEDWAY_MAX_CONCURRENT: "1" });
});
afterAll(async () => {
  await service?.close();
  await endpoint?.close();
  await other?.close();
});

/** The samples of a scrape whose names begin alike, by name and labels. */
async function scraped(prefix: string): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith(prefix));
  return Object.fromEntries(lines.map((line) => [line.replace(/ [^ ]*$/, ""), Number(line.split(" ").at(-1))]));
}

it("shows who is under way, who waits for a place, and for how long they waited", async () => {
  endpoint.setFault({ kind: "hang" });
  const leaving = new AbortController();
  const held = service.query("SELECT * { ?s ?p 1 }", { path: "/endpoints/alpha/sparql", signal: leaving.signal });
  held.catch(() => {});
  await eventually(async () => expect((await scraped("fedway_calls{"))['fedway_calls{state="running"}']).toBe(1));
  const waiting = service.query("SELECT * { ?s ?p 2 }", { path: "/endpoints/alpha/sparql" });
  await eventually(async () =>
    expect(await scraped("fedway_calls")).toMatchObject({
      'fedway_calls{state="running"}': 1,
      'fedway_calls{state="waiting"}': 1,
      fedway_calls_places: 1,
      fedway_calls_wait_seconds_count: 0,
    }),
  );
  endpoint.setFault(undefined);
  leaving.abort();
  expect((await waiting).status).toBe(200);
  expect((await scraped("fedway_calls_wait_seconds_count"))["fedway_calls_wait_seconds_count"]).toBe(1);
});

it("shows child processes with their memory, what is left of all memory, and the disk", async () => {
  expect(await scraped("fedway_child_processes{")).toEqual({});
  const query = "SELECT * { SERVICE <alpha> { ?s <urn:x:p> ?o } SERVICE <beta> { ?s <urn:x:q> ?o2 } }";
  expect((await service.query(query)).status).toBe(200);
  expect(await scraped("fedway_child_processes{")).toEqual({ 'fedway_child_processes{script="evaluator"}': 1 });
  const { 'fedway_child_resident_bytes{script="evaluator"}': resident = 0 } = await scraped("fedway_child_resident");
  expect(resident).toBeGreaterThan(20e6);
  const { fedway_memory_available_bytes: left = 0, fedway_memory_limit_bytes: limit = 0 } =
    await scraped("fedway_memory");
  expect(limit).toBeGreaterThan(left);
  expect(left).toBeGreaterThan(0);
  const disk = await scraped("fedway_disk_bytes");
  expect(disk['fedway_disk_bytes{state="all"}']).toBeGreaterThan(disk['fedway_disk_bytes{state="free"}'] ?? 0);
});
