import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { FedwayError, toFedwayError } from "../../src/errors/fedway-error.ts";
import { ask, endless, one, open } from "../support/endpoint-under-test.ts";
import { newFolder } from "../support/scratch-folder.ts";

const oneAnswer = "o,p\r\nvalue 1,urn:p:1\r\n";
const deep = `SELECT * ${"{".repeat(20_000)}${"}".repeat(20_000)}`;
/** Ten thousand times 50 KB: over its memory long before any time is up. */
const greedy = `SELECT (GROUP_CONCAT(CONCAT("${"x".repeat(50_000)}", STR(?a))) AS ?all) { ?a ?b ?c . ?d ?e ?f }`;
const codeOf = (answer: Promise<string>) => answer.catch((error: unknown) => toFedwayError(error).code);

describe("the time cap", () => {
  it("ends an endless query, and counts running time only: those that waited are served after the reload", async () => {
    const endpoint = open({ limits: { timeoutMs: 3_000 } });
    const late = expect(ask(endpoint, endless)).rejects.toMatchObject({
      code: "ENDPOINT_TIMEOUT",
      message: "The hosted endpoint alpha ended the query after 3000 ms.",
      details: { fault: "timeout" },
    });
    expect(await Promise.all([ask(endpoint, one), ask(endpoint, one)])).toEqual([oneAnswer, oneAnswer]);
    await late;
  });
  it("is lowered by the caller's time", async () => {
    const endpoint = open();
    // Loaded before: the caller's time runs from the arrival on.
    await ask(endpoint, one);
    await expect(ask(endpoint, endless, { timeoutMs: 2_000 })).rejects.toMatchObject({
      message: "The hosted endpoint alpha ended the query after 2000 ms.",
    });
    expect(await ask(endpoint, one)).toBe(oneAnswer);
  });
  it("lets the caller's time run in the queue", async () => {
    const endpoint = open({ limits: { timeoutMs: 600 } });
    const running = codeOf(ask(endpoint, endless));
    await expect(ask(endpoint, one, { timeoutMs: 100 })).rejects.toMatchObject({
      code: "ENDPOINT_TIMEOUT",
      message: "The hosted endpoint alpha was busy with other queries for 100 ms.",
    });
    expect(await running).toBe("ENDPOINT_TIMEOUT");
  });
});

describe("the memory cap", () => {
  it("ends a greedy query; the next one is served", async () => {
    const endpoint = open({ memoryMb: 32 });
    await expect(ask(endpoint, greedy)).rejects.toMatchObject({
      code: "ENDPOINT_FAILED",
      message: "The query needed more than the 32 MB of memory that the hosted endpoint alpha has.",
    });
    expect(await ask(endpoint, one)).toBe(oneAnswer);
  });
});

describe("a crash of the store", () => {
  it("costs one query, again and again; those that waited are served after the reload", async () => {
    const endpoint = open();
    const crashes = [1, 2, 3, 4].map(() =>
      expect(ask(endpoint, deep)).rejects.toMatchObject({
        code: "ENDPOINT_FAILED",
        message: "The hosted endpoint alpha failed on the query and is being restarted.",
      }),
    );
    expect(await Promise.all([ask(endpoint, one), ask(endpoint, one)])).toEqual([oneAnswer, oneAnswer]);
    await Promise.all(crashes);
  });
});

describe("cancelling", () => {
  it("ends a running query at once and its worker soon", async () => {
    // Beyond the time of a test: the next query has its turn because the worker ends, not because its time is over.
    const endpoint = open({ limits: { timeoutMs: 3_600_000 } });
    const caller = new AbortController();
    const cancelled = codeOf(ask(endpoint, endless, { signal: caller.signal, timeoutMs: 3_600_000 }));
    await sleep(100);
    caller.abort();
    expect(await cancelled).toBe("CANCELLED");
    expect(await ask(endpoint, one, { timeoutMs: 3_600_000 })).toBe(oneAnswer);
  });
  it("hands the reason on", async () => {
    const endpoint = open();
    const caller = new AbortController();
    const cancelled = codeOf(ask(endpoint, endless, { signal: caller.signal }));
    caller.abort(new FedwayError("DEADLINE_EXCEEDED", "over"));
    expect(await cancelled).toBe("DEADLINE_EXCEEDED");
  });
  it("takes a waiting query out of the queue", async () => {
    const endpoint = open({ limits: { timeoutMs: 3_000, maxWaiting: 1 } });
    const running = codeOf(ask(endpoint, endless));
    const caller = new AbortController();
    const waiting = codeOf(ask(endpoint, one, { signal: caller.signal }));
    expect(await codeOf(ask(endpoint, one))).toBe("ENDPOINT_BUSY");
    caller.abort();
    expect(await waiting).toBe("CANCELLED");
    expect(await ask(endpoint, one)).toBe(oneAnswer);
    expect(await running).toBe("ENDPOINT_TIMEOUT");
  });
  it("refuses a query that is already cancelled", async () => {
    expect(await codeOf(ask(open(), one, { signal: AbortSignal.abort() }))).toBe("CANCELLED");
  });
  it("keeps the worker when the query ends within the grace", async () => {
    const log = logFile("grace");
    const endpoint = open({ source: scripted(log, "ready"), thread: { script, graceMs: 120_000 } });
    const caller = new AbortController();
    const cancelled = codeOf(ask(endpoint, one, { signal: caller.signal }));
    caller.abort();
    expect(await cancelled).toBe("CANCELLED");
    expect(await ask(endpoint, one)).toBe("pong 1");
  });
});

