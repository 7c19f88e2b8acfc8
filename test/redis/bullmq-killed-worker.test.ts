import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createBullmqJobQueue } from "../../src/jobs/bullmq/bullmq-job-queue.ts";
import type { Job, JobQueue } from "../../src/jobs/job-queue.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { newFolder } from "../support/scratch-folder.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

const program = new URL("stamping-worker.ts", import.meta.url).pathname;

interface KilledWorker {
  /** What it said first. */
  readonly said: string;
  /** All that it has said so far. */
  readonly all: () => string;
  kill(): Promise<void>;
}

interface Deployment {
  readonly queue: JobQueue;
  readonly folder: string;
  readonly faults: readonly unknown[];
  /** Starts a worker process; resolves when it runs a job, or is gone. */
  readonly work: () => Promise<KilledWorker>;
}

/** A deployment whose workers are processes of their own, and give a job up after so many were lost with it. */
async function deploy(prefix: string, mostInterruptions: number): Promise<Deployment> {
  const folder = newFolder();
  const faults: unknown[] = [];
  const queue = createBullmqJobQueue({ url: server.url, prefix, lookMs: 50, onFault: (fault) => faults.push(fault) });
  const kinds = ["endless", "leading"].map((name) => ({ name, validate: () => {}, run: async () => null }));
  await queue.start(kinds, { work: false });
  onTestFinished(() => queue.close(0));
  return {
    queue,
    folder,
    faults,
    async work() {
      const args = [program, server.url, prefix, folder, `${mostInterruptions}`];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      const gone = once(child, "exit");
      onTestFinished(() => void child.kill("SIGKILL"));
      const kill = async (): Promise<void> => {
        child.kill("SIGKILL");
        expect(await gone).toEqual([null, "SIGKILL"]);
      };
      let all = "";
      child.stdout.on("data", (text) => {
        all += String(text);
      });
      const said = once(child.stdout, "data").then(String);
      const failed = gone.then(() => "the worker ended");
      return { said: (await Promise.race([said, failed, lastOf(queue)])).trim(), all: () => all, kill };
    },
  };
}

/** Resolves when the job will not run any more. */
async function lastOf(queue: JobQueue): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const stop = queue.watch("stamp", ({ state }) => {
    if (state === "failed") resolve(state);
  });
  onTestFinished(stop);
  return promise;
}

describe("a job whose worker processes are killed in the middle of it", () => {
  it("runs again each time, ends once, and leaves one effect", async () => {
    const { queue, folder, faults, work } = await deploy("killed:", 20);
    const kills = 3;
    await queue.enqueue("endless", kills + 1, { id: "stamp" });
    const seen: Job[] = [];
    queue.watch("stamp", (job) => seen.push(job));
    for (let round = 1; round <= kills; round += 1) {
      const worker = await work();
      expect(worker.said).toBe(`running ${round}`);
      expect(await queue.get("stamp")).toMatchObject({ state: "running", attempts: round });
      await worker.kill();
    }
    const last = await work();
    expect(last.said).toBe(`running ${kills + 1}`);
    await expect.poll(() => seen.at(-1)?.state).toBe("done");

    const result = { stamped: "stamp", attempt: kills + 1 };
    expect(await queue.get("stamp")).toMatchObject({ state: "done", attempts: kills + 1, result });
    expect(seen.filter(({ state }) => state === "done")).toHaveLength(1);
    expect(readdirSync(folder)).toEqual(["stamp"]);
    expect(await queue.list()).toHaveLength(1);
    expect(faults).toEqual([]);
    await last.kill();
  });
  it("is given up when that happens again and again", async () => {
    const { queue, work } = await deploy("lethal:", 2);
    await queue.enqueue("endless", 9, { id: "stamp" });
    for (let round = 1; round <= 2; round += 1) {
      const worker = await work();
      expect(worker.said).toBe(`running ${round}`);
      await worker.kill();
    }
    const third = await work();
    expect(third.said).toBe("failed");
    expect(await queue.get("stamp")).toMatchObject({ state: "failed", attempts: 2, error: { code: "INTERNAL" } });
    await third.kill();
  });
});

it("a job whose workers are killed in each of its steps repeats that step only", async () => {
  const { queue, folder, faults, work } = await deploy("steps:", 20);
  await queue.enqueue("leading", 2, { id: "both" });
  const seen: Job[] = [];
  queue.watch("both", (job) => seen.push(job));
  const first = await work();
  expect(first.said).toBe("leading 1");
  await first.kill();
  const second = await work();
  await expect.poll(second.all).toContain("running 1");
  expect(await queue.get("both")).toMatchObject({ kind: "endless", state: "running", attempts: 1 });
  await second.kill();
  const last = await work();
  await expect.poll(() => seen.at(-1)?.state).toBe("done");

  expect([second.all(), last.all()]).toEqual(["leading 2\nrunning 1\n", "running 2\n"]);
  expect(await queue.get("both")).toMatchObject({ attempts: 2, result: { stamped: "both", attempt: 2 } });
  expect(seen.filter(({ state }) => /done|failed/.test(state))).toHaveLength(1);
  expect(readdirSync(folder)).toEqual(["both"]);
  expect(await queue.list()).toHaveLength(1);
  expect(faults).toEqual([]);
  await last.kill();
});
