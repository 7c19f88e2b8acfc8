import { spawnSync } from "node:child_process";
import { readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lockTarget } from "../../../shards/src/target-lock.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const folder = newFolder();

const now = (): number => Date.now();
const leave = (name: string, holder: object): Promise<void> =>
  writeFile(join(folder, `${name}.lock`), JSON.stringify(holder));

async function shouldTake(name: string): Promise<void> {
  const lock = await lockTarget(join(folder, name), { now });
  expect(JSON.parse(await readFile(join(folder, `${name}.lock`), "utf8"))).toMatchObject({ pid: process.pid });
  await lock.release();
  expect((await readdir(folder)).filter((file) => file.startsWith(name))).toEqual([]);
}

describe("the lock of a target", () => {
  it("is there while it is held and gone after it", () => shouldTake("plain"));

  it("is refused while this process holds it", async () => {
    const lock = await lockTarget(join(folder, "twice"), { now });
    await expect(lockTarget(join(folder, "twice"), { now })).rejects.toMatchObject({ code: "SHARDS_BUSY" });
    await lock.release();
    await shouldTake("twice");
  });

  it("has one holder of twenty that want it at once", async () => {
    const asked = await Promise.allSettled(Array.from({ length: 20 }, () => lockTarget(join(folder, "many"), { now })));
    const taken = asked.filter((each) => each.status === "fulfilled");
    expect(taken).toHaveLength(1);
    await taken[0]?.value.release();
  });

  it("is taken over, by one, from a process that is gone", async () => {
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    await leave("gone", { pid, host: hostname(), token: "before" });
    const asked = await Promise.allSettled(Array.from({ length: 10 }, () => lockTarget(join(folder, "gone"), { now })));
    const taken = asked.filter((each) => each.status === "fulfilled");
    expect(taken).toHaveLength(1);
    await taken[0]?.value.release();
  });

  it("is taken over from a process before this one with the same number", async () => {
    await leave("reborn", { pid: process.pid, host: hostname(), token: "before" });
    await shouldTake("reborn");
  });

  it("is taken over when what is there is no lock, after a while", async () => {
    await writeFile(join(folder, "garbage.lock"), "\0\0");
    await utimes(join(folder, "garbage.lock"), 0, 0);
    await shouldTake("garbage");
  });

  it("is left to another machine as long as it gives signs of life", async () => {
    await leave("far", { pid: 1, host: "elsewhere.example", token: "theirs" });
    await expect(lockTarget(join(folder, "far"), { now })).rejects.toMatchObject({ code: "SHARDS_BUSY" });
    await utimes(join(folder, "far.lock"), 0, 0);
    await shouldTake("far");
  });

  it("is not removed by one that lost it", async () => {
    const lock = await lockTarget(join(folder, "lost"), { now });
    await leave("lost", { pid: 1, host: "elsewhere.example", token: "theirs" });
    await lock.release();
    expect(await readFile(join(folder, "lost.lock"), "utf8")).toContain("theirs");
  });
});
