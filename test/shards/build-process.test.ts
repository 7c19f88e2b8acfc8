import { createWriteStream } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Job } from "../../src/jobs/job-queue.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { openWorkspace, type ShardWorkspace } from "../support/shard-workspace.ts";

let workspace: ShardWorkspace;
let service: RunningService;
beforeEach(async () => {
  workspace = await openWorkspace();
});
afterEach(async () => {
  await service.close();
});

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";

async function writeLines(name: string, count: number, line: (at: number) => string): Promise<void> {
  const file = createWriteStream(join(workspace.input, name));
  for (let at = 0; at < count; at += 1) file.write(line(at));
  file.end();
  await finished(file);
}

async function start(memoryMb: number): Promise<void> {
  const queries = [
    { id: "q1", sparql: "SELECT * { ?s a <urn:x:C0> ; <urn:x:p1> ?o ; <urn:x:p2> ?p }" },
    { id: "q2", sparql: "SELECT * { ?s a <urn:x:C1> . ?t a <urn:x:C2> ; <urn:x:p3> ?o }" },
  ];
  await writeFile(join(workspace.input, "large.json"), JSON.stringify(queries));
  service = await startService({}, { FEDWAY_DATA_DIR: workspace.dataDir, FEDWAY_SHARD_MEMORY_MB: String(memoryMb) });
}

async function post(path: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(`${service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  expect(status).toBe(202);
}

const licence = "https://creativecommons.org/publicdomain/zero/1.0/";
const build = (): Promise<void> =>
  post("/api/shards", { dataset: "large", inputs: ["large.nt"], queries: "large.json", licence });

async function ended(id: string): Promise<Job> {
  const job = async (): Promise<Job> => (await (await fetch(`${service.url}/api/jobs/${id}`)).json()) as Job;
  await expect.poll(async () => (await job()).state).toMatch(/done|failed/u);
  return job();
}

describe("the process of a build over the API", () => {
  it("is not the service, and when it is killed the job is run again and done", async () => {
    await writeLines("large.nt", 40_000, (at) =>
      at % 10 === 0
        ? `<urn:x:s${at % 50_000}> ${type} <urn:x:C${at % 3}> .\n`
        : `<urn:x:s${at % 50_000}> <urn:x:p${at % 4}> "${at}" .\n`,
    );
    await start(512);
    await build();
    const lock = join(workspace.dataDir, "shards", "large.lock");
    const holder = async (): Promise<unknown> =>
      readFile(lock, "utf8").then(
        (text) => (JSON.parse(text) as { pid: number }).pid,
        () => undefined,
      );
    const left = (): Promise<readonly string[]> => readdir(join(workspace.dataDir, "shards")).catch(() => []);
    // Only now is it past taking its lock.
    await expect.poll(left, { interval: 2 }).toContain("large.building");
    const pid = Number(await holder());
    expect(pid).not.toBe(process.pid);
    process.kill(pid, "SIGKILL");
    expect(await ended("build-shards.large")).toMatchObject({ state: "done", attempts: 2 });
    expect(await left()).toEqual(["large"]);
  });

  it("ends alone when it runs out of memory, and the job says so", async () => {
    // A class of its own for each subject: all of them are told apart.
    await writeLines("large.nt", 60_000, (at) => `<urn:x:s${at}> ${type} <urn:x:${"class".repeat(20)}${at}> .\n`);
    await start(48);
    await build();
    expect(await ended("build-shards.large")).toMatchObject({
      state: "failed",
      attempts: 1,
      error: { code: "REQUEST_TOO_LARGE", message: expect.stringContaining("more than its memory of 48 MiB") },
    });
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
  });
});
