import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { EmbeddedJobQueue } from "../../src/jobs/embedded/embedded-job-queue.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { newFolder } from "../support/scratch-folder.ts";

/** Starts a process that runs the job, waits until it does, and kills it; resolves to what it said. */
async function killedWorker(path: string): Promise<string> {
  const program = new URL("endless-job.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, path], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const gone = once(child, "exit");
  const [said] = await Promise.race([once(child.stdout, "data"), gone]);
  child.kill("SIGKILL");
  expect(await gone).toEqual([null, "SIGKILL"]);
  return String(said).trim();
}

describe("a job whose worker was killed", () => {
  it("runs again at the next start of the same service, every time", async () => {
    const folder = newFolder();
    const path = join(folder, "store.db");
    const rounds = 4;
    const said: string[] = [];
    for (let round = 0; round < rounds; round += 1) said.push(await killedWorker(path));
    expect(said).toEqual(["running 1", "running 2", "running 3", "running 4"]);

    const store = openSqliteStore({ path });
    const queue = new EmbeddedJobQueue({ store });
    const stored: unknown = JSON.parse((await store.get("jobs/job/the-job"))?.value ?? "");
    expect(stored).toMatchObject({ state: "running", progress: { stage: "working", done: 4 } });
    await queue.start([{ name: "endless", validate: () => {}, run: async (payload) => payload }]);
    await expect.poll(async () => (await queue.get("the-job"))?.state).toBe("done");
    expect(await queue.get("the-job")).toMatchObject({ attempts: rounds + 1, result: { kept: true } });
    await queue.close();
    await store.close();
  });
});
