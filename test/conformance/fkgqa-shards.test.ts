import { storeOpener } from "../../src/hosting/file-store.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createShardCommands } from "../../shards/src/service/commands.ts";
import type { BuildResult } from "../../shards/src/build.ts";
import { overviewText } from "../../shards/src/cli/overview-text.ts";
import { overviewOf } from "../../shards/src/report/overview.ts";
import type { ShardReport } from "../../shards/src/report/shard-report.ts";
import { type ShardMode, shardModes } from "../../shards/src/spec.ts";
import { buildPublishedShards } from "../support/published-shards.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { figureRows } from "../../shards/src/report/words.ts";

/** Not part of the project: its licence is share-alike. */
const source = new URL("../../../shared/fkgqa/", import.meta.url);
const isMissing = !existsSync(source);
if (isMissing)
  console.warn("SKIPPED: the nine datasets are not at ../shared/fkgqa, so no shards of theirs were built.");

/** Balanced, guaranteed and paper mode, published of nineteen datasets, of which these are nine. */
const figures: readonly (readonly (string | undefined)[])[] = [
  ["total-shards", "85", "35", "74", "118"],
  [
    "rules",
    "mean 6.44, median 7, 4 to 9",
    "mean 1.67, median 1, 1 to 3",
    "mean 6.11, median 5, 3 to 11",
    "mean 3.7, median 4, 2 to 8",
  ],
  [
    "vertical-share",
    "mean 27.69 %, median 25.00 %, 14.29 % to 50.00 %",
    "mean 70.37 %, median 100 %, 0 % to 100 %",
    "mean 55.32 %, median 60.00 %, 20.00 % to 80.00 %",
    "18.30 %",
  ],
  [
    "class-share",
    "mean 30.71 %, median 28.57 %, 22.22 % to 42.86 %",
    "0 %",
    "mean 5.45 %, median 0 %, 0 % to 20.00 %",
    "30.42 %",
  ],
  [
    "horizontal-share",
    "mean 41.60 %, median 42.86 %, 25.00 % to 50.00 %",
    "mean 29.63 %, median 0 %, 0 % to 100 %",
    "mean 39.23 %, median 33.33 %, 20.00 % to 60.00 %",
    "51.28 %",
  ],
  [
    "shards",
    "mean 9.44, median 8, 7 to 15",
    "mean 3.89, median 3, 3 to 6",
    "mean 8.22, median 7, 6 to 13",
    "mean 6.21, median 6, 3 to 14",
  ],
  [
    "size-variation",
    "mean 1, median 1.02, 0.42 to 1.49",
    "mean 1.06, median 1, 0.46 to 1.86",
    "mean 0.87, median 0.82, 0.24 to 1.54",
    "0.88",
  ],
  [
    "largest-shard",
    "mean 32.46 %, median 27.26 %, 20.00 % to 53.30 %",
    "mean 71.98 %, median 77.98 %, 42.58 % to 90.49 %",
    "mean 34.81 %, median 28.21 %, 17.24 % to 73.51 %",
    undefined,
  ],
  [
    "implied-fan-out",
    "mean 1.88, median 2, 0 to 5",
    "mean 0.38, median 0, 0 to 4",
    "mean 2.35, median 2, 2 to 6",
    "mean 6.48, median 6, 2 to 14",
  ],
  ...["relevant-fan-out", "realised-fan-out"].map((id) => [
    id,
    "mean 3.59, median 3, 0 to 8",
    "mean 2.39, median 2, 0 to 6",
    "mean 3.26, median 3, 0 to 8",
    undefined,
  ]),
  ["no-match-by-solutions", "2.69 %", "2.69 %", "2.69 %", "4.84 %"],
  ["no-match", "0.17 %", "0.17 %", "0.17 %", undefined],
  ["one-shard", "0 %", "0 %", "0 %", "24.49 %"],
  ["two-shards", "27.06 %", "78.99 %", "45.38 %", undefined],
  ["federated", "99.83 %", "99.83 %", "99.83 %", undefined],
  ["answered-alone", "1.55 %", "5.70 %", "16.93 %", undefined],
];

