import { setTimeout as sleep } from "node:timers/promises";
import { Evaluators } from "../../src/engine/evaluators/evaluators.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { evaluatorsOf } from "../support/child-processes.ts";
import { toBounds } from "../support/engine-answer.ts";
import { startEndpoints, type TestEndpoints } from "../support/federation-harness.ts";
import { problemOf, type RunningService, startService } from "../support/running-service.ts";
import { until } from "../support/eventually.ts";

// Federated queries are evaluated in child processes; what becomes of them when those die, stand still or are many.

const wide = "x".repeat(600);
const triples = Array.from({ length: 3_000 }, (_, n) => `<urn:s${n}> <urn:p> "${n} ${wide}" .`).join("\n");
const join = (limit: number): string => `SELECT * {
  SERVICE <${endpoints.url("left")}> { SELECT * { ?s <urn:p> ?left } LIMIT ${limit} }
  SERVICE <${endpoints.url("right")}> { ?s <urn:p> ?right } }`;
// So large that the client's and our own buffers do not hold it: uncompressed, it is under way until it is read.
const large = (): string => `SELECT * {
  SERVICE <${endpoints.url("left")}> { SELECT ?left { ?s <urn:p> ?left } LIMIT 150 }
  SERVICE <${endpoints.url("right")}> { SELECT ?right { ?t <urn:p> ?right } LIMIT 200 } }`;

let endpoints: TestEndpoints;
let service: RunningService;
const alreadyThere = evaluatorsOf(process.pid);
const evaluators = (): readonly number[] => evaluatorsOf(process.pid).filter((pid) => !alreadyThere.includes(pid));

beforeAll(async () => {
  endpoints = await startEndpoints({ left: triples, right: triples });
  // On a busy machine processes take their time to start again; no query ends for that.
  service = await startService(endpoints.urls, {
    FEDWAY_EVALUATORS: "2",
    FEDWAY_EVALUATORS_START: "service",
    FEDWAY_MAX_EVALUATIONS: "4",
    FEDWAY_TIMEOUT_MS: "240000",
  });
});
afterAll(async () => {
  await service.close();
  await endpoints.close();
});
afterEach(() => {
  endpoints.setDelay("left", 0);
});

const rowsOf = async (response: Response): Promise<number> => {
  const { results } = (await response.json()) as { readonly results: { readonly bindings: readonly unknown[] } };
  return results.bindings.length;
};

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
};
const running = (): Promise<number> => metric('fedway_evaluations{state="running"}');

describe("evaluator processes", () => {
  test("are there before they are needed, as many as were asked for", async () => {
    await until(() => evaluators().length === 2);
    const response = await service.query(join(100));
    expect(await rowsOf(response)).toBe(100);
  });

  test("have nothing under way when all answers are there", async () => {
    await Promise.all(Array.from({ length: 6 }, async () => rowsOf(await service.query(join(50)))));
    await until(async () => (await running()) === 0);
  });

  test("that are killed take no answer with them which had not begun", async () => {
    endpoints.setDelay("left", 60_000);
    const answers = Array.from({ length: 4 }, () => service.query(join(20)));
    await until(async () => (await running()) === 4);
    const before = evaluators();
    // The requests of the second attempts are answered at once.
    endpoints.setDelay("left", 0);
    for (const pid of before) process.kill(pid, "SIGKILL");
    for (const answer of answers) expect(await rowsOf(await answer)).toBe(20);
    await until(() => evaluators().length === 2);
    expect(evaluators().some((pid) => before.includes(pid))).toBe(false);
    expect(await metric('fedway_evaluator_ends_total{reason="killed"}')).toBe(2);
  });

  test("that are killed cut off answers which had begun, visibly", async () => {
    const response = await service.query(large(), { coding: "identity" });
    expect(response.status).toBe(200);
    for (const pid of evaluators()) process.kill(pid, "SIGKILL");
    await expect(response.text()).rejects.toThrow();
    const run = response.headers.get("fedway-run");
    const record = (await (await fetch(`${service.url}/api/runs/${run}`)).json()) as { readonly code: string };
    expect(record).toMatchObject({ status: "failed", code: "EVALUATION_LOST" });
  });

  test("that die under one query again and again are not blamed on the service's other queries", async () => {
    endpoints.setDelay("left", 60_000);
    await until(() => evaluators().length === 2);
    let hasEnded = false;
    const response = service.query(join(5)).finally(() => (hasEnded = true));
    let killed: readonly number[] = [];
    // The second attempt may have begun in the other process before that died too: then the query has met both deaths.
    for (let death = 0; death < 2; death++) {
      const areNew = (): boolean => evaluators().length === 2 && !evaluators().some((pid) => killed.includes(pid));
      await until(async () => hasEnded || (areNew() && (await running()) === 1));
      killed = evaluators();
      for (const pid of killed) process.kill(pid, "SIGKILL");
    }
    const problem = await problemOf(await response);
    expect(problem).toMatchObject({ status: 503, code: "EVALUATION_LOST", retryAfterMs: 1_000 });
    endpoints.setDelay("left", 0);
    expect(await rowsOf(await service.query(join(5)))).toBe(5);
  });

  test("stop when the client has gone", async () => {
    endpoints.setDelay("left", 60_000);
    endpoints.clearRequests();
    const leaving = new AbortController();
    const response = service.query(join(5), { signal: leaving.signal });
    await until(() => endpoints.requests("left").length === 1);
    leaving.abort();
    await expect(response).rejects.toThrow();
    await until(async () => (await running()) === 0);
    await until(() => endpoints.requests("left")[0]?.aborted === true);
  });

  test("stop when there is nobody for the body of an answer to HEAD, which is no failure", async () => {
    const url = `${service.url}/sparql?query=${encodeURIComponent(large())}`;
    const response = await fetch(url, { method: "HEAD" });
    expect(response.status).toBe(200);
    await until(async () => (await running()) === 0);
    const run = await fetch(`${service.url}/api/runs/${response.headers.get("fedway-run")}`);
    expect(await run.json()).toMatchObject({ status: "cancelled", code: "CANCELLED" });
  });

  test("are left at the deadline, with an error that says so", async () => {
    endpoints.setDelay("left", 60_000);
    const response = await service.query(join(5), { parameters: { timeout: "3000" } });
    expect((await problemOf(response)).code).toMatch(/DEADLINE_EXCEEDED|ENDPOINT_TIMEOUT/u);
    await until(async () => (await running()) === 0);
  });

  test("are shared by more queries than may run at once: the others wait", async () => {
    endpoints.setDelay("left", 600_000);
    const answers = Array.from({ length: 9 }, async () => rowsOf(await service.query(join(3))));
    await until(async () => (await metric('fedway_evaluations{state="waiting"}')) > 0);
    endpoints.setDelay("left", 0);
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 9 }, () => 3));
  });

  test("hold back when nobody reads", async () => {
    const response = await service.query(large(), { coding: "identity" });
    await sleep(1_000);
    expect(await running()).toBe(1);
    expect(endpoints.requests("left").length).toBeGreaterThan(0);
    expect(await rowsOf(response)).toBe(30_000);
  });
});

