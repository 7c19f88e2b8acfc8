import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { candidatesOf } from "../../shards/src/rules/candidates.ts";
import { chooseRules } from "../../shards/src/rules/choose-rules.ts";
import { featuresOf, readQueries } from "../../shards/src/rules/query-features.ts";
import { loadQueries } from "../../shards/src/load/load-queries.ts";
import { ruleFileOf } from "../../shards/src/report/rule-file.ts";
import { createClingoSolver } from "../../shards/src/solver/clingo-solver.ts";
import { interpretations } from "../../shards/src/build-problem.ts";

/** Not part of the project: its licence is share-alike. */
const folder = new URL("../../../shared/fkgqa/", import.meta.url);
const isMissing = !existsSync(folder);
if (isMissing)
  console.warn(`SKIPPED: the nine datasets are not at ../shared/fkgqa, so no optimum of theirs was checked.`);

/** Optimum sizes of an independent implementation: literal, single-class rules, horizontal rules cover joins. */
const table: Readonly<Record<string, readonly [number, number, number]>> = {
  battle_death: [5, 4, 3],
  car_1: [10, 9, 6],
  concert_singer: [6, 5, 3],
  dog_kennels: [11, 8, 5],
  flight_2: [5, 4, 3],
  network_1: [5, 5, 3],
  pets_1: [3, 3, 2],
  tvshow: [5, 4, 3],
  world_1: [5, 4, 3],
};

const solver = createClingoSolver();
afterAll(() => solver.close());

describe.skipIf(isMissing)("the nine datasets", () => {
  it.each(Object.entries(table))("%s has the optimum sizes of the table", async (dataset, expected) => {
    const loaded = await loadQueries(fileURLToPath(new URL("queries.json", folder)), { only: { dataset } });
    const read = await readQueries(loaded.queries);
    const sizes: number[] = [];
    let seconds = 0;
    for (const name of ["literal", "single-class", "horizontal-covers-joins"]) {
      const reading =
        interpretations.find((each) => each.name === name) ?? expect.unreachable(`there is no reading ${name}`);
      const queries = read.map((query) => featuresOf(query, reading));
      const candidates = candidatesOf(queries, reading);
      const solution = await chooseRules({ queries, candidates }, { reading, solver, timeoutMs: 60_000 });
      const again = await chooseRules({ queries, candidates }, { reading, solver, timeoutMs: 60_000 });
      expect(again.rules).toEqual(solution.rules);
      expect(solution).toMatchObject({ proven: true, lowerBound: solution.cost });
      const chosen = candidates.filter(({ rule }) => solution.rules.includes(rule));
      const covered = new Set(chosen.flatMap(({ covers }) => covers));
      expect(covered.size).toBe(queries.length - solution.impossible.length);
      const file = ruleFileOf({ mode: "paper", problem: { queries, candidates }, solution });
      expect(await solver.solve(file)).toMatchObject({ optimal: true, costs: [solution.cost] });
      const without = file.replace(/^answer\(.*\n/mu, "");
      expect(await solver.solve(without)).toMatchObject({ unsatisfiable: true });
      sizes.push(solution.cost);
      seconds += solution.seconds;
    }
    console.info(`${dataset}: ${sizes.join(", ")} rules, ${seconds.toFixed(2)} s`);
    expect(sizes).toEqual(expected);
  });
});
