import { execFileSync } from "node:child_process";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { lockTarget } from "../../shards/src/target-lock.ts";
import { openWorkspace, type ShardWorkspace } from "../support/shard-workspace.ts";

let workspace: ShardWorkspace;
beforeEach(async () => {
  workspace = await openWorkspace();
});

/** Nothing is left but what was there, besides work that another build goes on with. */
async function shouldRefuse(code: string, message: RegExp): Promise<void> {
  await expect(workspace.build()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  const left = await readdir(join(workspace.dataDir, "shards")).catch(() => []);
  expect(left).toEqual([]);
}

const write = (name: string, text: string): Promise<void> => writeFile(join(workspace.input, name), text);

describe("a build refuses", () => {
  it.each<[string, () => Promise<unknown>, string, RegExp]>([
    ["an unknown field", () => workspace.describe({ quries: "q.json" }), "REQUEST_INVALID", /unknown field "quries"/],
    ["a description that is no JSON", () => write("spec.json", "{"), "REQUEST_INVALID", /not JSON/],
    ["no queries", () => write("queries.json", "[]"), "REQUEST_INVALID", /quer/i],
    ["queries of which none parses", () => write("queries.json", '[{"sparql": "SELECT"}]'), "REQUEST_INVALID", /quer/i],
    [
      "a graph that does not parse, with the line",
      () => write("harbour.nt", "<urn:x:1> <urn:x:p> <urn:x:2> .\n<urn:x:1> nonsense .\n"),
      "DATASET_INVALID",
      /harbour\.nt, line 2/,
    ],
    [
      "a reading that is not known",
      () => workspace.describe({ reading: "poetic" }),
      "REQUEST_INVALID",
      /no reading "poetic"/,
    ],
  ])("%s", async (_, spoil, code, message) => {
    await spoil();
    await shouldRefuse(code, message);
  });

  it.each(["harbour.nt", "queries.json", "spec.json"])(
    "a pipe that has no writer, instead of waiting for one: %s",
    async (name) => {
      await rm(join(workspace.input, name));
      execFileSync("mkfifo", [join(workspace.input, name)]);
      await expect(workspace.build()).rejects.toMatchObject({
        message: expect.stringMatching(/(?:not a|no) (?:regular )?file/u),
      });
    },
  );

  it("a path that leads out by a link", async () => {
    await rm(join(workspace.input, "harbour.nt"));
    await symlink("/etc/hostname", join(workspace.input, "harbour.nt"));
    await shouldRefuse("REQUEST_INVALID", /leads out of the folders that may be read/);
  });

  it("a target with something else in it", async () => {
    const target = join(workspace.dataDir, "mine");
    await mkdir(target);
    await writeFile(join(target, "thesis.txt"), "years of work");
    await expect(workspace.build({ output: target })).rejects.toMatchObject({ code: "REQUEST_INVALID" });
    expect(await readdir(target)).toEqual(["thesis.txt"]);
  });

  it("a target that another build is working on", async () => {
    const target = join(workspace.dataDir, "shards", "harbour");
    const lock = await lockTarget(target, { now: () => Date.now() });
    await expect(workspace.build()).rejects.toMatchObject({ code: "SHARDS_BUSY" });
    await lock.release();
    expect((await workspace.build()).folder).toBe(target);
  });
});

describe("a build that fails", () => {
  it("leaves nothing", async () => {
    const failed = workspace.build({
      onProgress: ({ stage }) => {
        if (stage === "choosing the rules") throw new Error("out of luck");
      },
    });
    await expect(failed).rejects.toThrow("out of luck");
    expect(await readdir(join(workspace.dataDir, "shards"))).toEqual([]);
  });
});

describe("a dry run", () => {
  it("predicts and writes nothing", async () => {
    const { folder, report } = await workspace.build({ dryRun: true });
    expect(folder).toBeUndefined();
    expect(await readdir(workspace.dataDir)).toEqual(["shards-input"]);
    const { report: written } = await (await openWorkspace()).build();
    const sizes = (shards: typeof report.shards) => shards.map(({ key, triples }) => ({ key, triples }));
    expect(report.predicted).toBe(true);
    expect(sizes(report.shards)).toEqual(sizes(written.shards));
  });
});

describe("the paper's mode", () => {
  it("follows the method as it is published", async () => {
    await workspace.describe({ reading: "literal" });
    const { report } = await workspace.build({ fields: { mode: "paper" } });
    expect(report).toMatchObject({ mode: "paper", reading: { name: "literal" }, optimum: { proven: true } });
    expect(report.readings.map(({ reading }) => reading.name)).toContain("single-class");
    expect(report.readings.filter(({ used }) => used)).toHaveLength(1);
  });
});