const root = newFolder();

const signal = new AbortController().signal;
const onProgress = (): void => {};

/** Triples, questions, and what cannot be federated: one query of `airlines` cannot have an answer. */
const table: readonly (readonly [string, number, number, readonly string[]])[] = [
  ["battle_death", 210, 16, []],
  ["car_1", 6_483, 92, ["q0179"]],
  ["concert_singer", 212, 45, []],
  ["dog_kennels", 789, 82, []],
  ["flight_2", 11_460, 80, []],
  ["network_1", 278, 56, []],
  ["pets_1", 336, 42, []],
  ["tvshow", 390, 62, []],
  ["world_1", 38_148, 120, []],
];

const buildIn = (mode: ShardMode, dataset: string): Promise<BuildResult> =>
  buildPublishedShards(dataset, { mode, output: join(root, mode, dataset), answersMs: 600_000, signal });

/** A LIMIT in a subselect cuts through rows of equal rank: the answer depends on the order in which a store has the triples. */
const ties: ReadonlySet<string> = new Set(["q0160"]);

const builds = new Map<string, Promise<BuildResult>>();

/** Each is built once, for the first test that asks for it. */
function build(mode: ShardMode, dataset: string): Promise<BuildResult> {
  const known = builds.get(`${mode} ${dataset}`) ?? buildIn(mode, dataset);
  builds.set(`${mode} ${dataset}`, known);
  return known;
}

describe.skipIf(isMissing)("the nine datasets, built in balanced mode", () => {
  it.each(table)(
    "%s is whole, and all its questions that can be are federated",
    async (...expected) => {
      const [dataset, triples, questions, notFederated] = expected;
      const { report, folder = "" } = await build("balanced", dataset);
      expect(report).toMatchObject({ optimum: { proven: true }, statistics: { triples, questions } });
      expect(report.leftOut).toEqual([]);
      expect(report.rules.flatMap(({ iris }) => iris).filter((iri) => iri.endsWith("#type"))).toEqual([]);
      const costs = new Map(report.optimum.criteria?.map(({ name, cost }) => [name, cost]));
      // Federation alone asks for more shards than are wanted.
      expect(costs.get("fewest_surplus_shards")).toBe(Math.max(0, report.statistics.shards - 8));
      expect(costs.get("fewest_unfederated")).toBe(0);
      expect(report.queries.filter(({ federated }) => !federated).map(({ id }) => id)).toEqual(notFederated);
      const { checks } = await createShardCommands(root, storeOpener).verify(folder, {
        inputs: [],
        answers: true,
        signal,
        onProgress,
      });
      const { answers, ...outcomes } = Object.fromEntries(checks.map((check) => [check.name, check]));
      expect(Object.entries(outcomes).map(([name, { outcome }]) => `${name} ${outcome}`)).toEqual([
        "files held",
        "disjoint held",
        "complete held",
        "placement held",
        "federated held",
        "hosted held",
      ]);
      expect(answers).toMatchObject({ wrong: 0 });
      const unknown = answers?.findings.map(({ subject }) => subject) ?? [];
      expect(unknown.filter((id) => !ties.has(id))).toEqual([]);
      expect(answers?.checked).toBe(report.queries.length - unknown.length);
    },
    300_000,
  );
});

describe.skipIf(isMissing)("the nine datasets side by side", () => {
  it("have these figures in each mode beside the published ones of all nineteen", async () => {
    const reports: ShardReport[] = [];
    for (const mode of shardModes) {
      for (const [dataset] of table) reports.push((await build(mode, dataset)).report);
    }
    const overview = overviewOf(reports);
    console.info(overviewText(overview));
    expect(overview.groups.map(({ title, datasets }) => [title, datasets])).toEqual([
      ["balanced mode, reading literal", 9],
      ["guaranteed mode, reading literal", 9],
      ["paper mode, reading literal", 9],
    ]);
    const rows = figureRows(overview.groups).map(({ id, values, published }) => [id, values, published].flat());
    expect(rows).toEqual(figures);
  }, 600_000);
});
