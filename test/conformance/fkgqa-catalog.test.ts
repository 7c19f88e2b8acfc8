import { join } from "node:path";
import oxigraph from "oxigraph";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonTerm } from "../../src/results/json-terms.ts";
import { publishedData, type PublishedQuestion, publishedQuestions } from "../support/published-questions.ts";
import { buildPublishedShards, hasPublishedData, publishedDatasets } from "../support/published-shards.ts";
import { eventually } from "../support/eventually.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { newFolder } from "../support/scratch-folder.ts";

if (!hasPublishedData)
  console.warn(
    "SKIPPED: the nine datasets are not at ../shared/fkgqa, so nothing was asked of all their shards at once.",
  );

interface Answer {
  readonly head: { readonly vars: readonly string[] };
  readonly results: {
    readonly bindings: readonly Readonly<Record<string, { readonly type: string; readonly value: string }>>[];
  };
}

/** A number as a number: sums of floating-point numbers depend on their order in the last digits. */
const shown = (value: string): string =>
  value !== "" && Number.isFinite(Number(value)) ? Number(value).toPrecision(12) : value;

/** Values of rows, whatever the columns are called. */
const rowsOf = (answer: Answer): readonly string[] =>
  answer.results.bindings
    .map((row) =>
      Object.values(row)
        .map(({ value }) => shown(value))
        .toSorted()
        .join(" | "),
    )
    .toSorted();

/** Rows by their columns, kinds of terms included. */
const fullRowsOf = ({ head, results }: Answer): readonly string[] =>
  results.bindings
    .map((row) => head.vars.map((name) => `${row[name]?.type} ${shown(row[name]?.value ?? "")}`).join(" | "))
    .toSorted();

/** Of each dataset: its queries, and those whose rows are a choice among rows of equal rank. */
const ties = new Set("q0501 q0096 q0027 q0955 q0226 q0230 q0232 q0879 q0887 q0741".split(" "));

const questions = hasPublishedData
  ? publishedQuestions().filter(({ dataset }) => publishedDatasets.includes(dataset))
  : [];
const distinct = questions.filter(({ sparql }, at) => questions.findIndex((other) => other.sparql === sparql) === at);
const isChoice = ({ id, unstable, rewritten }: PublishedQuestion): boolean =>
  unstable === true || rewritten === true || ties.has(id);

/** The data of another dataset that has terms of its queries: both have airlines. */
const alsoAsked: ReadonlyMap<string, string> = new Map([["car_1", "flight_2"]]);

function wholeOf(datasets: readonly string[]): oxigraph.Store {
  const whole = new oxigraph.Store();
  for (const each of datasets) whole.load(publishedData(each), { format: "application/n-triples" });
  return whole;
}

type Told = readonly Readonly<Record<string, JsonTerm>>[];

let service: RunningService;
beforeAll(async () => {
  if (!hasPublishedData) return;
  const root = newFolder();
  const folders: string[] = [];
  for (const dataset of publishedDatasets) {
    folders.push(join(root, dataset));
    await buildPublishedShards(dataset, { mode: "guaranteed", output: join(root, dataset) });
  }
  service = await startService({}, { FEDWAY_SHARDS: folders.join(","), FEDWAY_HOSTED_TOTAL_MB: "4096" });
  // Shards are described when they come; until then the federation is without them, and says so.
  const all = service.app.catalog.entries.length;
  expect(all).toBeGreaterThan(27);
  await eventually(() => expect(membersOfAll()).toBe(all));
}, 300_000);

const membersOfAll = (): number => {
  const { catalog } = service.app;
  const federation = catalog.federation("catalog");
  return federation === undefined ? 0 : catalog.membersOf(federation).length;
};

afterAll(async () => {
  if (hasPublishedData) await service.close();
});

/** The value of a term, without datatype or language. */
const valueOf = (term: JsonTerm): string => String(typeof term === "object" ? Object.values(term)[0] : term);

/** The answer of the whole data; undefined for a query that takes minutes there. */
const answerOf = (whole: oxigraph.Store, { sparql, rewritten }: PublishedQuestion): Answer | undefined =>
  rewritten ? undefined : (JSON.parse(whole.query(sparql, { results_format: "json" }) as unknown as string) as Answer);

/** The rows of a tool's answer, as `rowsOf` has them. */
function toldRows(rows: Told): readonly string[] {
  const values = rows.map((row) => Object.values(row).map((term) => shown(valueOf(term))));
  return values.map((row) => row.toSorted().join(" | ")).toSorted();
}

describe.skipIf(!hasPublishedData)("the shards of nine datasets as one, with no endpoint named", () => {
  it.each(publishedDatasets)(
    "answer the queries of %s as the data of it do",
    async (dataset) => {
      // Every third, as each is asked twice; the others go to the federation of the dataset, below.
      const queries = distinct.filter((each) => each.dataset === dataset).filter((_, at) => at % 3 === 0);
      const toolbox = service.app.toolbox("full");
      const whole = wholeOf([dataset, alsoAsked.get(dataset) ?? []].flat());
      let nonEmpty = 0;
      for (const query of queries) {
        const { id, sparql } = query;
        const response = await service.query(sparql, { path: "/federations/catalog/sparql" });
        expect(response.status, id).toBe(200);
        const found = (await response.json()) as Answer;
        const expected = answerOf(whole, query);
        const rows = expected?.results.bindings.length ?? query.rows;
        expect(found.results.bindings, id).toHaveLength(rows);
        if (expected && !isChoice(query)) expect(rowsOf(found), id).toEqual(rowsOf(expected));
        const { text, data, problem } = await toolbox.call(
          "run_query",
          { query: sparql, max_rows: 500, format: "json" },
          { owner: dataset, signal: new AbortController().signal },
        );
        expect(problem, `${id} ${text.slice(0, 500)}`).toBeUndefined();
        expect(data["rows_total"], id).toBe(rows);
        const told = toldRows((data["rows"] ?? []) as Told);
        // Large answers are shown in part.
        if (told.length === rows && expected && !isChoice(query)) expect(told, id).toEqual(rowsOf(expected));
        if (rows > 0) nonEmpty += 1;
      }
      process.stdout.write(`${dataset}: ${queries.length} queries, ${nonEmpty} with rows\n`);
      expect(nonEmpty / queries.length).toBeGreaterThan(0.6);
    },
    240_000,
  );
});

describe.skipIf(!hasPublishedData)("the federation of a dataset's shards", () => {
  it.each(publishedDatasets)("gives for %s the answers of the whole", async (dataset) => {
    const queries = distinct.filter((each) => each.dataset === dataset).filter((_, at) => at % 3 > 0);
    const whole = wholeOf([dataset]);
    let nonEmpty = 0;
    for (const query of queries) {
      const response = await service.query(query.sparql, { path: `/federations/${dataset}/sparql` });
      expect(response.status, query.id).toBe(200);
      const found = (await response.json()) as Answer;
      const expected = answerOf(whole, query);
      if (expected && !isChoice(query)) expect(fullRowsOf(found), query.id).toEqual(fullRowsOf(expected));
      else expect(found.results.bindings.length, query.id).toBe(query.rows);
      if (query.rows > 0) nonEmpty += 1;
    }
    expect(nonEmpty / queries.length).toBeGreaterThan(0.6);
  });
});
