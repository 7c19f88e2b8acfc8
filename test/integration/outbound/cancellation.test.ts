import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { ExchangeReport } from "../../../src/outbound/observer.ts";
import { until } from "../../support/eventually.ts";
import { bodyOf, failureOf, hostileSetting, requestTo, shouldFail } from "../../support/hostile-client.ts";

const setting = hostileSetting();
const { clientWith, send } = setting;

describe("cancellation leaves no connection open", () => {
  it.each(["hang", "slow-first-byte", "hang-in-body", "hang-in-small-body", "hang-in-error", "drip", "endless"])(
    "during %s",
    async (caseName) => {
      const reports: ExchangeReport[] = [];
      const client = clientWith({ observer: { onExchange: (report) => reports.push(report) } });
      const controller = new AbortController();
      const failing = failureOf(client, send(caseName, { signal: controller.signal }));
      await setting.server.received(1);
      await delay(50);
      expect(setting.server.openSockets()).toBe(1);
      controller.abort();
      expect((await failing).code).toBe("CANCELLED");
      await setting.server.allSocketsClosed();
      expect(reports).toMatchObject([{ outcome: "cancelled", requests: 1 }]);
    },
  );
});

describe("cancellation before a response can come", () => {
  it("before anything is sent", async () => {
    await shouldFail(clientWith(), send("ok", { signal: AbortSignal.abort() }), ["CANCELLED"]);
    expect(setting.server.requests()).toHaveLength(0);
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
    const resolved: (() => void)[] = [];
    const client = clientWith({
      resolveHost: (_hostname, done) => resolved.push(() => done(null, [{ address: "127.0.0.1", family: 4 }])),
    });
    const controller = new AbortController();
    const url = setting.server.url("ok").replace("127.0.0.1", "endpoint.example");
    const failing = failureOf(client, requestTo(url, { signal: controller.signal }));
    await until(() => resolved.length > 0);
    controller.abort();
    expect((await failing).code).toBe("CANCELLED");
    // Answered after the cancellation: a connection made now would be one too many, and come before that of the next query.
    resolved[0]?.();
    await clientWith().query(send("ok"));
    expect(resolved).toHaveLength(1);
    expect(setting.server.openSockets()).toBe(1);
    expect(setting.server.requests()).toHaveLength(1);
  });
  it("while queued and while backing off", async () => {
    const client = clientWith({ endpointConcurrency: 1, retry: { baseMs: 60_000 } });
    const holder = new AbortController();
    const waiter = new AbortController();
    const running = failureOf(client, send("503", { signal: holder.signal, deadlineMs: Date.now() + 600_000 }));
    await setting.server.received(1);
    await delay(50);
    const queued = failureOf(client, send("503", { signal: waiter.signal }));
    await delay(20);
    waiter.abort();
    expect((await queued).code).toBe("CANCELLED");
    holder.abort();
    expect((await running).code).toBe("CANCELLED");
    expect(setting.server.requests()).toHaveLength(1);
  });
});

describe("cancellation by other means than the signal", () => {
  it("by the reader destroying the body", async () => {
    const client = clientWith();
    const answer = await client.query(send("endless"));
    if (!(answer.body instanceof Readable)) throw new Error("expected a stream");
    answer.body.destroy();
    await expect(answer.end).rejects.toMatchObject({ code: "CANCELLED" });
    await setting.server.allSocketsClosed();
  });
  it.each(["drip", "hang-in-error", "hang"])(
    "keeps a FedwayError that is the signal's reason: %s",
    async (caseName) => {
      const reason = new FedwayError("ENDPOINT_PARTIAL", "enough rows");
      const controller = new AbortController();
      const failing = failureOf(clientWith(), send(caseName, { signal: controller.signal }));
      await setting.server.received(1);
      await delay(50);
      controller.abort(reason);
      expect(await failing).toBe(reason);
    },
  );
  it("by closing the client, which then refuses queries", async () => {
    const client = clientWith();
    const failing = [failureOf(client, send("hang")), failureOf(client, send("drip"))];
    await setting.server.received(2);
    await client.close();
    expect((await Promise.all(failing)).map(({ code }) => code)).toEqual(["CANCELLED", "CANCELLED"]);
    await setting.server.allSocketsClosed();
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
