import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { resultsOf } from "../../support/hostile-bodies.ts";
import { createSimulatedClock } from "../../support/simulated-clock.ts";
import { failureOf, hostileSetting, read, shouldFail } from "../../support/hostile-client.ts";

const setting = hostileSetting();
const { clientWith, send } = setting;

function asBuffer(chunk: unknown): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : expect.fail("a body piece is no Buffer");
}

describe("a slow reader", () => {
  it("pauses the endpoint instead of filling memory, and no idle timer mistakes that for silence", async () => {
    const client = clientWith({ timeouts: { idleMs: 1_000 } });
    const answer = await client.query(send("endless", { deadlineMs: Date.now() + 120_000 }));
    if (!(answer.body instanceof Readable)) throw new Error("expected a stream");
    let seen = 0;
    for await (const chunk of answer.body) {
      seen += asBuffer(chunk).length;
      expect(answer.body.readableLength).toBeLessThan(512 * 1024);
      if (seen < 2_000_000) continue;
      // Long enough for the endpoint to send hundreds of megabytes, and for the idle timer.
      await delay(2_500);
      expect(answer.body.readableLength).toBeLessThan(512 * 1024);
      break;
    }
    expect(seen).toBeGreaterThanOrEqual(2_000_000);
    await setting.server.allSocketsClosed();
  });
  it("gets an encoded body whole, byte for byte", async () => {
    const answer = await clientWith().query(send("gzip-large"));
    if (!(answer.body instanceof Readable)) throw new Error("expected a stream");
    let text = "";
    let pieces = 0;
    for await (const chunk of answer.body) {
      text += asBuffer(chunk).toString("latin1");
      pieces += 1;
      if (pieces % 40 === 0) await delay(2);
    }
    expect(pieces).toBeGreaterThan(10);
    expect(text === resultsOf(200_000)).toBe(true);
  });
});

describe("slots", () => {
  it("bound the requests under way and the queue, first come first served", async () => {
    const clock = createSimulatedClock(Date.now());
    const client = clientWith({ endpointConcurrency: 2, endpointQueue: 2, clock });
    const controller = new AbortController();
    const hanging = [1, 2].map(() => failureOf(client, send("hang", { signal: controller.signal })));
    await setting.server.received(2);
    const queued = [1, 2].map(() => failureOf(client, send("hang", { deadlineMs: clock.now() + 1_000 })));
    await shouldFail(client, send("hang"), ["ENDPOINT_BUSY", "busy"]);
    expect(setting.server.requests()).toHaveLength(2);
    expect((await read(client, send("ok"))).end.rows).toBe(3);
    controller.abort();
    await Promise.all(hanging);
    await setting.server.received(5);
    expect(setting.server.requests("hang")).toHaveLength(4);
    await clock.advance(1_000);
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
    // A page makes it try another method, too.
    expect(setting.server.requests()).toHaveLength(cases.length * 3 + 3);
  });
});

describe("circuit breaker", () => {
  it("opens after consecutive faults, tries once, closes again", async () => {
    const states: string[] = [];
    const clock = createSimulatedClock(Date.now());
    const client = clientWith({
      clock,
      retry: { limit: 0 },
      breaker: { faults: 2, coolDownMs: 100, maxCoolDownMs: 1000 },
      observer: { onBreaker: ({ endpoint, state }) => states.push(`${endpoint} ${state}`) },
    });
    const once = (): Promise<FedwayError> => failureOf(client, send("reset-then-ok"));
    await shouldFail(client, send("400"), ["ENDPOINT_REJECTED_QUERY"]);
    expect((await once()).code).toBe("ENDPOINT_UNREACHABLE");
    expect((await read(client, send("reset-then-ok"))).end.rows).toBe(3);
    for (let round = 0; round < 2; round += 1) await shouldFail(client, send("500"), ["ENDPOINT_FAILED"]);
    const open = await shouldFail(client, send("500"), ["CIRCUIT_OPEN", "circuit-open"]);
    expect(open.details.retryAfterMs).toBeGreaterThan(0);
    expect(open.details.retryAfterMs).toBeLessThanOrEqual(100);
    expect(setting.server.requests("500")).toHaveLength(2);
    await clock.advance(120);
    const [trial, refused] = await Promise.all([failureOf(client, send("500")), failureOf(client, send("500"))]);
    expect([trial.code, refused.code]).toEqual(["ENDPOINT_FAILED", "CIRCUIT_OPEN"]);
    expect((await failureOf(client, send("500"))).details.retryAfterMs).toBeGreaterThan(100);
    expect(setting.server.requests("500")).toHaveLength(3);
    expect(states).toEqual(["hostile open", "hostile half-open", "hostile open"]);
  });
});
