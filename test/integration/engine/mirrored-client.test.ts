import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { steadyClock } from "../../../src/clock.ts";
import { createMirroredClient } from "../../../src/engine/evaluators/mirrored-client.ts";
import { createSharingClient } from "../../../src/engine/evaluators/sharing-client.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import type { EndpointTarget, SparqlAnswer, SparqlRequest } from "../../../src/outbound/sparql-client.ts";
import { bytesOf } from "../../../src/results/gathered-body.ts";
import { until } from "../../support/eventually.ts";
import { startSparqlTestServer, type SparqlTestServer } from "../../support/sparql-test-server.ts";

// Endpoints that fail or are slow, and others with the same data, over real sockets.

const data = '<x:s> <x:p> "1" .';
const outbound = createSparqlClient({
  version: "0",
  allowAddresses: ["127.0.0.0/8"],
  clock: steadyClock,
  retry: { limit: 0 },
});
const servers: SparqlTestServer[] = [];
let primary: SparqlTestServer;
let mirror: SparqlTestServer;
beforeAll(async () => {
  [primary, mirror] = [await startSparqlTestServer(data), await startSparqlTestServer(data)];
  servers.push(primary, mirror);
});
afterAll(async () => {
  await outbound.close();
  await Promise.all(servers.map((server) => server.close()));
});

let tests = 0;
/** Paths of their own: what is learned of an endpoint stays. */
function mirrored(): EndpointTarget {
  tests++;
  for (const server of servers) {
    server.setFault(undefined);
    server.setDelay(0);
    server.clearRequests();
  }
  return { id: "own", url: `${primary.url}?${tests}`, mirror: { id: "other", url: `${mirror.url}?${tests}` } };
}

const request = (endpoint: EndpointTarget, changes: Partial<SparqlRequest> = {}): SparqlRequest => ({
  endpoint,
  query: "SELECT ?o { ?s ?p ?o }",
  kind: "bindings",
  accept: "application/sparql-results+json",
  encoding: "decode",
  signal: new AbortController().signal,
  deadlineMs: steadyClock.now() + 60_000,
  ...changes,
});

const client = (keepMs = 0) =>
  createSharingClient({
    client: createMirroredClient({ client: outbound, now: steadyClock.now }),
    now: steadyClock.now,
    keepMs,
  });

async function rowsOf({ body }: SparqlAnswer): Promise<number> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytesOf(body)) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString()).results.bindings.length;
}

describe("an endpoint with a mirror", () => {
  it("is asked alone while it answers", async () => {
    const endpoint = mirrored();
    const answer = await client().query(request(endpoint));
    expect([answer.mirror, answer.requests, await rowsOf(answer)]).toEqual([undefined, 1, 1]);
    expect(mirror.requests).toHaveLength(0);
  });
  for (const fault of [{ kind: "status", status: 500 } as const, { kind: "reset" } as const]) {
    it(`is replaced when it fails: ${fault.kind}`, async () => {
      const endpoint = mirrored();
      primary.setFault(fault);
      const answer = await client().query(request(endpoint));
      expect([answer.mirror, answer.requests, await rowsOf(answer)]).toEqual(["other", 2, 1]);
    });
  }
  it("is helped when it is slow, and its request is cancelled", async () => {
    const endpoint = mirrored();
    primary.setFault({ kind: "hang" });
    const answer = await client().query(request(endpoint));
    expect([answer.mirror, await rowsOf(answer)]).toEqual(["other", 1]);
    await until(async () => primary.requests[0]?.aborted === true || undefined);
  });
  it("gives its own answer when it is faster after all", async () => {
    const endpoint = mirrored();
    primary.setDelay(1_500);
    mirror.setFault({ kind: "hang" });
    const answer = await client().query(request(endpoint));
    expect([answer.mirror, await rowsOf(answer)]).toEqual([undefined, 1]);
    await until(async () => mirror.requests[0]?.aborted === true || undefined);
  });
  it("is not replaced for what is the query's fault, and its own failure counts when both fail", async () => {
    const endpoint = mirrored();
    primary.setFault({ kind: "status", status: 400 });
    await expect(client().query(request(endpoint))).rejects.toMatchObject({ code: "ENDPOINT_REJECTED_QUERY" });
    expect(mirror.requests).toHaveLength(0);
    primary.setFault({ kind: "status", status: 500 });
    mirror.setFault({ kind: "status", status: 400 });
    await expect(client().query(request(endpoint))).rejects.toMatchObject({
      code: "ENDPOINT_FAILED",
      details: { where: { endpoint: "own" } },
    });
  });
  it("is cancelled with its mirror", async () => {
    const endpoint = mirrored();
    for (const server of servers) server.setFault({ kind: "hang" });
    const reader = new AbortController();
    const asked = client().query(request(endpoint, { signal: reader.signal }));
    asked.catch(() => {});
    await until(async () => mirror.requests.length === 1 || undefined);
    reader.abort(new Error("left"));
    await expect(asked).rejects.toBeDefined();
    for (const server of servers) await until(async () => server.requests[0]?.aborted === true || undefined);
  });
  it("is replaced without keeping what the mirror does not want kept, or for another mirror", async () => {
    const endpoint = mirrored();
    const shared = client(60_000);
    const ask = async (changes: Partial<EndpointTarget>) => {
      const answer = await shared.query(request({ ...endpoint, ...changes }));
      return [answer.mirror, answer.saved, await rowsOf(answer)];
    };
    primary.setFault({ kind: "status", status: 500 });
    const never = { mirror: { ...endpoint.mirror, neverKept: true } } as Partial<EndpointTarget>;
    await ask(never);
    expect(await ask(never)).toEqual(["other", undefined, 1]);
    expect(await ask({})).toEqual(["other", undefined, 1]);
    expect(await ask({})).toEqual(["other", "cached", 1]);
    const another = { mirror: { id: "another", url: `${mirror.url}?another` } } as Partial<EndpointTarget>;
    expect(await ask(another)).toEqual(["another", undefined, 1]);
  });
});
