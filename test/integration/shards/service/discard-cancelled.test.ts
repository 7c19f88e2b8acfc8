import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { discardCancelled } from "../../../../shards/src/service/build-jobs.ts";
import type { Job, JobState } from "../../../../src/jobs/job-queue.ts";
import { lockTarget } from "../../../../shards/src/target-lock.ts";
import { newFolder } from "../../../support/scratch-folder.ts";

const finishedAt = "2026-03-01T12:00:00.000Z";
const at = (seconds: number): Date => new Date(Date.parse(finishedAt) + seconds * 1_000);

let root: string;
beforeEach(async () => {
  root = newFolder();
});

/** What a build left, with the moment of its last change. */
async function leave(name: string, seconds: number): Promise<void> {
  await mkdir(join(root, name));
  await writeFile(join(root, name, "state.json"), "{}");
  await utimes(join(root, name), at(seconds), at(seconds));
}

const jobsWith = (job: Partial<Job> | undefined) => ({
  get: async (id: string): Promise<Job | undefined> =>
    job && {
      id,
      kind: "build-shards",
      state: "cancelled",
      payload: {},
      attempts: 1,
      createdAt: finishedAt,
      finishedAt,
      ...job,
    },
});

describe("what a build left", () => {
  it("goes when its job was cancelled after it, and nothing else does", async () => {
    for (const name of ["one.building", "one", "two"]) await leave(name, -10);
    await leave("two.building", 3_600);
    await discardCancelled(root, jobsWith({}));
    expect((await readdir(root)).toSorted()).toEqual(["one", "two", "two.building"]);
  });

  it("goes also when the cancelled run wrote for a moment longer", async () => {
    await leave("one.building", 20);
    await discardCancelled(root, jobsWith({}));
    expect(await readdir(root)).toEqual([]);
  });

  const states: readonly JobState[] = ["waiting", "running", "done", "failed"];
  it.each(states)("stays when its job is %s", async (state) => {
    await leave("one.building", -10);
    await discardCancelled(root, jobsWith({ state }));
    expect(await readdir(root)).toEqual(["one.building"]);
  });

  it("stays when no job is known, as that of a command", async () => {
    await leave("one.building", -10);
    await discardCancelled(root, jobsWith(undefined));
    expect(await readdir(root)).toEqual(["one.building"]);
  });

  it("stays while another build is at work on it", async () => {
    await leave("one.building", -10);
    const lock = await lockTarget(join(root, "one"), { now: () => Date.now() });
    await discardCancelled(root, jobsWith({}));
    expect(await readdir(root)).toContain("one.building");
    await lock.release();
    await discardCancelled(root, jobsWith({}));
    expect(await readdir(root)).toEqual([]);
  });

  it("is none where there is no folder of shards", async () => {
    await expect(discardCancelled(join(root, "none"), jobsWith({}))).resolves.toBeUndefined();
  });
});
