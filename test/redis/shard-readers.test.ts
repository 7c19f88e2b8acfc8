import { shardRunner } from "../../shards/src/plugin.ts";
import { storeOpener } from "../../src/hosting/file-store.ts";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  queueReaders,
  type ReaderFolders,
  readerKinds,
  sharingReaders,
} from "../../shards/src/service/slice-readers.ts";
import { runBuild } from "../../shards/src/service/commands.ts";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { createBullmqJobQueue } from "../../src/jobs/bullmq/bullmq-job-queue.ts";
import type { JobKind, JobQueue } from "../../src/jobs/job-queue.ts";
import { readShardSpec } from "../../shards/src/spec.ts";
import { type LocatedSpec, locateSpec } from "../../shards/src/spec-paths.ts";
import { exampleFolder } from "../support/shard-workspace.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { filesIn } from "../support/shard-build.ts";
import { newFolder } from "../support/scratch-folder.ts";

let redis: RedisServer;
let dataDir: string;
let inputs: string;
const queues: JobQueue[] = [];

beforeAll(async () => {
  redis = await startRedis();
  dataDir = realpathSync(newFolder());
  inputs = join(dataDir, "shards-input");
  await cp(exampleFolder, inputs, { recursive: true });
  mkdirSync(join(dataDir, "shards"));
  // Much of it: the example's subjects again and again under other names, and some lines twice.
  const lines = Array.from({ length: 4_000 }, (_, index) => {
    const subject = `<http://example.org/more/${(index * 7919) % 401}>`;
    if (index % 8 === 0)
      return `${subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/more#C${index % 5}> .\n`;
    return `${subject} <http://example.org/more#p${index % 4}> "value ${index % 611}" .\n`;
  });
  writeFileSync(join(inputs, "more.nt"), [...lines, ...lines.slice(0, 300)].join(""));
});
afterEach(async () => {
  await Promise.all(queues.splice(0).map((queue) => queue.close(100)));
});
afterAll(async () => {
  await redis.stop();
});

const runTask = shardRunner({ limits: { shardMemoryMb: 256 } });
const folders: ReaderFolders = { inputs: async () => inputs, target: (dataset) => join(dataDir, "shards", dataset) };

