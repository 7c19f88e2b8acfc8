import { describe, expect, it } from "vitest";
import { createQueryCheck } from "../../../../src/diagnosis/check/query-check.ts";
import { createPlanner } from "../../../../src/plan/create-planner.ts";
import { describedModels } from "../../../support/described-models.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../../support/synthetic-catalog.ts";
import { toCatalog, toEntry } from "../../plan/plan-cases.ts";

const tables = {
  people: ["people_id", "name", "nationality", "birth_date"],
  player: ["people_id", "name", "final_table_made", "best_finish"],
  ship: ["id", "name", "lost_in_battle", "tonnage"],
};
const base = "http://tables.example/";
const partitions = Object.entries(tables).map(([table, columns]) => ({
  class: base + table,
  properties: columns.map((column) =>
    propertyPartition(`${base}${table}#${column}`, { triples: column.endsWith("id") ? 30 : 10 }),
  ),
}));
const description = descriptionOf({
  classPartitions: partitions.map(({ class: iri, properties }) => classPartition(iri, 10, properties)),
  propertyPartitions: partitions.flatMap(({ properties }) => properties),
});
const catalog = toCatalog([toEntry("tables")], []);
const { models, finder } = describedModels({
  entries: catalog.entries,
  descriptions: new Map([["tables", description]]),
});
const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example", terms: finder });
const check = createQueryCheck({ catalog, planner, finder, models, now: () => 0 });
const checked = (patterns: string, namespace = base) =>
  check.check(
    { query: `PREFIX : <${namespace}> SELECT * { ${patterns} }`, endpoint: "tables", owner: "tests" },
    { signal: new AbortController().signal },
  );

describe("the term that is offered first", () => {
  it.each([
    // As SQL writes a column.
    ["?p :people.nationality ?n", "people#nationality"],
    ["?p a :people . ?p :people.nationality ?n", "people#nationality"],
    ["?p :people_nationality ?n", "people#nationality"],
    ["?s :ship.lost_in_battle ?n", "ship#lost_in_battle"],
    // The name alone: that of the class of the subject.
    ["?p a :player . ?p :name ?n", "player#name"],
    ["?p a :ship . ?p :name ?n", "ship#name"],
    ["?p :player\\#best_finish ?b . ?p :people_id ?n", "player#people_id"],
    // Parts of names, but for the class in them.
    ["?p :people\\#people_nationality ?n", "people#nationality"],
    ["?p :people\\#country_nationality ?n", "people#nationality"],
    ["?p a :ship . ?p :ship\\#battle ?n", "ship#lost_in_battle"],
    // Letters.
    ["?p :people\\#natoinality ?n", "people#nationality"],
    ["?s :ship\\#tonage ?n", "ship#tonnage"],
  ])("%s: %s", async (patterns, first) => {
    const { unknown } = await checked(patterns);
    expect(unknown[0]?.nearest[0]?.term).toBe(`<${base}${first}>`);
  });

  it("is not suggested where another is as like", async () => {
    const { unknown, suggested, repairs } = await checked("?p :name ?n");
    expect(unknown[0]?.nearest.map(({ term }) => term)).toHaveLength(3);
    expect(repairs).toHaveLength(1);
    expect(suggested).toBeUndefined();
  });
});

describe("one change of a prefix", () => {
  const patterns = "?p a :people . ?p :people\\#name ?n";

  it("mends all names that are written with it", async () => {
    const { repairs, suggested } = await checked(patterns, "https://tables.example/");
    const [before, after] = ["<https://tables.example/>", `<${base}>`];
    expect(repairs).toEqual([{ kind: "prefix-namespace", before, after, applied: false }]);
    expect((await checked(patterns)).unknown).toEqual([]);
    expect(suggested?.replaceAll(/\s+/g, " ")).toBe(`PREFIX : <${base}> SELECT * { ${patterns} }`);
  });

  it.each([
    ["a name of it is known", `?p a :people . ?p :people\\#nme ?n ; :people\\#natoinality ?m`, base],
    ["a name of it is like none", `${patterns} . ?p :zebra ?z`, "https://tables.example/"],
    ["it is one name", "?p :people\\#name ?n", "https://tables.example/"],
  ])("is not offered where %s", async (_, text, namespace) => {
    const { repairs } = await checked(text, namespace);
    expect(new Set(repairs.map(({ kind }) => kind))).toEqual(new Set(["term-unknown"]));
  });
});
