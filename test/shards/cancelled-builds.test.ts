import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildKind, type BuildQueue, readBuildRequest } from "../../shards/src/service/build-jobs.ts";
import { shardRunner } from "../../shards/src/plugin.ts";
import { loadConfig } from "../../src/config/config.ts";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import type { Job, JobState } from "../../src/jobs/job-queue.ts";
import { lockTarget } from "../../shards/src/target-lock.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { openWorkspace, type ShardWorkspace } from "../support/shard-workspace.ts";
import { eventually } from "../support/eventually.ts";

let workspace: ShardWorkspace;
beforeEach(async () => {
  workspace = await openWorkspace();
});

async function left(): Promise<readonly string[]> {
  const names: readonly string[] = await readdir(join(workspace.dataDir, "shards")).catch(() => []);
  return names.toSorted();
}

const jobIn = (state: JobState): Job => ({
  id: "build-shards.harbour",
  kind: "build-shards",
  state,
  payload: {},
  attempts: 1,
  createdAt: "2026-03-01T12:00:00.000Z",
});

const unused = (): never => {
  throw new Error("not asked for in these tests");
};
const noQueue: BuildQueue = { get: unused, enqueue: unused };

/** Runs a build job that is told to end once a part of its work is on the disk. */
async function stopped(get: () => Promise<Job | undefined>): Promise<unknown> {
  const config = loadConfig({ FEDWAY_DATA_DIR: workspace.dataDir });
  const kind = buildKind({ config, runTask: shardRunner(config), jobs: { ...noQueue, get }, onBuilt: async () => {} });
  const aborter = new AbortController();
  const why = new FedwayError("CANCELLED", "Told to end.");
  return kind.run(await readBuildRequest(config.dataDir, { file: "spec.json" }, false), {
    id: "build-shards.harbour",
    attempt: 1,
    signal: aborter.signal,
    progress: ({ stage }) => {
      if (stage === "choosing the rules") aborter.abort(why);
    },
  });
}

describe("a build job that is told to end", () => {
  it("leaves nothing when it was cancelled", async () => {
    await expect(stopped(async () => jobIn("cancelled"))).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await left()).toEqual([]);
  });

  it.each<[string, () => Promise<Job | undefined>]>([
    ["the service ends", async () => jobIn("running")],
    ["nobody knows why", () => Promise.reject(new FedwayError("STORE_FAILED", "Away."))],
  ])("leaves its work for the next run when %s", async (_, get) => {
    await expect(stopped(get)).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await left()).toEqual(["harbour.building"]);
  });
});

describe("a build over the API", () => {
  const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
  const lines = Array.from({ length: 20_000 }, (_, at) =>
    at % 10 === 0
      ? `<urn:x:s${at % 5_000}> ${type} <urn:x:C${at % 3}> .\n`
      : `<urn:x:s${at % 5_000}> <urn:x:p${at % 4}> "${at}" .\n`,
  );
  const queries = [
    { id: "q1", sparql: "SELECT * { ?s a <urn:x:C0> ; <urn:x:p1> ?o ; <urn:x:p2> ?p }" },
    { id: "q2", sparql: "SELECT * { ?s a <urn:x:C1> . ?t a <urn:x:C2> ; <urn:x:p3> ?o }" },
  ];
  let service: RunningService;

  beforeEach(async () => {
    await writeFile(join(workspace.input, "large.nt"), lines.join(""));
    await writeFile(join(workspace.input, "large.json"), JSON.stringify(queries));
    service = await startService({}, { FEDWAY_DATA_DIR: workspace.dataDir });
  });
  afterEach(() => service.close());

  const licence = "https://creativecommons.org/publicdomain/zero/1.0/";
  const stateOf = async (): Promise<string> => {
    const job = (await (await fetch(`${service.url}/api/jobs/build-shards.large`)).json()) as Job;
    return job.state;
  };

  /** Resolves when a part of the work is on the disk. */
  async function begun(): Promise<void> {
    const body = JSON.stringify({ dataset: "large", inputs: ["large.nt"], queries: "large.json", licence });
    const headers = { "content-type": "application/json" };
    const { status } = await fetch(`${service.url}/api/shards`, { method: "POST", headers, body });
    expect(status).toBe(202);
    while (!(await left()).includes("large.building")) await new Promise((done) => setTimeout(done, 2));
  }

  it("leaves nothing when it is cancelled", async () => {
    await begun();
    const { status } = await fetch(`${service.url}/api/jobs/build-shards.large`, { method: "DELETE" });
    expect(status).toBe(204);
    await expect.poll(left).toEqual([]);
    expect(await stateOf()).toBe("cancelled");
  });

  /** Resolves when nobody builds any more: the end of a service does not wait for a slow process of its own. */
  async function unlocked(): Promise<void> {
    const take = () => lockTarget(join(workspace.dataDir, "shards", "large"), { now: () => Date.now() });
    const lock = await eventually(take);
    await lock.release();
  }

  it("goes on after the service has ended and started again", async () => {
    await begun();
    await service.close();
    await unlocked();
    expect(await left()).toEqual(["large.building"]);
    service = await startService({}, { FEDWAY_DATA_DIR: workspace.dataDir });
    await expect.poll(stateOf).toBe("done");
    expect(await left()).toEqual(["large"]);
  });
});