describe("closing", () => {
  it("fails the running query, the waiting and the later ones", async () => {
    const endpoint = open();
    const running = codeOf(ask(endpoint, endless));
    const waiting = codeOf(ask(endpoint, one));
    await endpoint.close();
    expect(await Promise.all([running, waiting, codeOf(ask(endpoint, one))])).toEqual([
      "ENDPOINT_FAILED",
      "ENDPOINT_FAILED",
      "ENDPOINT_FAILED",
    ]);
  });
  it("can be done twice", async () => {
    const endpoint = open();
    await endpoint.close();
    await expect(endpoint.close()).resolves.toBeUndefined();
  });
});

const script = new URL("./scripted-store.ts", import.meta.url);
let dir = "";
beforeAll(() => {
  dir = newFolder();
});
const logFile = (name: string) => join(dir, name);
const startsIn = (log: string) => readFileSync(log).length;
const scripted = (log: string, ...steps: readonly string[]) =>
  ({ kind: "text", text: JSON.stringify({ log, steps }) }) as const;

/** Resolves when the thread has ended that is started next, and its endpoint knows. */
const endOfNextThread = (): Promise<void> =>
  new Promise((resolve) => {
    process.once("worker", (worker) => worker.once("exit", () => resolve()));
  });

describe("starting the worker again", () => {
  const restart = { attempts: 3, delayMs: 10, cooldownMs: 300 };
  it("is tried a bounded number of times", async () => {
    const log = logFile("bounded");
    const endpoint = open({ source: scripted(log, "crash"), thread: { script, restart } });
    await expect(ask(endpoint, one)).rejects.toMatchObject({
      code: "ENDPOINT_FAILED",
      message: "The hosted endpoint alpha could not be started in 3 attempts.",
      details: { retryAfterMs: 300 },
    });
    expect(startsIn(log)).toBe(3);
  });
  it("succeeds in a later attempt", async () => {
    const log = logFile("later");
    const endpoint = open({ source: scripted(log, "crash", "crash", "ready"), thread: { script, restart } });
    expect(await ask(endpoint, one)).toBe("pong 3");
  });
  it("does not wait for a worker that hangs", async () => {
    const thread = { script, restart, startTimeoutMs: 15_000 };
    const endpoint = open({ source: scripted(logFile("hang"), "hang", "ready"), thread });
    expect(await ask(endpoint, one)).toBe("pong 2");
  });
  it("happens when the worker ended while it was idle", async () => {
    const log = logFile("idle");
    const endpoint = open({ source: scripted(log, "fragile", "ready"), thread: { script, restart } });
    const ended = endOfNextThread();
    expect(await ask(endpoint, one)).toBe("pong 1");
    await ended;
    expect(await ask(endpoint, one)).toBe("pong 2");
  });
  const crashing = async (name: string, cooldownMs: number) => {
    const log = logFile(name);
    const steps = ["fragile", "crash", "crash", "crash", "ready"];
    const endpoint = open({ source: scripted(log, ...steps), thread: { script, restart: { ...restart, cooldownMs } } });
    const ended = endOfNextThread();
    expect(await ask(endpoint, one)).toBe("pong 1");
    await ended;
    expect(await codeOf(ask(endpoint, one))).toBe("ENDPOINT_FAILED");
    return { endpoint, log };
  };
  it("leaves an endpoint that cannot start alone for a while", async () => {
    const { endpoint, log } = await crashing("left alone", 3_600_000);
    expect(await codeOf(ask(endpoint, one))).toBe("ENDPOINT_FAILED");
    expect(startsIn(log)).toBe(4);
  });
  it("tries again afterwards", async () => {
    const { endpoint } = await crashing("cooldown", 50);
    await expect.poll(() => codeOf(ask(endpoint, one))).toBe("pong 5");
  });
});
