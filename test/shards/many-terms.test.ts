import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { ShardReport } from "../../shards/src/report/shard-report.ts";
import { createShardCommands } from "../../shards/src/service/commands.ts";
import { storeOpener } from "../../src/hosting/file-store.ts";
import { writeSkewedDataset } from "../bench/shards/skewed-dataset.ts";
import { newFolder } from "../support/scratch-folder.ts";

const folder = newFolder();
const commands = createShardCommands(folder, storeOpener);
const { signal } = new AbortController();
let report: ShardReport;

beforeAll(async () => {
  const spec = await writeSkewedDataset(folder, { classes: 120, subjects: 4_000, queries: 120 });
  const [built] = await commands.build(spec, { dryRun: false, allow: [], signal, onProgress: () => {} });
  report = built!.report;
}, 120_000);

describe("a dataset whose questions name too many classes for a rule about each", () => {
  it("has few shards, none of which holds most of it or answers many queries alone", () => {
    const { shards, queries } = report;
    expect(shards.length).toBeGreaterThanOrEqual(6);
    expect(shards.length).toBeLessThanOrEqual(16);
    expect(Math.max(...shards.map(({ share = 0 }) => share))).toBeLessThanOrEqual(0.4);
    expect(queries.filter(({ source }) => source === undefined)).toEqual([]);
    expect(queries.filter(({ source }) => source === "one-shard").length).toBeLessThanOrEqual(12);
  });

  it("has rules of each kind", () =>
    expect(new Set(report.rules.map(({ kind }) => kind))).toEqual(new Set(["vertical", "class", "horizontal"])));

  it("claims no proof for a choice among groups", () => {
    const { proven, lowerBound, criteria = [] } = report.optimum;
    expect({ proven, lowerBound }).toEqual({ proven: false, lowerBound: 1 });
    expect(criteria.filter((each) => each.proven && each.cost > 0)).toEqual([]);
  });

  it("names the members of its groups in the report's page", () =>
    expect(readFileSync(join(folder, "shards", "report.html"), "utf8")).toMatch(/\(and \d+ more\)/u));

  it("is verified by its manifest", async () => {
    const options = { inputs: [], answers: true, signal, onProgress: () => {} };
    const { outcome } = await commands.verify(join(folder, "shards"), options);
    expect(outcome).toBe("held");
  }, 120_000);
});
