import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { steadyClock } from "../../../src/clock.ts";
import { createSharingClient } from "../../../src/engine/evaluators/sharing-client.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import type { EndpointTarget, SparqlAnswer, SparqlRequest } from "../../../src/outbound/sparql-request.ts";
import { bytesOf } from "../../../src/results/gathered-body.ts";
import { listening } from "../../support/listening.ts";
import { until } from "../../support/eventually.ts";
import { type Fault, startSparqlTestServer, type SparqlTestServer } from "../../support/sparql-test-server.ts";

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
    client: outbound,
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
  const maintenance: Fault = { kind: "body", body: "<h1>Back soon</h1>", headers: { "content-type": "text/html" } };
  const faults: readonly (readonly [string, Fault])[] = [
    ["500", { kind: "status", status: 500 }],
    ["403", { kind: "status", status: 403 }],
    ["404", { kind: "status", status: 404 }],
    ["a page about maintenance", maintenance],
    ["a reset", { kind: "reset" }],
  ];
  for (const [name, fault] of faults) {
    it(`is replaced when it fails: ${name}`, async () => {
      const endpoint = mirrored();
      primary.setFault(fault);
      const answer = await client().query(request(endpoint));
      expect([answer.mirror, answer.requests, await rowsOf(answer)]).toEqual(["other", 2, 1]);
    });
  }
  it("is replaced when it breaks off behind the head of its answer", async () => {
    const bare = await listening(
      createServer((_, response) => {
        response.writeHead(200, { "content-type": "application/sparql-results+json" }).flushHeaders();
        setTimeout(() => response.destroy(), 30);
      }),
    );
    const endpoint = { ...mirrored(), url: `${bare.origin}/sparql` };
    const answer = await client().query(request(endpoint));
    expect([answer.mirror, answer.requests, await rowsOf(answer)]).toEqual(["other", 2, 1]);
    await bare.close();
  });
  it("is asked alone while it is slow", async () => {
    const endpoint = mirrored();
    primary.setDelay(1_500);
    const answer = await client().query(request(endpoint));
    expect([answer.mirror, answer.requests, await rowsOf(answer)]).toEqual([undefined, 1, 1]);
    expect(mirror.requests).toHaveLength(0);
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
  const inPart: Fault = {
    kind: "status",
    status: 206,
    headers: { "content-type": "application/sparql-results+json" },
    body: '{"head":{"vars":["o"]},"results":{"bindings":[{"o":{"type":"literal","value":"1"}}]}}',
  };
  const shouldPrefer = (name: string, [own, other]: readonly [Fault | undefined, Fault | undefined], from: string) =>
    it(`that may give a part of the answer ${name}`, async () => {
      const endpoint = mirrored();
      primary.setFault(own);
      mirror.setFault(other);
      const answer = await client().query(request(endpoint, { acceptPartial: true }));
      const { partial } = await answer.end;
      expect([answer.mirror ?? "own", partial?.how, await rowsOf(answer)]).toEqual([
        from,
        own && other ? "status-206" : undefined,
        1,
      ]);
    });
  shouldPrefer("gives the whole one", [undefined, inPart], "own");
  shouldPrefer("is replaced by a mirror that has the whole one", [inPart, undefined], "other");
  shouldPrefer("gives it when its mirror has no more", [inPart, inPart], "own");
  shouldPrefer("gives it when its mirror fails", [inPart, { kind: "status", status: 500 }], "own");
  shouldPrefer("is replaced by that of a mirror when it fails", [{ kind: "status", status: 500 }, inPart], "other");

  it("that may give a part of the answer does not wait for its mirror for long", async () => {
    const endpoint = mirrored();
    primary.setFault(inPart);
    mirror.setFault({ kind: "hang" });
    const late = { acceptPartial: true, deadlineMs: steadyClock.now() + 1_000 };
    const answer = await client().query(request(endpoint, late));
    expect([answer.mirror, answer.partial?.how, await rowsOf(answer)]).toEqual([undefined, "status-206", 1]);
    await until(async () => mirror.requests[0]?.aborted === true || undefined);
  });
  it("is cancelled with its mirror", async () => {
    const endpoint = mirrored();
    primary.setFault({ kind: "status", status: 500 });
    mirror.setFault({ kind: "hang" });
    const reader = new AbortController();
    const asked = client().query(request(endpoint, { signal: reader.signal }));
    asked.catch(() => {});
    await until(async () => mirror.requests.length === 1 || undefined);
    reader.abort(new Error("left"));
    await expect(asked).rejects.toBeDefined();
    await until(async () => mirror.requests[0]?.aborted === true || undefined);
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