/** Kinds that note which parts were begun here, and wait a moment so that others get parts too. */
function notingKinds(begun: number[], hold: (slice: number) => Promise<void>): readonly JobKind[] {
  const noting = (kind: JobKind): JobKind => ({
    ...kind,
    async run(payload, context) {
      const { slice } = payload as { slice?: number };
      if (slice !== undefined) {
        begun.push(slice);
        await hold(slice);
      }
      return kind.run(payload, context);
    },
  });
  return readerKinds(folders, runTask).map(noting);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function openQueue(prefix: string, kinds: readonly JobKind[], work: boolean): Promise<JobQueue> {
  const queue = createBullmqJobQueue({ url: redis.url, prefix, leaseMs: 1_000, stalledMs: 500, lookMs: 50 });
  await queue.start(kinds, { work });
  queues.push(queue);
  return queue;
}

async function specOf(dataset: string): Promise<LocatedSpec> {
  const description = {
    dataset,
    title: "Harbour and more",
    licence: "https://creativecommons.org/publicdomain/zero/1.0/",
    inputs: ["harbour.nt", "more.nt"],
    queries: "queries.json",
  };
  return locateSpec(readShardSpec(description), {
    baseDir: inputs,
    readable: [inputs],
    output: folders.target(dataset),
    writable: [],
  });
}

async function build(
  dataset: string,
  jobs?: JobQueue,
  { signal = new AbortController().signal, patienceMs = 60_000 } = {},
) {
  const stages = new Set<string>();
  const read = jobs && queueReaders({ jobs, dataset: "split", patienceMs });
  const readers = read && sharingReaders({ sliceBytes: 32_000, inputs }, read);
  const { report } = await runBuild(await specOf(dataset), {
    openStores: storeOpener,
    dryRun: false,
    signal,
    onProgress: ({ stage }) => void stages.add(stage),
    ...(readers && { readers }),
  });
  return { report, stages };
}

/** The shards themselves; the manifest and the report name the dataset. */
const shardsIn = (dataset: string): Readonly<Record<string, string>> =>
  filesIn(join(folders.target(dataset), "shards"));

/** Takes the shards away, and what a build that did not end has gathered for the next one. */
async function clear(): Promise<void> {
  const shards = join(dataDir, "shards");
  const others = (await readdir(shards)).filter((name) => name !== "whole");
  await Promise.all(others.map((name) => rm(join(shards, name), { recursive: true, force: true })));
}

describe("a build whose inputs several workers read", () => {
  it("has parts read on all workers, and ends with the bytes of a build by one", async () => {
    await clear();
    await build("whole");
    const [first, second]: [number[], number[]] = [[], []];
    const jobs = await openQueue("flow:", readerKinds(folders, runTask), false);
    await openQueue(
      "flow:",
      notingKinds(first, () => pause(50)),
      true,
    );
    await openQueue(
      "flow:",
      notingKinds(second, () => pause(50)),
      true,
    );
    const { report } = await build("split", jobs);
    expect(first.length).toBeGreaterThan(0);
    expect(second.length).toBeGreaterThan(0);
    const parts = [...first, ...second].toSorted((left, right) => left - right);
    expect(parts).toEqual(Array.from(parts, (_, index) => index));
    expect(parts.length).toBeGreaterThan(10);
    expect(shardsIn("split")).toEqual(shardsIn("whole"));
    expect(report.statistics.triples).toBeGreaterThan(1_000);
    expect((await readdir(join(dataDir, "shards"))).toSorted()).toEqual(["split", "whole"]);
    const flow = (await jobs.list({ kind: "gather-slices" }))[0];
    expect(flow).toMatchObject({ state: "done" });
    expect(flow?.children).toHaveLength(parts.length);
  });

  it("goes on without a worker that is gone, and reads no finished part again", async () => {
    await clear();
    const [lost, kept]: [number[], number[]] = [[], []];
    const jobs = await openQueue("lost:", readerKinds(folders, runTask), false);
    const hanging = await openQueue(
      "lost:",
      notingKinds(lost, (slice) => pause(slice % 3 === 1 ? 3_600_000 : 1)),
      true,
    );
    const building = build("split", jobs);
    await expect.poll(() => lost.some((slice) => slice % 3 === 1)).toBe(true);
    await hanging.close(0);
    await openQueue(
      "lost:",
      notingKinds(kept, () => pause(1)),
      true,
    );
    await building;
    expect(shardsIn("split")).toEqual(shardsIn("whole"));
    const twice = lost.filter((slice) => kept.includes(slice));
    expect(twice.length).toBeLessThanOrEqual(1);
    expect(kept.length).toBeGreaterThan(0);
  });

  it("ends its parts when it is cancelled, and a new build goes on with those that are done", async () => {
    await clear();
    const [first, second]: [number[], number[]] = [[], []];
    const jobs = await openQueue("cancel:", readerKinds(folders, runTask), false);
    await openQueue(
      "cancel:",
      notingKinds(first, (slice) => pause(slice >= 4 ? 3_600_000 : 1)),
      true,
    );
    const aborter = new AbortController();
    const cancelled = build("split", jobs, { signal: aborter.signal });
    await expect.poll(() => first.some((slice) => slice >= 4)).toBe(true);
    aborter.abort(new Error("enough"));
    await expect(cancelled).rejects.toThrow("enough");
    const open = async (): Promise<number> => {
      const all = await jobs.list({ limit: 1_000 });
      return all.filter(({ state }) => state === "waiting" || state === "running").length;
    };
    await expect.poll(open).toBe(0);
    await openQueue(
      "again:",
      notingKinds(second, () => pause(1)),
      true,
    );
    const again = await openQueue("again:", readerKinds(folders, runTask), false);
    await build("split", again);
    expect(shardsIn("split")).toEqual(shardsIn("whole"));
    expect(second.length).toBeGreaterThan(0);
    for (const slice of [0, 1]) expect(second).not.toContain(slice);
  });

  /** A queue whose store fails at the first questions after a job. */
  const failing = (jobs: JobQueue, times: number, onFailure: () => void): JobQueue => ({
    ...jobs,
    async get(id) {
      if (times-- <= 0) return jobs.get(id);
      onFailure();
      throw new FedwayError("STORE_FAILED", "Redis is away.");
    },
  });

  it("goes on when the store comes back", async () => {
    await clear();
    const jobs = await openQueue("away:", readerKinds(folders, runTask), true);
    let failures = 0;
    await build(
      "split",
      failing(jobs, 3, () => failures++),
    );
    expect(failures).toBe(3);
    expect(shardsIn("split")).toEqual(shardsIn("whole"));
  });

  it("ends when the store stays away, and so does waiting for it when the build is cancelled", async () => {
    await clear();
    const jobs = await openQueue("gone:", readerKinds(folders, runTask), true);
    const gone = failing(jobs, Number.POSITIVE_INFINITY, () => {});
    await expect(build("split", gone, { patienceMs: 10 })).rejects.toMatchObject({ code: "STORE_FAILED" });
    const leaving = new AbortController();
    const left = failing(jobs, Number.POSITIVE_INFINITY, () => leaving.abort(new Error("cancelled by hand")));
    await expect(build("split", left, { signal: leaving.signal })).rejects.toThrow("cancelled by hand");
    expect(await readdir(join(dataDir, "shards"))).not.toContain("split");
  });

  it("says which part of the inputs is wrong", async () => {
    await clear();
    const jobs = await openQueue("wrong:", readerKinds(folders, runTask), false);
    const begun: number[] = [];
    const changed = join(inputs, "more.nt");
    let change: Promise<void> | undefined;
    await openQueue(
      "wrong:",
      // Whoever reads, reads what was changed: no part is quicker than the copy.
      notingKinds(begun, () => (change ??= cp(join(inputs, "harbour.nt"), changed))),
      true,
    );
    await expect(build("split", jobs)).rejects.toMatchObject({
      code: "DATASET_INVALID",
      message: expect.stringContaining("more.nt: the file was changed"),
    });
    expect(await readdir(join(dataDir, "shards"))).toEqual(["whole"]);
  });
});
