import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createSparqlClient } from "../../../src/transport/client.ts";
import type { ExchangeReport, SparqlClientOptions } from "../../../src/transport/options.ts";
import type { LocalQuery, SparqlClient, SparqlRequest } from "../../../src/transport/sparql-client.ts";
import { resultsOf } from "../../support/hostile-bodies.ts";
import { bodyOf, failureOf, read, requestTo, shouldFail } from "../../support/hostile-client.ts";
import { type HostileServer, startHostileServer } from "../../support/hostile-server.ts";

let server: HostileServer;
let clients: SparqlClient[] = [];

beforeEach(async () => {
  server = await startHostileServer();
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
  await server.close();
});

function clientWith(options: Partial<SparqlClientOptions> = {}): SparqlClient {
  const client = createSparqlClient({ version: "1", allowAddresses: ["127.0.0.0/8"], ...options });
  clients.push(client);
  return client;
}
const send = (caseName: string, more: Partial<SparqlRequest> = {}): SparqlRequest =>
  requestTo(server.url(caseName), more);

describe("cancellation leaves no connection open", () => {
  it.each(["hang", "slow-first-byte", "hang-in-body", "hang-in-small-body", "hang-in-error", "drip", "endless"])(
    "during %s",
    async (caseName) => {
      const reports: ExchangeReport[] = [];
      const client = clientWith({ observer: { onExchange: (report) => reports.push(report) } });
      const controller = new AbortController();
      const failing = failureOf(client, send(caseName, { signal: controller.signal }));
      await delay(100);
      expect(server.openSockets()).toBe(1);
      controller.abort();
      expect((await failing).code).toBe("CANCELLED");
      await server.allSocketsClosed();
      expect(reports).toMatchObject([{ outcome: "cancelled", requests: 1 }]);
    },
  );
  it("before anything is sent", async () => {
    await shouldFail(clientWith(), send("ok", { signal: AbortSignal.abort() }), ["CANCELLED"]);
    expect(server.requests()).toHaveLength(0);
  });
  it("while the host name is being resolved", async () => {
    const client = clientWith({ resolveHost: () => {} });
    const controller = new AbortController();
    const failing = failureOf(client, requestTo("http://endpoint.example/sparql", { signal: controller.signal }));
    await delay(20);
    controller.abort();
    expect((await failing).code).toBe("CANCELLED");
  });
  it("while the connection is being made: the attempt ends at once", async () => {
    const dialled: string[] = [];
    const client = clientWith({
      resolveHost: (hostname, done) => {
        dialled.push(hostname);
        // Answered only after the cancellation: a connection made now would be one too many.
        setTimeout(() => done(null, [{ address: "127.0.0.1", family: 4 }]), 100);
      },
    });
    const controller = new AbortController();
    const url = server.url("ok").replace("127.0.0.1", "endpoint.example");
    const failing = failureOf(client, requestTo(url, { signal: controller.signal }));
    await delay(30);
    controller.abort();
    expect((await failing).code).toBe("CANCELLED");
    await delay(150);
    expect(dialled).toEqual(["endpoint.example"]);
    expect(server.openSockets()).toBe(0);
    expect(server.requests()).toHaveLength(0);
  });
  it("while queued and while backing off", async () => {
    const client = clientWith({ endpointConcurrency: 1, retry: { baseMs: 60_000 } });
    const holder = new AbortController();
    const waiter = new AbortController();
    const running = failureOf(client, send("503", { signal: holder.signal, deadlineMs: Date.now() + 600_000 }));
    await delay(100);
    const queued = failureOf(client, send("503", { signal: waiter.signal }));
    await delay(20);
    waiter.abort();
    expect((await queued).code).toBe("CANCELLED");
    holder.abort();
    expect((await running).code).toBe("CANCELLED");
    expect(server.requests()).toHaveLength(1);
  });
  it("by the reader destroying the body", async () => {
    const client = clientWith();
    const answer = await client.query(send("endless"));
    if (!(answer.body instanceof Readable)) throw new Error("expected a stream");
    answer.body.destroy();
    await expect(answer.end).rejects.toMatchObject({ code: "CANCELLED" });
    await server.allSocketsClosed();
  });
  it("keeps a FedwayError that is the signal's reason", async () => {
    const reason = new FedwayError("ENDPOINT_PARTIAL", "enough rows");
    const controller = new AbortController();
    const failing = failureOf(clientWith(), send("drip", { signal: controller.signal }));
    await delay(50);
    controller.abort(reason);
    expect(await failing).toBe(reason);
  });
  it("by closing the client, which then refuses queries", async () => {
    const client = clientWith();
    const failing = [failureOf(client, send("hang")), failureOf(client, send("drip"))];
    await delay(100);
    await client.close();
    expect((await Promise.all(failing)).map(({ code }) => code)).toEqual(["CANCELLED", "CANCELLED"]);
    await server.allSocketsClosed();
    await shouldFail(client, send("ok"), ["CANCELLED"]);
  });
});

