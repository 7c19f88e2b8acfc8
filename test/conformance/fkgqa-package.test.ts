import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  fault,
  hostPackages,
  makePackage,
  packagedQueries,
  throughComunica,
  throughFedway,
} from "../support/benchmark-package.ts";
import type { Audit } from "../../shards/src/audit/audit-queries.ts";
import { readManifest } from "../../shards/src/materialise/manifest.ts";
import { buildPublishedShards, hasPublishedData, publishedQueries } from "../support/published-shards.ts";
import { createRandom } from "../support/random.ts";
import type { RunningService } from "../support/running-service.ts";
import { newFolder } from "../support/scratch-folder.ts";

if (!hasPublishedData) console.warn("SKIPPED: the nine datasets are not at ../shared/fkgqa, so none was packaged.");

/** Datasets in balanced mode: shards, and how many queries have which outcome; all others have none. */
const balanced: readonly (readonly [dataset: string, shards: number, outcomes: Readonly<Record<string, number>>])[] = [
  ["battle_death", 8, { answered: 16 }],
  ["car_1", 8, { answered: 15 }],
  ["concert_singer", 8, { answered: 23, empty: 1 }],
  ["dog_kennels", 15, { answered: 41, empty: 1 }],
  ["flight_2", 9, { answered: 15 }],
  ["network_1", 8, { answered: 27, empty: 1 }],
  ["pets_1", 7, { answered: 20, empty: 1 }],
  ["tvshow", 10, { answered: 31, empty: 1 }],
  ["world_1", 7, { answered: 12 }],
];

/** Queries that are asked, of datasets in which all would take too long; whose queries take over 5 s alone are left out. */
const samples: Readonly<Record<string, { readonly size: number; readonly without: readonly string[] }>> = {
  car_1: { size: 15, without: [] },
  flight_2: { size: 15, without: [] },
  world_1: { size: 12, without: ["q0711", "q0741", "q0745", "q0765", "q0767", "q0785"] },
};

/** Forms over the shards that do not give the gold answer, and why. */
const unequal: Readonly<Record<string, { readonly owner: string; readonly reason: string }>> = {};

function sampleOf(dataset: string): ReadonlySet<string> | undefined {
  const sample = samples[dataset];
  if (sample === undefined) return undefined;
  const random = createRandom(16);
  const left = publishedQueries(dataset).filter(({ questions }) => !sample.without.some((id) => id in questions));
  const picked = Array.from({ length: sample.size }, () => left.splice(random.below(left.length), 1)).flat();
  return new Set(picked.flatMap(({ questions }) => Object.keys(questions)));
}

describe.skipIf(!hasPublishedData)("the balanced package of a published dataset", () => {
  it.each(balanced)("%s: gold and trivial queries give the gold answer over its shards", async (...row) => {
    const [dataset, shardCount, outcomes] = row;
    const shards = join(newFolder(), dataset);
    const questions = sampleOf(dataset);
    await buildPublishedShards(dataset, { mode: "balanced", output: shards, ...(questions && { questions }) });
    const { folder, manifest } = await makePackage(shards);
    const queries = await packagedQueries(folder);
    const faults = queries.flatMap(({ questions: [id], checked, outcome }) =>
      (["gold", "trivial"] as const)
        .filter((form) => checked?.[form] !== "equal")
        .map((form) => `${id} ${form}: ${checked?.[form] ?? outcome}`),
    );
    const tied = queries.filter(({ answer }) => answer?.alternatives !== undefined).flatMap((query) => query.questions);
    process.stdout.write(`${dataset}: ${JSON.stringify(manifest.outcomes)} ${faults.join(", ")} ${tied.join(" ")}\n`);
    expect(faults.filter((each) => unequal[each] === undefined)).toEqual([]);
    expect([(await readManifest(shards)).shards.length, manifest.outcomes]).toEqual([shardCount, outcomes]);
    const { questions: flagged } = JSON.parse(readFileSync(join(folder, "audit.json"), "utf8")) as Audit;
    const cut = flagged.filter(({ flags }) => flags.some(({ name }) => name === "limit-cuts-ties"));
    expect(cut.map(({ id }) => id)).toEqual(expect.arrayContaining(tied));
  });
});

/** Dataset, its different queries and its questions; the example's package is asked the same, by itself and by other engines. */
const table: readonly (readonly [string, number, number])[] = [["concert_singer", 24, 45]];

/** Queries of which a form gives another answer, and why. */
const exceptions: Readonly<Record<string, string>> = {};

describe.skipIf(!hasPublishedData)("the package of a published dataset", () => {
  const folders = new Map<string, string>();
  let service: RunningService;
  beforeAll(async () => {
    for (const [dataset] of table) {
      const shards = join(newFolder(), dataset);
      // Few shards, so that all of them are hosted at once.
      await buildPublishedShards(dataset, { mode: "guaranteed", output: shards });
      folders.set(dataset, (await makePackage(shards)).folder);
    }
    service = await hostPackages(...folders.values());
  });
  afterAll(() => service?.close());

  it.each(table)("%s: gold and trivial queries give the gold answer", async (dataset, count, questions) => {
    const queries = await packagedQueries(folders.get(dataset) ?? "");
    expect([queries.length, queries.flatMap((query) => query.questions).length]).toEqual([count, questions]);
    const faults: string[] = [];
    const [fedway, comunica] = [throughFedway(service), throughComunica(service)];
    for (const query of queries) {
      const asked = [
        ["gold", query.gold, fedway],
        ["trivial", query.trivial, fedway],
        ["Comunica", query.gold, comunica],
      ] as const;
      for (const [name, text, ask] of asked) {
        const why = await fault(query, text, ask);
        if (why !== undefined && exceptions[`${query.id} ${name}`] === undefined)
          faults.push(`${query.id} ${name}: ${why}`);
      }
    }
    const empty = queries.filter(({ outcome }) => outcome === "empty").length;
    const cut = queries.filter(({ answer }) => answer?.kind === "bindings" && answer.cutsTies === true).length;
    process.stdout.write(`${dataset}: ${count} queries, ${empty} empty, ${cut} with LIMIT through ties\n`);
    expect(faults).toEqual([]);
    expect(queries.every(({ outcome }) => outcome === "answered" || outcome === "empty")).toBe(true);
  });
});
