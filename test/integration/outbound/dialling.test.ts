import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { ExchangeReport } from "../../../src/outbound/observer.ts";
import type { SparqlClientOptions } from "../../../src/outbound/client.ts";
import type { LocalQuery } from "../../../src/outbound/local-answer.ts";
import type { SparqlClient, SparqlRequest } from "../../../src/outbound/sparql-request.ts";
import { resultsOf } from "../../support/hostile-bodies.ts";
import { hostileSetting, read, requestTo, shouldFail } from "../../support/hostile-client.ts";
import { startHostileServer } from "../../support/hostile-server.ts";

const setting = hostileSetting();
const { clientWith, send } = setting;

const resolving = (addresses: readonly string[]): Partial<SparqlClientOptions> => ({
  allowAddresses: ["127.0.0.1"],
  retry: { limit: 0 },
  resolveHost: (_hostname, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    ),
});

describe("names are vetted when they are dialled", () => {
  it.each([
    [["10.1.2.3"]],
    [["93.184.216.34", "10.1.2.3"]],
    [["127.0.0.1", "::1"]],
    [["fd00::1"]],
    [["::ffff:127.0.0.1"]],
    [["64:ff9b::7f00:1"]],
  ])("refused: %j", async (addresses) => {
    const url = setting.server.url("ok").replace("127.0.0.1", "endpoint.example");
    const error = await shouldFail(clientWith(resolving(addresses)), requestTo(url), ["ADDRESS_REFUSED", "address"]);
    for (const address of addresses) expect(JSON.stringify([error.message, error.details.next])).not.toContain(address);
    expect(setting.server.openSockets()).toBe(0);
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
      requestTo(setting.server.url(caseName).replace("127.0.0.1", "endpoint.example"));
    expect((await read(client, named("ok-close-delimited"))).end.rows).toBe(3);
    expect(lookups).toBe(1);
    await shouldFail(client, named("ok"), ["ADDRESS_REFUSED"]);
    expect(lookups).toBe(2);
    expect(setting.server.requests("ok")).toHaveLength(0);
  });
  it("a literal is refused without a connection", async () => {
    const reports: ExchangeReport[] = [];
    const observer = { onExchange: (report: ExchangeReport): number => reports.push(report) };
    const client = clientWith({ allowAddresses: [], observer });
    const error = await shouldFail(client, send("ok"), ["ADDRESS_REFUSED"]);
    expect(error.details.where?.endpoint).toBe("hostile");
    expect(reports).toMatchObject([{ endpoint: "hostile", outcome: "address", requests: 0 }]);
    await shouldFail(client, requestTo(setting.server.url("ok").replace("127.0.0.1", "2130706433")), [
      "ADDRESS_REFUSED",
    ]);
    await shouldFail(client, requestTo("http://user:secret@endpoint.example/sparql"), ["ADDRESS_REFUSED"]);
    expect(setting.server.openSockets()).toBe(0);
  });
});

describe("connections that cannot be made", () => {
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
    clientWith({ local: (url) => (url === localUrl ? { query: answer } : undefined) });

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
    const client = clientWith({
      local: (url) => (url === setting.server.url("ok") ? { query: () => new Promise(() => {}) } : undefined),
    });
    await shouldFail(client, send("redirect-307"), ["ENDPOINT_REDIRECT"]);
    expect(setting.server.requests("ok")).toHaveLength(0);
  });
});