describe("a failing body that nobody listens to yet does not end the process", () => {
  it("stays visible on the stream and on `end`", async () => {
    const answer = await clientWith().query(send("reset-in-chunked"));
    await delay(150);
    await expect(bodyOf(answer.body)).rejects.toMatchObject({ code: "ENDPOINT_BROKE_OFF" });
    await expect(answer.end).rejects.toMatchObject({ code: "ENDPOINT_BROKE_OFF" });
  });
});

describe("a slow reader", () => {
  it("pauses the endpoint instead of filling memory, and no idle timer mistakes that for silence", async () => {
    const client = clientWith({ timeouts: { idleMs: 200 } });
    const answer = await client.query(send("endless", { deadlineMs: Date.now() + 20_000 }));
    if (!(answer.body instanceof Readable)) throw new Error("expected a stream");
    let seen = 0;
    for await (const chunk of answer.body) {
      seen += Buffer.from(chunk as Uint8Array).length;
      expect(answer.body.readableLength).toBeLessThan(512 * 1024);
      if (seen < 2_000_000) continue;
      // Long enough for the endpoint to send hundreds of megabytes, and for the idle timer.
      await delay(1500);
      expect(answer.body.readableLength).toBeLessThan(512 * 1024);
      break;
    }
    expect(seen).toBeGreaterThanOrEqual(2_000_000);
    await server.allSocketsClosed();
  });
  it("gets an encoded body whole, byte for byte", async () => {
    const answer = await clientWith().query(send("gzip-large"));
    if (!(answer.body instanceof Readable)) throw new Error("expected a stream");
    let text = "";
    let pieces = 0;
    for await (const chunk of answer.body) {
      text += Buffer.from(chunk as Uint8Array).toString("latin1");
      pieces += 1;
      if (pieces % 40 === 0) await delay(2);
    }
    expect(pieces).toBeGreaterThan(10);
    expect(text === resultsOf(200_000)).toBe(true);
  });
});

describe("slots", () => {
  it("bound the requests under way and the queue, first come first served", async () => {
    const client = clientWith({ endpointConcurrency: 2, endpointQueue: 2 });
    const controller = new AbortController();
    const hanging = [1, 2].map(() => failureOf(client, send("hang", { signal: controller.signal })));
    await delay(50);
    const queued = [1, 2].map(() => failureOf(client, send("hang", { deadlineMs: Date.now() + 400 })));
    await shouldFail(client, send("hang"), ["ENDPOINT_BUSY", "busy"]);
    expect(server.requests()).toHaveLength(2);
    expect((await read(client, send("ok"))).end.rows).toBe(3);
    controller.abort();
    await Promise.all(hanging);
    await delay(50);
    expect(server.requests("hang")).toHaveLength(4);
    expect((await Promise.all(queued)).map(({ code }) => code)).toEqual(["DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"]);
  });
  it("are given back by every way a request can end", async () => {
    const client = clientWith({
      endpointConcurrency: 1,
      endpointQueue: 0,
      retry: { limit: 0 },
      breaker: { faults: 1000 },
    });
    const cases = [
      "ok",
      "ok-large",
      "reset",
      "500",
      "html",
      "truncated-json",
      "truncated-json-large",
      "bad-gzip-large",
    ];
    for (const caseName of cases) {
      for (let round = 0; round < 3; round += 1) {
        const outcome = await read(client, send(caseName)).then(
          () => "ok",
          (error: unknown) => (error instanceof FedwayError ? error.code : "?"),
        );
        expect(outcome).not.toBe("ENDPOINT_BUSY");
      }
    }
    expect(server.requests()).toHaveLength(cases.length * 3);
  });
});

