import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { steadyClock } from "../../../src/clock.ts";
import { createSharingClient } from "../../../src/engine/evaluators/sharing-client.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import type { SparqlRequest } from "../../../src/outbound/sparql-client.ts";
import { until } from "../../support/eventually.ts";
import { startSparqlTestServer, type SparqlTestServer } from "../../support/sparql-test-server.ts";

// What requests of federated queries teach the circuit breaker of a member, over real sockets.

let server: SparqlTestServer;
let outbound: ReturnType<typeof createSparqlClient>;
let client: ReturnType<typeof createSharingClient>;
beforeAll(async () => {
  server = await startSparqlTestServer('<x:s> <x:p> "1" .');
});
afterAll(() => server.close());
beforeEach(() => {
  server.setFault(undefined);
  server.setDelay(0);
  server.clearRequests();
  outbound = createSparqlClient({
    version: "0",
    allowAddresses: ["127.0.0.0/8"],
    clock: steadyClock,
    retry: { limit: 0 },
    breaker: { faults: 2, coolDownMs: 300 },
  });
  client = createSharingClient({ client: outbound, now: steadyClock.now });
});
afterEach(() => outbound.close());

let texts = 0;
const request = (changes: Partial<SparqlRequest> = {}): SparqlRequest => ({
  endpoint: { id: "member", url: server.url },
  query: `SELECT ?o { ?s ?p ?o } # ${texts++}`,
  kind: "bindings",
  accept: "application/sparql-results+json",
  encoding: "decode",
  signal: new AbortController().signal,
  deadlineMs: steadyClock.now() + 20_000,
  partOf: {},
  ...changes,
});

const isOpen = (): boolean => outbound.breakers.refusal(server.url) !== undefined;

it("a member that has recovered answers all requests of the query that is the trial", async () => {
  server.setFault({ kind: "status", status: 500 });
  for (let query = 0; query < 2; query++) {
    await expect(client.query(request())).rejects.toMatchObject({ code: "ENDPOINT_FAILED" });
  }
  server.setFault(undefined);
  server.setDelay(50);
  await until(async () => !isOpen() || undefined);
  const [partOf, other] = [{}, {}];
  const results = await Promise.allSettled(
    [partOf, partOf, other].map((run) => client.query(request({ partOf: run }))),
  );
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  await expect(client.query(request({ partOf: other }))).resolves.toMatchObject({ status: 200 });
});
