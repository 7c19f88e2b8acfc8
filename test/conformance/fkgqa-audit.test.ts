import { describe, expect, it } from "vitest";
import { audit, openDataset, recallOf } from "../support/audited-dataset.ts";
import { type FaultKind, faultKinds } from "../support/planted-faults.ts";
import { hasPublishedData, publishedFile, publishedQueries } from "../support/published-shards.ts";
import { createRandom } from "../support/random.ts";

if (!hasPublishedData) console.warn("SKIPPED: the nine datasets are not at ../shared/fkgqa, so none was audited.");

/** Datasets with their questions, and those that are flagged; each flag was looked through by hand. */
const table: readonly (readonly [dataset: string, questions: number, flagged: string])[] = [
  ["battle_death", 16, "q0494 q0501"],
  ["concert_singer", 45, "q0015 q0016 q0025 q0026 q0027 q0028 q0044 q0045"],
  ["pets_1", 42, "q0048 q0049 q0052 q0053 q0060 q0061 q0067"],
  ["tvshow", 62, "q0616 q0617 q0642 q0643"],
  [
    "car_1",
    92,
    "q0096 q0097 q0108 q0109 q0120 q0121 q0126 q0127 q0132 q0133 q0136 q0137 q0142 q0143 q0154 q0160 q0161 q0166 q0167 q0179",
  ],
];

describe.skipIf(!hasPublishedData)("the audit of published questions", () => {
  const counts = new Map<FaultKind, { found: number; all: number }>();

  it.each(table)("%s: flags what is doubtful", async (dataset, count, doubtful) => {
    const store = await openDataset(publishedFile(`data/${dataset}.nt`));
    try {
      const queries = publishedQueries(dataset);
      const { questions } = await audit(store, queries);
      const flagged = new Set(questions.map(({ id }) => id));
      expect(queries.flatMap((query) => Object.keys(query.questions))).toHaveLength(count);
      expect([...flagged].toSorted().join(" ")).toBe(doubtful);
      const right = queries.filter((query) => !Object.keys(query.questions).some((id) => flagged.has(id)));
      const planted = await recallOf(store, right, createRandom(7));
      for (const [kind, { found, all }] of planted.counts) {
        const known = counts.get(kind) ?? { found: 0, all: 0 };
        counts.set(kind, { found: known.found + found, all: known.all + all });
      }
      process.stdout.write(`${dataset}: ${flagged.size} of ${count} flagged; missed ${planted.missed.length}\n`);
    } finally {
      await store.close();
    }
  });

  it.each(Object.keys(faultKinds) as FaultKind[])("finds nine of ten queries with %s", (kind) => {
    const { found, all } = counts.get(kind) ?? { found: 0, all: 0 };
    process.stdout.write(`${kind}: ${found} of ${all}\n`);
    expect(all).toBeGreaterThan(0);
    expect(found / all).toBeGreaterThanOrEqual(0.9);
  });
});
