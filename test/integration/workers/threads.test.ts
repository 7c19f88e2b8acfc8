import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Threads } from "../../../src/workers/threads.ts";
import type { ScriptedTask } from "./scripted-thread.ts";

let started: Worker[] = [];
const note = (worker: Worker): void => void started.push(worker);
beforeEach(() => {
  started = [];
  process.on("worker", note);
});
afterEach(() => void process.off("worker", note));

/** Threads that have not ended have a number. */
const running = (): readonly number[] => started.map(({ threadId }) => threadId).filter((id) => id >= 0);

const start = (signal?: AbortSignal): Threads<ScriptedTask, unknown> =>
  new Threads({
    script: new URL("./scripted-thread.ts", import.meta.url),
    data: undefined,
    count: 2,
    heapMb: 32,
    signal,
  });

const outcome = (task: Promise<unknown>): Promise<unknown> => task.catch((error: unknown) => error);

describe("threads", () => {
  it("do more tasks than there are threads, and tell of a task that fails without failing others", async () => {
    const threads = start();
    const tasks = (["echo", "refuse", "echo", "full disk", "echo"] as const).map((task) => outcome(threads.run(task)));
    expect(await Promise.all(tasks)).toEqual([
      "echo",
      expect.objectContaining({
        name: "FedwayError",
        code: "DATASET_INVALID",
        message: "in.nt, line 3: no.",
        details: { where: { line: 3 }, next: "Look there.", cause: "1" },
      }),
      "echo",
      expect.objectContaining({ name: "Error", code: "ENOSPC", message: "no space left" }),
      "echo",
    ]);
    expect(started).toHaveLength(2);
    await threads.close();
    expect(running()).toEqual([]);
    await expect(threads.run("echo")).rejects.toMatchObject({ code: "CANCELLED" });
  });

  /** Of two threads one does the task, and the other one would never end. */
  function shouldLoseAll(task: ScriptedTask, message: RegExp): void {
    it(`are all lost with one: ${task}`, async () => {
      const threads = start();
      const tasks = (["never end", task, "echo"] as const).map((each) => outcome(threads.run(each)));
      const lost = expect.objectContaining({ code: "INTERNAL", message: expect.stringMatching(message) });
      expect(await Promise.all(tasks)).toEqual([lost, lost, lost]);
      await threads.close();
      expect(started).toHaveLength(2);
      expect(running()).toEqual([]);
    });
  }
  shouldLoseAll("exit", /^A thread ended before its work was done\.$/u);
  shouldLoseAll("fill the memory", /^A thread ran out of memory\.$/u);

  it("end at once when that is asked for, whatever they do", async () => {
    const controller = new AbortController();
    const threads = start(controller.signal);
    const tasks = (["never end", "never end", "echo"] as const).map((task) => outcome(threads.run(task)));
    const why = new Error("no more");
    controller.abort(why);
    expect(await Promise.all(tasks)).toEqual([why, why, why]);
    await threads.close();
    expect(running()).toEqual([]);
  });

  it("see nothing of our environment but the cache of compiled code", async () => {
    process.env["FEDWAY_TEST_SECRET"] = "hidden";
    const threads = start();
    expect(await threads.run("environment")).toEqual(["NODE_COMPILE_CACHE"]);
    delete process.env["FEDWAY_TEST_SECRET"];
    await threads.close();
  });

  it("are not started for work that was cancelled before", async () => {
    const why = new Error("no more");
    const threads = start(AbortSignal.abort(why));
    await expect(threads.run("echo")).rejects.toBe(why);
    await threads.close();
    expect(started).toHaveLength(0);
  });
});
