import { afterAll, beforeAll, expect, it } from "vitest";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { eventually } from "../support/eventually.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";
import { isExistenceQuery } from "../support/existence-query.ts";

const ids = ["alpha", "beta", "gamma", "delta", "epsilon"];
const servers: SparqlTestServer[] = [];
let redis: RedisServer;
let services: readonly RunningService[] = [];

beforeAll(async () => {
  redis = await startRedis();
  for (const id of ids) servers.push(await startSparqlTestServer(`<http://${id}.example/1> <urn:of-${id}> "1" .`));
  const urls = Object.fromEntries(ids.map((id, at) => [id, servers[at]?.url ?? ""]));
  const env = { REDIS_URL: redis.url, FEDWAY_FACTS: "on", FEDWAY_MONITOR: "on", FEDWAY_HARVEST_ROWS: "0" };
  services = await Promise.all([1, 2].map(() => startService(urls, env)));
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.close()));
  await Promise.all(servers.map((server) => server.close()));
  await redis.stop();
});

/** Queries of a description, of those that an endpoint was asked: others ask without its data, or whether there are matches. */
const describing = ({ requests }: SparqlTestServer): readonly string[] =>
  requests.flatMap(({ query = "" }) =>
    /void#sparqlEndpoint|\?s \?p \?o/u.test(query) && !isExistenceQuery(query) ? [query] : [],
  );

/** Descriptions that are waiting or running. */
async function openJobs({ url }: RunningService): Promise<number> {
  const answer = await fetch(`${url}/api/jobs`);
  const { jobs } = (await answer.json()) as { jobs: readonly { readonly kind: string; readonly state: string }[] };
  return jobs.filter(({ kind, state }) => kind.startsWith("describe-") && /waiting|running/u.test(state)).length;
}

it("two processes with facts on describe each endpoint once, and both know it", async () => {
  // Both find out at once that each of them has no description.
  const used = services.flatMap(({ query }) =>
    ids.map((id) => query("SELECT * { <urn:x> ?p ?o }", { path: `/endpoints/${id}/sparql` })),
  );
  for (const response of await Promise.all(used)) expect(response.status).toBe(200);
  for (const { query } of services) {
    await eventually(async () => {
      const response = await query("SELECT * { ?s <urn:of-delta> ?o }", { path: "/federations/catalog/sparql" });
      expect(response.headers.get("Fedway-Facts")).toMatch(/facts of 5 of 5 members$/u);
      expect(await response.text()).toContain("http://delta.example/1");
    });
  }
  await eventually(async () => expect(await Promise.all(services.map(openJobs))).toEqual([0, 0]));
  for (const server of servers) {
    const queries = describing(server);
    // The first question of a description: how many triples there are.
    expect(queries.filter((query) => query.startsWith("SELECT (COUNT(*) AS ?n)"))).not.toEqual([]);
    expect(queries).toEqual([...new Set(queries)]);
  }
});