describe("a pool of its own", () => {
  const query = "SELECT * { VALUES ?a { 1 2 3 } }";
  const plan = {
    kind: "federated",
    answer: "bindings",
    query,
    skeleton: query,
    clauses: [],
    members: [],
    notes: [],
  } as const;
  const open = (memoryMb: number, ends: string[], idleMs?: number) =>
    new Evaluators({
      processes: 1,
      idleMs,
      memoryMb,
      maxRunning: 4,
      stallMs: 3_000,
      limits: { maxSolutions: 1_000, maxHeldBytes: 2 ** 20, heldHeadBytes: 16_384 },
      world: {
        client: { query: () => Promise.reject(new Error("no endpoint is asked")) },
        documents: { read: () => Promise.reject(new Error("no document is read")) },
        now: () => performance.now(),
      },
      onEnd: ({ reason }) => ends.push(reason),
    });

  test("ends an evaluator without runs, and starts another one for the next", async () => {
    const ends: string[] = [];
    const before = evaluatorsOf(process.pid);
    const own = () => evaluatorsOf(process.pid).filter((child) => !before.includes(child));
    const pool = open(256, ends, 100);
    try {
      for (const _ of [1, 2]) {
        const result = await pool.evaluate(plan, toBounds());
        expect(result.kind).toBe("bindings");
        if (result.kind === "bindings") for await (const row of result.rows) expect(row.size).toBe(1);
        await until(() => own().length === 0);
      }
      expect(pool.usage).toEqual({ running: 0, waiting: 0 });
      expect(ends).toEqual([]);
    } finally {
      await pool.close();
    }
  });

  test("replaces an evaluator that stands still, and begins its query again", async () => {
    const ends: string[] = [];
    const before = evaluatorsOf(process.pid);
    const pool = open(256, ends);
    const count = async (): Promise<number> => {
      const result = await pool.evaluate(plan, toBounds());
      let rows = 0;
      if (result.kind === "bindings") for await (const row of result.rows) rows += row.size;
      return rows;
    };
    try {
      expect(await count()).toBe(3);
      const pid = evaluatorsOf(process.pid).find((child) => !before.includes(child));
      process.kill(pid ?? 0, "SIGSTOP");
      expect(await count()).toBe(3);
      expect(ends).toEqual(["stalled"]);
    } finally {
      await pool.close();
    }
    await until(() => evaluatorsOf(process.pid).every((child) => before.includes(child)));
  });

  test("says so when its processes have too little memory to start", async () => {
    const ends: string[] = [];
    const pool = open(16, ends);
    try {
      // The first one waits for three starts, the second one for none.
      for (const attempt of [1, 2]) {
        const failure = await pool.evaluate(plan, toBounds()).catch((error: unknown) => error);
        expect(failure, `attempt ${attempt}`).toMatchObject({
          code: "SERVICE_BUSY",
          message: expect.stringContaining("can be started"),
          details: { retryAfterMs: 30_000 },
        });
      }
      expect(ends.every((reason) => reason === "memory")).toBe(true);
    } finally {
      await pool.close();
    }
  });
});
