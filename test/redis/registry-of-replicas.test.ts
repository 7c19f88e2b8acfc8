import { afterAll, beforeAll, expect, it } from "vitest";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { eventually } from "../support/eventually.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";

let redis: RedisServer;
let server: SparqlTestServer;
let services: readonly RunningService[] = [];

beforeAll(async () => {
  redis = await startRedis();
  server = await startSparqlTestServer("<urn:x:s> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:x:Thing> .");
  const env = {
    REDIS_URL: redis.url,
    FEDWAY_MONITOR: "on",
    FEDWAY_PROBE_EVERY_MS: "3600000",
    FEDWAY_PUBLIC_URL: "http://known.example",
    FEDWAY_HARVEST_ROWS: "0",
  };
  services = await Promise.all([1, 2].map(() => startService({ alpha: server.url, dead: "http://127.0.0.1:9/" }, env)));
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.close()));
  await server.close();
  await redis.stop();
});

/** All triples, but those of the moment at which they were looked at. */
async function triples({ url }: RunningService): Promise<readonly string[]> {
  const query = `SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } FILTER(!CONTAINS(STR(?g), "/registry") && !ISBLANK(?s) && !ISBLANK(?o)) }`;
  const answer = await fetch(`${url}/registry/sparql?query=${encodeURIComponent(query)}`, {
    headers: { accept: "text/csv", host: "known.example" },
  });
  const text = await answer.text();
  expect([answer.status, answer.status === 200 ? "" : text]).toEqual([200, ""]);
  return text.trim().split(/\r?\n/u).toSorted();
}

it("two processes over one Redis give the same answers, whoever described and probed", async () => {
  const [one, other] = services;
  if (one === undefined || other === undefined) throw new Error("two services run");
  await fetch(`${one.url}/api/endpoints/alpha/describe`, { method: "POST" });
  await fetch(`${other.url}/api/endpoints/alpha/capabilities`, { method: "POST" });
  await eventually(async () => {
    const [first, second] = [await triples(one), await triples(other)];
    expect(first).toEqual(second);
    const all = first.join("\n");
    for (const part of ["urn:x:Thing", "#zeroLengthPath", "ns#state,up"]) expect(all).toContain(part);
  });
});
