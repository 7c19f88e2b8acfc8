import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { steadyClock } from "../../../src/clock.ts";
import { createSharingClient } from "../../../src/engine/evaluators/sharing-client.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import type { SparqlRequest } from "../../../src/outbound/sparql-request.ts";
import { until } from "../../support/eventually.ts";
import { startSparqlTestServer, type SparqlTestServer } from "../../support/sparql-test-server.ts";

// What requests of federated queries teach the circuit breaker of a member, over real sockets.

const slowMs = 60;
let server: SparqlTestServer;
let outbound: ReturnType<typeof createSparqlClient>;
let client: ReturnType<typeof createSharingClient>;
beforeAll(async () => {
  server = await startSparqlTestServer('<x:s> <x:p> "1" .');
});
afterAll(() => server.close());
function open(breaker: { readonly slowMs: number }): void {
  outbound = createSparqlClient({
    version: "0",
    allowAddresses: ["127.0.0.0/8"],
    clock: steadyClock,
    retry: { limit: 0 },
    breaker: { faults: 2, coolDownMs: 300, ...breaker },
  });
  client = createSharingClient({ client: outbound, now: steadyClock.now });
}
beforeEach(() => {
  server.setFault(undefined);
  server.setDelay(0);
  server.clearRequests();
  open({ slowMs });
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
const timeUp = (): FedwayError => new FedwayError("DEADLINE_EXCEEDED", "The member's share of the time is over.");

describe("a member that hangs", () => {
  /** Two queries, whose readers leave after so long for this reason. */
  async function leaveTwice(reason: FedwayError, afterMs: number): Promise<void> {
    server.setFault({ kind: "hang" });
    for (let query = 1; query <= 2; query++) {
      const reader = new AbortController();
      const asked = client.query(request({ signal: reader.signal }));
      asked.catch(() => {});
      await until(async () => server.requests.length === query || undefined);
      setTimeout(() => reader.abort(reason), afterMs);
      await expect(asked).rejects.toMatchObject({ code: reason.code });
      await until(async () => server.requests.at(-1)?.aborted || undefined);
    }
  }

  it("opens its breaker when it lets the time of several queries pass", async () => {
    await leaveTwice(timeUp(), 2 * slowMs);
    expect(isOpen()).toBe(true);
    await expect(client.query(request())).rejects.toMatchObject({ code: "CIRCUIT_OPEN" });
  });
  it("does so, too, when the deadlines of the requests themselves pass", async () => {
    server.setFault({ kind: "hang" });
    for (let query = 0; query < 2; query++) {
      const late = client.query(request({ deadlineMs: steadyClock.now() + 2 * slowMs }));
      await expect(late).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    }
    expect(isOpen()).toBe(true);
  });
  it.each([
    ["clients leave", new FedwayError("CANCELLED", "The client has left."), 2 * slowMs],
    ["another member fails", new FedwayError("ENDPOINT_FAILED", "The other one is broken."), 2 * slowMs],
  ])("is not left alone because %s", async (_when, reason, afterMs) => {
    await leaveTwice(reason, afterMs);
    expect(isOpen()).toBe(false);
  });
  it("is not left alone because little time passes", async () => {
    await outbound.close();
    open({ slowMs: 600_000 });
    await leaveTwice(timeUp(), 0);
    expect(isOpen()).toBe(false);
  });
});

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