describe("circuit breaker", () => {
  it("opens after consecutive faults, tries once, closes again", async () => {
    const states: string[] = [];
    const client = clientWith({
      retry: { limit: 0 },
      breaker: { faults: 2, coolDownMs: 100, maxCoolDownMs: 1000 },
      observer: { onBreaker: (endpoint, state) => states.push(`${endpoint} ${state}`) },
    });
    const once = (): Promise<FedwayError> => failureOf(client, send("reset-then-ok"));
    await shouldFail(client, send("400"), ["ENDPOINT_REJECTED_QUERY"]);
    expect((await once()).code).toBe("ENDPOINT_UNREACHABLE");
    expect((await read(client, send("reset-then-ok"))).end.rows).toBe(3);
    for (let round = 0; round < 2; round += 1) await shouldFail(client, send("500"), ["ENDPOINT_FAILED"]);
    const open = await shouldFail(client, send("500"), ["CIRCUIT_OPEN", "circuit-open"]);
    expect(open.details.retryAfterMs).toBeGreaterThan(0);
    expect(open.details.retryAfterMs).toBeLessThanOrEqual(100);
    expect(server.requests("500")).toHaveLength(2);
    await delay(120);
    const [trial, refused] = await Promise.all([failureOf(client, send("500")), failureOf(client, send("500"))]);
    expect([trial.code, refused.code]).toEqual(["ENDPOINT_FAILED", "CIRCUIT_OPEN"]);
    expect((await failureOf(client, send("500"))).details.retryAfterMs).toBeGreaterThan(100);
    expect(server.requests("500")).toHaveLength(3);
    expect(states).toEqual(["hostile open", "hostile half-open", "hostile open"]);
  });
});

