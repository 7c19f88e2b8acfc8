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
import { buildPublishedShards, hasPublishedData } from "../support/published-shards.ts";
import type { RunningService } from "../support/running-service.ts";
import { newFolder } from "../support/scratch-folder.ts";

if (!hasPublishedData) console.warn("SKIPPED: the nine datasets are not at ../shared/fkgqa, so none was packaged.");

/** Dataset, its different queries and its questions. */
const table: readonly (readonly [string, number, number])[] = [
  ["battle_death", 16, 16],
  ["concert_singer", 24, 45],
  ["pets_1", 21, 42],
];

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
