import { describe, expect, it } from "vitest";
import type { HostRate } from "../../../src/outbound/host-rates.ts";
import type { ExchangeReport } from "../../../src/outbound/observer.ts";
import type { OpenSparqlClient, SparqlClientOptions } from "../../../src/outbound/client.ts";
import type { SparqlRequest } from "../../../src/outbound/sparql-request.ts";
import { resultsOf } from "../../support/hostile-bodies.ts";
import { createSimulatedClock } from "../../support/simulated-clock.ts";
import { failureOf, hostileSetting, read, requestTo, shouldFail } from "../../support/hostile-client.ts";

const setting = hostileSetting();

const limited = (hostRate: HostRate, more: Partial<SparqlClientOptions> = {}): OpenSparqlClient =>
  setting.clientWith({
    hostRate,
    retry: { baseMs: 1 },
    resolveHost: (_hostname, done) => done(null, [{ address: "127.0.0.1", family: 4 }]),
    ...more,
  });
/** A rate at which no second token comes back within a test. */
const once: HostRate = { perSecond: 0.001, burst: 1 };
const at = (host: string, caseName: string, more: Partial<SparqlRequest> = {}): SparqlRequest =>
  requestTo(setting.server.url(caseName).replace("127.0.0.1", host), more);
const sent = (caseName?: string): number => setting.server.requests(caseName).length;

describe("the rate of a public host", () => {
  it("is refused beyond the deadline at once, with the time to wait", async () => {
    const reports: ExchangeReport[] = [];
    const client = limited(once, { observer: { onExchange: (report) => reports.push(report) } });
    await read(client, at("a.example", "ok"));
    // One that waited for its turn would end at its deadline.
    const error = await shouldFail(client, at("a.example", "ok"), ["ENDPOINT_BUSY", "busy"]);
    expect(error.details.retryAfterMs).toBeGreaterThan(500_000);
    expect(error.details.retryAfterMs).toBeLessThanOrEqual(1_000_000);
    expect(error.details.where?.endpoint).toBe("hostile");
    expect(reports.at(-1)).toMatchObject({ outcome: "busy", requests: 0 });
    expect(sent()).toBe(1);
  });
  it("is one for all paths and spellings of the host, and another for another host", async () => {
    const client = limited(once);
    await read(client, at("a.example", "ok"));
    for (const host of ["a.example", "A.Example", "a.example."]) {
      await shouldFail(client, at(host, "ok-chunked"), ["ENDPOINT_BUSY"]);
    }
    await read(client, at("b.example", "ok"));
    expect(sent()).toBe(2);
  });
  it.each([
    ["reset-then-ok", "retries"],
    ["503-then-ok", "retries"],
    ["only-direct", "other methods"],
    ["not-acceptable", "other Accepts"],
    ["redirect-308-relative", "redirects"],
  ])("%s: %s count", async (caseName) => {
    await shouldFail(limited(once), at("a.example", caseName), ["ENDPOINT_BUSY"]);
    expect(sent()).toBe(1);
    const { answer } = await read(limited({ perSecond: 50, burst: 1 }), at("b.example", caseName));
    expect(answer.requests).toBeGreaterThan(0);
  });
  it("does not count for the host a redirect leads to", async () => {
    const { answer } = await read(limited(once), at("a.example", "redirect-307"));
    expect(answer.requests).toBe(2);
  });
  it("spaces requests out, first come first served", async () => {
    const client = limited({ perSecond: 20, burst: 2 });
    const startedMs = Date.now();
    const done: number[] = [];
    const ask = async (index: number): Promise<void> => {
      await read(client, at("a.example", "ok"));
      done.push(index);
    };
    await Promise.all([0, 1, 2, 3, 4, 5].map(ask));
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(198);
    expect(done.slice(2)).toEqual([2, 3, 4, 5]);
    expect(sent("ok")).toBe(6);
  });
  it("of 0 is no limit", async () => {
    const client = limited({ perSecond: 0, burst: 0 });
    for (let round = 0; round < 5; round += 1) await read(client, at("a.example", "ok"));
    expect(sent()).toBe(5);
  });
  it("does not open the circuit", async () => {
    const client = limited(once, { breaker: { faults: 1 } });
    await read(client, at("a.example", "ok"));
    for (let round = 0; round < 3; round += 1) await shouldFail(client, at("a.example", "ok"), ["ENDPOINT_BUSY"]);
  });
});