describe("names are vetted when they are dialled", () => {
  const resolving = (addresses: readonly string[]): Partial<SparqlClientOptions> => ({
    allowAddresses: ["127.0.0.1"],
    retry: { limit: 0 },
    resolveHost: (_hostname, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      ),
  });
  it.each([
    [["10.1.2.3"]],
    [["93.184.216.34", "10.1.2.3"]],
    [["127.0.0.1", "::1"]],
    [["fd00::1"]],
    [["::ffff:127.0.0.1"]],
    [["64:ff9b::7f00:1"]],
  ])("refused: %j", async (addresses) => {
    const url = server.url("ok").replace("127.0.0.1", "endpoint.example");
    const error = await shouldFail(clientWith(resolving(addresses)), requestTo(url), ["ADDRESS_REFUSED", "address"]);
    for (const address of addresses) expect(JSON.stringify([error.message, error.details.next])).not.toContain(address);
    expect(server.openSockets()).toBe(0);
  });
  it("dials exactly what was vetted: a name that is rebound after the first connection is refused", async () => {
    let lookups = 0;
    const client = clientWith({
      allowAddresses: ["127.0.0.1"],
      resolveHost: (_hostname, done) => {
        lookups += 1;
        done(null, [{ address: lookups === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }]);
      },
    });
    const named = (caseName: string): SparqlRequest =>
      requestTo(server.url(caseName).replace("127.0.0.1", "endpoint.example"));
    expect((await read(client, named("ok-close-delimited"))).end.rows).toBe(3);
    expect(lookups).toBe(1);
    await shouldFail(client, named("ok"), ["ADDRESS_REFUSED"]);
    expect(lookups).toBe(2);
    expect(server.requests("ok")).toHaveLength(0);
  });
  it("a literal is refused without a connection", async () => {
    const client = clientWith({ allowAddresses: [] });
    await shouldFail(client, send("ok"), ["ADDRESS_REFUSED"]);
    await shouldFail(client, requestTo(server.url("ok").replace("127.0.0.1", "2130706433")), ["ADDRESS_REFUSED"]);
    await shouldFail(client, requestTo("http://user:secret@endpoint.example/sparql"), ["ADDRESS_REFUSED"]);
    expect(server.openSockets()).toBe(0);
  });
  it("an unknown name is a fault of its own", async () => {
    const client = clientWith({
      retry: { limit: 0 },
      resolveHost: (_hostname, done) => done(Object.assign(new Error("no such host"), { code: "ENOTFOUND" }), []),
    });
    await shouldFail(client, requestTo("http://endpoint.example/sparql"), ["ENDPOINT_UNREACHABLE", "dns"]);
  });
  it("a closed port is a connect fault after three attempts", async () => {
    const other = await startHostileServer();
    const url = other.url("ok");
    await other.close();
    const reports: ExchangeReport[] = [];
    const client = clientWith({ retry: { baseMs: 1 }, observer: { onExchange: (report) => reports.push(report) } });
    await shouldFail(client, requestTo(url), ["ENDPOINT_UNREACHABLE", "connect"]);
    expect(reports).toMatchObject([{ outcome: "connect", requests: 3, wireBytes: 0 }]);
  });
});

describe("endpoints inside this process", () => {
  const localUrl = "http://127.0.0.1:1/endpoints/alpha/sparql";
  const localWith = (answer: (query: LocalQuery) => Promise<{ mediaType: string; body: Buffer }>): SparqlClient =>
    clientWith({ local: (url) => (url === localUrl ? answer : undefined) });

  it("are answered without a connection, under the same accounts", async () => {
    const queries: LocalQuery[] = [];
    const client = localWith(async (query) => {
      queries.push(query);
      return { mediaType: "application/sparql-results+json", body: Buffer.from(resultsOf(5)) };
    });
    const { answer, end } = await read(client, requestTo(localUrl, { defaultGraphs: ["http://g"] }));
    expect(answer).toMatchObject({ status: 200, requests: 1, contentEncoding: "identity" });
    expect(end.rows).toBe(5);
    expect(queries[0]).toMatchObject({ kind: "bindings", defaultGraphs: ["http://g"] });
    expect(queries[0]?.timeoutMs).toBeGreaterThan(5000);
  });
  it("that hang are cut off at the deadline", async () => {
    const client = localWith(() => new Promise(() => {}));
    await shouldFail(client, requestTo(localUrl, { deadlineMs: Date.now() + 50 }), ["DEADLINE_EXCEEDED"]);
  });
  it.each([
    ["QUERY_SYNTAX", "ENDPOINT_REJECTED_QUERY"],
    ["ENDPOINT_FAILED", "ENDPOINT_FAILED"],
  ] as const)("that fail with %s fail with %s", async (thrown, code) => {
    const client = localWith(() => Promise.reject(new FedwayError(thrown, "no")));
    await shouldFail(client, requestTo(localUrl), [code]);
  });
  it("are held to the byte cap", async () => {
    const client = localWith(async () => ({ mediaType: "text/csv", body: Buffer.alloc(2000, "x") }));
    await shouldFail(client, requestTo(localUrl, { maxBytes: 1000 }), ["ANSWER_TOO_LARGE"]);
  });
  it("are never reached by a redirect", async () => {
    const client = clientWith({ local: (url) => (url === server.url("ok") ? () => new Promise(() => {}) : undefined) });
    await shouldFail(client, send("redirect-307"), ["ENDPOINT_REDIRECT"]);
    expect(server.requests("ok")).toHaveLength(0);
  });
});
