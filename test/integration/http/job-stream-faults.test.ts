import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { HttpDeps } from "../../../src/http/http-deps.ts";
import type { Job } from "../../../src/jobs/job-queue.ts";
import { raw, start } from "./http-fixture.ts";
import { until } from "../../support/eventually.ts";

const quietMs = 15_000;
const running: Job = {
  id: "j1",
  kind: "count",
  state: "running",
  payload: {},
  attempts: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
};
const request = (method: string, path = "/api/jobs/j1/events"): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const progressed = (done: number): Job => ({ ...running, progress: { stage: "counting", done } });

/** What the queue says of the job; a look waits while the gate is shut. */
let job: Job | undefined;
let gate: Promise<void>;
/** Everybody who watches it now. */
let listeners: Set<(job: Job) => void>;

const jobs: HttpDeps["jobs"] = {
  async get() {
    await gate;
    return job;
  },
  list: async () => [],
  cancel: async () => false,
  watch(_id, listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  job = running;
  gate = Promise.resolve();
  listeners = new Set();
});
afterEach(() => {
  vi.useRealTimers();
});

function shutGate(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  return resolve;
}

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/health/live`).then(
    () => true,
    () => false,
  );

const turns = async (): Promise<void> => {
  for (let times = 0; times < 5; times += 1) await new Promise(setImmediate);
};

describe("nobody is followed for whom nobody listens", () => {
  it("a client that left while the job was looked for", async () => {
    const app = await start({ jobs });
    const open = shutGate();
    const client = raw(app, request("GET"));
    await until(() => client.socket.readyState === "open");
    await turns();
    client.socket.destroy();
    await until(() => app.observed.length === 1);
    open();
    await turns();
    expect(listeners.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("one that left later", async () => {
    const app = await start({ jobs });
    const client = raw(app, request("GET"));
    await client.until("event: progress");
    expect(listeners.size).toBe(1);
    client.socket.destroy();
    await until(() => listeners.size === 0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("HEAD, which has no body to wait for", async () => {
    const app = await start({ jobs });
    const client = raw(app, request("HEAD") + request("GET", "/health/live"));
    await client.until('{"live":true}');
    expect(client.received()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(client.received().toLowerCase()).toContain("content-type: text/event-stream\r\n");
    expect(listeners.size).toBe(0);
  });
});

describe("the end of the service", () => {
  it("ends also what begins after it", async () => {
    const app = await start({ jobs });
    const open = shutGate();
    const client = raw(app, request("GET"));
    await until(() => client.socket.readyState === "open");
    await turns();
    const closed = app.server.close(600_000);
    while (await answers(app.url)) await turns();
    open();
    await client.until("retry: 2000\n\n\r\n0\r\n\r\n");
    vi.advanceTimersByTime(1_000);
    await closed;
    expect(await client.ended).toBe("closed");
    expect(listeners.size).toBe(0);
  });
});

describe("a quiet time", () => {
  it("is broken by a sign of life, and nothing is told twice", async () => {
    const app = await start({ jobs });
    const client = raw(app, request("GET"));
    await client.until("event: progress");
    vi.advanceTimersByTime(2 * quietMs);
    await client.until(": still here");
    await turns();
    expect(client.received().match(/event: progress/g)).toHaveLength(1);
  });

  it("tells what was missed", async () => {
    const app = await start({ jobs });
    const client = raw(app, request("GET"));
    await client.until("event: progress");
    job = progressed(7);
    vi.advanceTimersByTime(quietMs);
    await client.until('"done":7');
    job = { ...running, state: "done", result: "all" };
    vi.advanceTimersByTime(quietMs);
    await client.until("event: end");
  });

  it("ends for a job that is not there any more", async () => {
    const app = await start({ jobs });
    const client = raw(app, request("GET"));
    await client.until("event: progress");
    job = undefined;
    vi.advanceTimersByTime(quietMs);
    await until(() => listeners.size === 0);
    expect(client.received()).not.toContain("event: end");
  });

  it("outlives a store that fails", async () => {
    const app = await start({ jobs });
    const client = raw(app, request("GET"));
    await client.until("event: progress");
    gate = Promise.reject(new Error("away"));
    gate.catch(() => {});
    vi.advanceTimersByTime(quietMs);
    await client.until(": still here");
    gate = Promise.resolve();
    job = progressed(9);
    vi.advanceTimersByTime(quietMs);
    await client.until('"done":9');
  });
});

it("does not tell an old state after a new one", async () => {
  const app = await start({ jobs });
  const client = raw(app, request("GET"));
  await client.until("event: progress");
  const open = shutGate();
  job = progressed(1);
  vi.advanceTimersByTime(quietMs);
  await turns();
  for (const listener of listeners) listener(progressed(2));
  await client.until('"done":2');
  open();
  await turns();
  job = progressed(3);
  vi.advanceTimersByTime(quietMs);
  await client.until('"done":3');
  expect(client.received()).not.toContain('"done":1');
});
