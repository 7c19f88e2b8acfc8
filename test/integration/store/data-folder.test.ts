import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { dataFolderHolder, holdDataFolder } from "../../../src/store/data-folder.ts";
import { newFolder } from "../../support/scratch-folder.ts";

/** Starts a process that takes the folder; resolves to it and its first line. */
async function hold(path: string, url = ""): Promise<{ child: ChildProcess; said: string }> {
  const program = new URL("hold-folder.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, path, url], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  if (child.stdout === null) throw new Error("the process has no output");
  const [chunk] = await once(child.stdout, "data");
  return { child, said: String(chunk).trim() };
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

describe("a data folder", () => {
  it("is created, for its owner only", async () => {
    const path = join(newFolder(), "new", "data");
    const folder = await holdDataFolder(path);
    onTestFinished(() => folder.release());
    expect(folder.path).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });
  it.runIf(process.platform === "linux")(
    "below a folder in which nothing can be made is an error, at once",
    async () => {
      await expect(holdDataFolder("/proc/fedway/data")).rejects.toMatchObject({
        code: "STORE_FAILED",
        message: "The data folder /proc/fedway/data cannot be created or written to.",
      });
    },
  );
  it("has one owner within a process too", async () => {
    const path = newFolder();
    const folder = await holdDataFolder(path, new Date("2026-01-02T03:04:05Z"));
    await expect(holdDataFolder(path)).rejects.toMatchObject({
      code: "STORE_HELD",
      message: `Process ${process.pid} holds the data folder since 2026-01-02T03:04:05.000Z.`,
    });
    expect(await dataFolderHolder(path)).toEqual({ pid: process.pid, startedAt: "2026-01-02T03:04:05.000Z" });
    await folder.release();
    await folder.release();
    expect(await dataFolderHolder(path)).toBeUndefined();
    await (await holdDataFolder(path)).release();
  });
  it("says where its owner answers", async () => {
    const path = newFolder();
    const { child, said } = await hold(path, "http://127.0.0.1:3000");
    expect(said).toBe("held");
    await expect(holdDataFolder(path)).rejects.toMatchObject({
      code: "STORE_HELD",
      message: expect.stringContaining(`Process ${child.pid} holds the data folder`),
      details: { next: expect.stringContaining("http://127.0.0.1:3000") },
    });
    const holder = { pid: child.pid, url: "http://127.0.0.1:3000", startedAt: expect.any(String) };
    expect(await dataFolderHolder(path)).toEqual(holder);
  });
  it("is free at once when its owner was killed, and free of the dead one's name", async () => {
    const path = newFolder();
    const { child } = await hold(path, "http://127.0.0.1:3000");
    await killed(child);
    expect(await dataFolderHolder(path)).toBeUndefined();
    const folder = await holdDataFolder(path);
    onTestFinished(() => folder.release());
    expect(await dataFolderHolder(path)).toMatchObject({ pid: process.pid });
  });
  it("keeps a second process out", async () => {
    const path = newFolder();
    const folder = await holdDataFolder(path);
    onTestFinished(() => folder.release());
    expect((await hold(path)).said).toBe("STORE_HELD");
  });
  it.each([
    ["nothing", ""],
    ["no JSON", "{"],
    ["other JSON", '{"pid":"x"}'],
    ["too much", `"${"x".repeat(9_000)}"`],
  ])("is held all the same when its owner's note has %s", async (_, note) => {
    const path = newFolder();
    const folder = await holdDataFolder(path);
    onTestFinished(() => folder.release());
    writeFileSync(join(path, "owner.json"), note);
    expect(await dataFolderHolder(path)).toBe("unknown");
    await expect(holdDataFolder(path)).rejects.toMatchObject({ message: "Another process holds the data folder." });
  });
  it("that nobody ever held is not created by a look at it", async () => {
    const path = join(newFolder(), "data");
    expect(await dataFolderHolder(path)).toBeUndefined();
    expect(existsSync(path)).toBe(false);
  });
  it("that cannot be made is a clear failure", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    const failure = { code: "STORE_FAILED", message: expect.stringContaining("data folder") };
    await expect(holdDataFolder(join(file, "data"))).rejects.toMatchObject(failure);
    const closed = newFolder();
    if (process.getuid?.() === 0) return;
    chmodSync(closed, 0o500);
    await expect(holdDataFolder(closed)).rejects.toMatchObject(failure);
  });
});
