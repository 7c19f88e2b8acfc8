import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { applicability, candidatesOf } from "../../shards/src/rules/candidates.ts";
import { readOntology, featuresOf, readQueries } from "../../shards/src/rules/query-features.ts";
import type { QueryFeatures, Interpretation } from "../../shards/src/rules/problem.ts";
import { type LoadedQueries, loadQueries } from "../../shards/src/load/load-queries.ts";
import { literalInterpretation, interpretations } from "../../shards/src/build-problem.ts";

/** Not part of the project: its licence is share-alike. */
const folder = new URL("../../../shared/fkgqa/", import.meta.url);
const isMissing = !existsSync(folder);
if (isMissing)
  console.warn(`SKIPPED: the nine datasets are not at ../shared/fkgqa, so no figure of theirs was checked.`);

/** Figures of an independent implementation. */
interface Row {
  readonly questions: number;
  readonly distinct: number;
  readonly class: number;
  readonly inferAndExists: number;
  readonly vertical: number;
  readonly candidates: number;
}

const row = (figures: readonly [number, number, number, number, number, number]): Row => {
  const [questions, distinct, classes, inferAndExists, vertical, candidates] = figures;
  return { questions, distinct, class: classes, inferAndExists, vertical, candidates };
};

const table: Readonly<Record<string, Row>> = {
  battle_death: row([16, 16, 6, 7, 16, 61]),
  car_1: row([92, 47, 57, 57, 88, 121]),
  concert_singer: row([45, 24, 16, 18, 43, 58]),
  dog_kennels: row([82, 42, 44, 52, 82, 161]),
  flight_2: row([80, 37, 46, 48, 74, 50]),
  network_1: row([56, 28, 26, 32, 54, 46]),
  pets_1: row([42, 21, 22, 26, 42, 55]),
  tvshow: row([62, 32, 16, 18, 62, 59]),
  world_1: row([120, 60, 44, 48, 120, 102]),
};

const load = (dataset: string): Promise<LoadedQueries> =>
  loadQueries(fileURLToPath(new URL("queries.json", folder)), { only: { dataset } });

function reading(name: string): Interpretation {
  return interpretations.find((each) => each.name === name) ?? expect.unreachable(`there is no reading ${name}`);
}

async function featuresIn(
  dataset: string,
  { queries }: LoadedQueries,
  name: string,
): Promise<readonly QueryFeatures[]> {
  const ontology = readOntology(readFileSync(new URL(`ontology/${dataset}.ttl`, folder), "utf8"));
  return (await readQueries(queries)).map((query) => featuresOf(query, reading(name), ontology));
}

describe.skipIf(isMissing)("the nine datasets", () => {
  it.each(Object.entries(table))("%s has the figures of the table", async (dataset, expected) => {
    const loaded = await load(dataset);
    const literal = await featuresIn(dataset, loaded, "literal");
    const wider = await featuresIn(dataset, loaded, "infer-and-exists");
    const counts = applicability(literal, literalInterpretation);
    expect(loaded.rejected).toEqual([]);
    expect({
      questions: counts.questions,
      distinct: counts.distinct,
      class: counts.class,
      inferAndExists: applicability(wider, reading("infer-and-exists")).class,
      vertical: counts.vertical,
      candidates: candidatesOf(literal, literalInterpretation).length,
    }).toEqual(expected);
    // Horizontal sharding applies to every question of the published set.
    expect(counts.horizontal).toBe(expected.questions);
  });

  it("the data has every predicate and class of the queries but those of one query that has no answer", async () => {
    let seen = 0;
    const unknown = new Set<string>();
    for (const dataset of Object.keys(table)) {
      const data = readFileSync(new URL(`data/${dataset}.nt`, folder), "utf8");
      for (const { predicates, classes } of await featuresIn(dataset, await load(dataset), "exists")) {
        for (const iri of [...predicates, ...classes]) {
          seen++;
          if (!data.includes(`<${iri}>`)) unknown.add(`${dataset} ${iri}`);
        }
      }
    }
    expect(seen).toBeGreaterThan(1_000);
    expect([...unknown].toSorted()).toEqual([
      "car_1 http://valuenet/ontop/airlines",
      "car_1 http://valuenet/ontop/airlines#airline",
      "car_1 http://valuenet/ontop/airlines#country",
    ]);
  });
});
