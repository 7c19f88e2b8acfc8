import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import oxigraph from "oxigraph";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPublishedShards } from "../support/published-shards.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { newFolder } from "../support/scratch-folder.ts";

/** Not part of the project: its licence is share-alike. */
const source = new URL("../../../shared/fkgqa/", import.meta.url);
const isMissing = !existsSync(source);
if (isMissing)
  console.warn("SKIPPED: the nine datasets are not at ../shared/fkgqa, so their federations were not asked.");

/**
 * Dataset, its different queries, and those with a LIMIT that cuts through rows of equal rank, beside the ones that the data
 * call unstable: any of them is right.
 */
const table: readonly (readonly [string, number, readonly string[]])[] = [
  ["battle_death", 16, ["q0501"]],
  ["car_1", 47, ["q0096"]],
  ["concert_singer", 24, ["q0027"]],
  ["dog_kennels", 42, ["q0955"]],
  ["flight_2", 37, ["q0226", "q0230", "q0232"]],
  ["network_1", 28, ["q0879", "q0887"]],
  ["pets_1", 21, []],
  ["tvshow", 32, []],
  ["world_1", 60, ["q0741"]],
];

interface Query {
  readonly id: string;
  readonly dataset: string;
  readonly sparql: string;
  /** Of solutions. */
  readonly rows: number;
  /** The order of rows of equal rank decides. */
  readonly unstable?: boolean;
  /** Takes minutes in one store: its solutions were counted in an equivalent form. */
  readonly rewritten?: boolean;
}

interface Term {
  readonly type: string;
  readonly value: string;
  readonly datatype?: string;
}

interface Answer {
  readonly head: { readonly vars: readonly string[] };
  readonly results: { readonly bindings: readonly Readonly<Record<string, Term>>[] };
}

/** Sums of floating-point numbers depend on their order in the last digits. */
function shown(term: Term | undefined): string {
  if (term === undefined) return "";
  const isNumber = term.datatype?.startsWith("http://www.w3.org/2001/XMLSchema#") === true && term.value !== "";
  const value = isNumber && Number.isFinite(Number(term.value)) ? Number(term.value).toPrecision(12) : term.value;
  return `${term.type} ${value}`;
}

const rowsOf = ({ head, results }: Answer): readonly string[] =>
  results.bindings.map((row) => head.vars.map((name) => shown(row[name])).join(" | ")).toSorted();

const read = (path: string): string => readFileSync(new URL(path, source), "utf8");

/** One question of each text. */
function queriesOf(dataset: string): readonly Query[] {
  const all = JSON.parse(read("queries.json")) as readonly Query[];
  const own = all.filter((query) => query.dataset === dataset);
  return own.filter((query, at) => own.findIndex(({ sparql }) => sparql === query.sparql) === at);
}

let root: string;
let service: RunningService;

beforeAll(async () => {
  root = newFolder();
  if (isMissing) return;
  // Few shards, so that all nine are hosted at once; the balanced mode has 145, which take turns in the memory there is.
  for (const [dataset] of table) {
    await buildPublishedShards(dataset, { mode: "guaranteed", output: join(root, dataset) });
  }
  const folders = table.map(([dataset]) => join(root, dataset)).join(",");
  service = await startService({}, { FEDWAY_SHARDS: folders, FEDWAY_HOSTED_TOTAL_MB: "4096" });
});
afterAll(async () => {
  if (!isMissing) await service.close();
});

describe.skipIf(isMissing)("the federation of a dataset's shards", () => {
  it.each(table)(
    "gives for %s the answers of the whole",
    async (dataset, count, ties) => {
      const whole = new oxigraph.Store();
      whole.load(read(`data/${dataset}.nt`), { format: "application/n-triples" });
      const queries = queriesOf(dataset);
      expect(queries).toHaveLength(count);
      let nonEmpty = 0;
      let slowestMs = 0;
      for (const { id, sparql, rows, rewritten, unstable } of queries) {
        const startedAt = performance.now();
        const response = await service.query(sparql, { path: `/federations/${dataset}/sparql` });
        expect(response.status, id).toBe(200);
        const found = (await response.json()) as Answer;
        slowestMs = Math.max(slowestMs, performance.now() - startedAt);
        if (rewritten || unstable || ties.includes(id)) expect(found.results.bindings.length, id).toBe(rows);
        else {
          const expected = JSON.parse(whole.query(sparql, { results_format: "json" }) as unknown as string) as Answer;
          expect(rowsOf(found), id).toEqual(rowsOf(expected));
        }
        if (rows > 0) nonEmpty += 1;
      }
      const slowest = `the slowest in ${Math.round(slowestMs)} ms`;
      process.stdout.write(`${dataset}: ${count} queries, ${nonEmpty} with rows, ${slowest}\n`);
      expect(nonEmpty / count).toBeGreaterThan(0.6);
    },
    120_000,
  );
});