describe("a request that waits for its turn", () => {
  const slow: HostRate = { perSecond: 1, burst: 1 };

  it("ends when it is cancelled, and costs no token", async () => {
    const clock = createSimulatedClock(Date.now());
    const client = limited(slow, { clock });
    await read(client, at("a.example", "ok"));
    const controller = new AbortController();
    const leaving = failureOf(client, at("a.example", "ok", { signal: controller.signal }));
    const staying = read(client, at("a.example", "ok"));
    controller.abort();
    expect((await leaving).code).toBe("CANCELLED");
    await clock.advance(999);
    expect(sent()).toBe(1);
    // The first token that comes back is for the one that stays.
    await clock.advance(1);
    await staying;
    expect(sent()).toBe(2);
  });
  it("is refused while it is still queued for a slot, when its turn would come too late", async () => {
    const client = limited({ perSecond: 0.005, burst: 2 }, { endpointConcurrency: 1 });
    const controller = new AbortController();
    const running = failureOf(client, at("a.example", "hang", { signal: controller.signal }));
    await setting.server.received(1);
    const deadlineMs = Date.now() + 100_000;
    const queued = failureOf(client, at("a.example", "hang", { signal: controller.signal, deadlineMs }));
    await shouldFail(client, at("a.example", "hang", { deadlineMs }), ["ENDPOINT_BUSY", "busy"]);
    controller.abort();
    expect((await Promise.all([running, queued])).map(({ code }) => code)).toEqual(["CANCELLED", "CANCELLED"]);
  });
  it("counts for the queue's bound", async () => {
    const client = limited(slow, { hostQueue: 1 });
    const outcomes = await Promise.all(
      [1, 2, 3].map(() =>
        read(client, at("a.example", "ok")).then(
          () => "ok",
          (error: { code: string }) => error.code,
        ),
      ),
    );
    expect(outcomes).toEqual(["ok", "ok", "ENDPOINT_BUSY"]);
  });
  it("is not sent when its endpoint has asked to be left alone meanwhile", async () => {
    const client = limited(slow);
    const [first, second] = await Promise.all([1, 2].map(() => failureOf(client, at("a.example", "429-seconds"))));
    expect([first?.code, second?.code]).toEqual(["ENDPOINT_RATE_LIMITED", "ENDPOINT_RATE_LIMITED"]);
    expect(second?.details.retryAfterMs).toBeGreaterThan(100_000);
    expect(sent()).toBe(1);
  });
  it("ends when the client is closed", async () => {
    const client = limited(slow);
    await read(client, at("a.example", "ok"));
    const waiting = failureOf(client, at("a.example", "ok"));
    await client.close();
    expect((await waiting).code).toBe("CANCELLED");
    expect(sent()).toBe(1);
  });
});

describe("the operator's own hosts have no rate", () => {
  it.each(["127.0.0.1", "2130706433", "localhost", "LOCALHOST.", "[::ffff:127.0.0.1]"])("%s", async (host) => {
    const client = limited(once, { allowAddresses: ["127.0.0.1", "::ffff:127.0.0.1"] });
    for (let round = 0; round < 4; round += 1) await read(client, at(host, "ok"));
    expect(sent()).toBe(4);
  });
  it("nor do endpoints inside this process", async () => {
    const body = Buffer.from(resultsOf(1));
    const local = () => ({ query: async () => ({ mediaType: "application/sparql-results+json", body }) });
    const client = limited(once, { local, endpointConcurrency: 1 });
    const both = await Promise.all([1, 2, 3].map(() => read(client, at("a.example", "ok"))));
    expect(both.map(({ end }) => end.rows)).toEqual([1, 1, 1]);
  });
});
