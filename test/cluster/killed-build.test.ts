import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endOf, startBuild, startWholeBuild } from "../support/killed-builds.ts";
import { filesIn } from "../support/shard-build.ts";
import { newFolder } from "../support/scratch-folder.ts";

const folder = newFolder();
afterAll(() => rmSync(folder, { recursive: true }));

const input = join(folder, "in.nt");
const whole = join(folder, "whole");
/** At least one in each phase. */
const kills = Number(process.env["FEDWAY_KILLS"] ?? 8);
const phases = ["learn", "split", "sort", "compress"] as const;

beforeAll(async () => {
  const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
  const lines = Array.from({ length: 30_000 }, (_, index) => {
    const subject = `<x:subject${(index * 7919) % 2_003}>`;
    if (index % 10 === 0) return `${subject} ${type} <x:C${index % 7}> .\n`;
    return `${subject} <x:p${index % 4}> "value ${(index * 31) % 9_001}" .\n`;
  });
  writeFileSync(input, [...lines, ...lines.slice(0, 1_000)].join(""));
  const { manifest } = await endOf(startBuild({ input, target: whole, gzip: true, pauseMs: 0 }));
  expect(manifest?.shards.length).toBeGreaterThan(5);
  expect(manifest?.triples).toBe(30_000);
});

describe("a build that is killed", () => {
  it("ends with the same bytes when it is started again, and shows nothing before", async () => {
    const hits = new Map<string, number>();
    const target = join(folder, "out");
    let killed = 0;
    for (let round = 0; killed < kills; round += 1) {
      const killIn = phases[round % phases.length]!;
      const child = startBuild({ input, target, gzip: true, pauseMs: 15 });
      const end = await endOf(child, { killIn, afterMs: Math.random() * 60 });
      if (end.signal === "SIGKILL") {
        killed += 1;
        hits.set(end.phase ?? "", (hits.get(end.phase ?? "") ?? 0) + 1);
        // The target is there as a whole or not at all.
        if (existsSync(target)) expect(filesIn(target)).toEqual(filesIn(whole));
      } else expect(end.error).toBeUndefined();
      // A build that was done, or that has been killed in each phase, begins anew.
      if (existsSync(target) || round % phases.length === phases.length - 1) {
        const last = await endOf(startBuild({ input, target, gzip: true, pauseMs: 0 }));
        expect(last).toMatchObject({ signal: null, manifest: { triples: expect.any(Number) } });
        expect(filesIn(target)).toEqual(filesIn(whole));
        expect(readdirSync(folder).toSorted()).toEqual(["in.nt", "out", "whole"]);
        rmSync(target, { recursive: true });
      }
    }
    process.stdout.write(`killed in ${JSON.stringify(Object.fromEntries(hits))}\n`);
    for (const phase of phases) expect(hits.get(phase) ?? 0).toBeGreaterThan(0);
  });

  it("leaves nothing when the disk is full", async () => {
    const target = join(folder, "full");
    // No file may grow beyond 256 KiB; the write fails as on a full disk, instead of a signal.
    const end = await endOf(startBuild({ input, target, gzip: false, pauseMs: 0 }, "trap '' XFSZ; ulimit -f 256"));
    expect(end).toMatchObject({ error: "DISK_FULL" });
    expect(["split", "sort"]).toContain(end.phase);
    expect(readdirSync(folder).filter((name) => name.startsWith("full"))).toEqual([]);
  });
});

const example = fileURLToPath(new URL("../fixtures/harbour", import.meta.url));

/** The files of a finished folder without how long the search for the rules took. */
const timeless = (target: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(filesIn(target)).map(([name, text]) => [
      name,
      text.replaceAll(/"seconds": [\d.e-]+/gu, "").replaceAll(/[\d.,]+ (?:m?s|seconds?)\b/gu, ""),
    ]),
  );

describe("a build from its description, killed at any moment", () => {
  const stages = [
    "learning the classes",
    "splitting, and counting what the rules can tell apart",
    "choosing the rules",
    "comparing the readings",
    "sorting",
    "compressing",
  ];

  it("ends with the same shards and the same report, and nothing is there before", async () => {
    const target = join(folder, "harbour");
    const reference = join(folder, "reference");
    expect(await endOf(startWholeBuild({ folder: example, target: reference, pauseMs: 0 }))).toHaveProperty("shards");
    const expected = timeless(reference);
    expect(Object.keys(expected)).toEqual(expect.arrayContaining(["manifest.json", "report.html", "report.json"]));
    const hits = new Map<string, number>();
    let killed = 0;
    for (let round = 0; killed < kills && round < 3 * kills; round += 1) {
      const killIn = stages[round % stages.length]!;
      const child = startWholeBuild({ folder: example, target, pauseMs: 50 });
      const end = await endOf(child, { killIn, afterMs: Math.random() * 40 });
      if (end.signal === "SIGKILL") {
        killed += 1;
        hits.set(end.phase ?? "", (hits.get(end.phase ?? "") ?? 0) + 1);
        if (existsSync(target)) expect(timeless(target)).toEqual(expected);
      } else expect(end.error).toBeUndefined();
      if (existsSync(target) || round % stages.length === stages.length - 1) {
        const last = await endOf(startWholeBuild({ folder: example, target, pauseMs: 0 }));
        expect(last).toMatchObject({ signal: null, shards: expect.any(Number) });
        expect(timeless(target)).toEqual(expected);
        expect(readdirSync(folder).filter((name) => name.startsWith("harbour"))).toEqual(["harbour"]);
        rmSync(target, { recursive: true });
      }
    }
    process.stdout.write(`killed in ${JSON.stringify(Object.fromEntries(hits))}\n`);
    expect(killed).toBe(kills);
    for (const stage of stages) expect(hits.get(stage) ?? 0).toBeGreaterThan(0);
  }, 300_000);
});
