import { describe, expect, it } from "vitest";
import { describedModels } from "../../../support/described-models.ts";
import {
  classPartition,
  descriptionOf,
  propertyPartition,
  syntheticEntries,
} from "../../../support/synthetic-catalog.ts";
import type { EntryFilter, EntryPage } from "../../../../src/registry/find.ts";
import { publishedFacts } from "../../../support/catalog-entry.ts";

const [first, second, third, fourth] = syntheticEntries(4);
if (!first || !second || !third || !fourth) throw new Error("no entries");
const entries = [first, second, { ...third, interface: "tpf" as const }, { ...fourth, keywords: ["Géographie"] }];

const facts = publishedFacts({
  format: 1,
  url: "http://facts.example/",
  asOf: "2026-02-03",
  classes: { "http://a.example/": { City: 3 }, "http://xmlns.com/foaf/0.1/": { Person: 1 } },
  sources: [],
});
/** Of one whose description is complete, one whose is not, and one without any. */
const published = new Map(["dataset-1", "dataset-2", "dataset-3"].map((id) => [id, facts]));

function listed(filter: Partial<EntryFilter>): EntryPage {
  const statusOf = (id: string) => (id === "dataset-1" ? ("down" as const) : "unknown");
  const { models, finder } = describedModels({ entries, statusOf, published: (id) => published.get(id) });
  const city = classPartition("http://a.example/City", 5);
  models.setDescription(
    "dataset-0",
    descriptionOf({ classPartitions: [city, classPartition("http://a.example/Act", 1)] }),
  );
  models.setDescription("dataset-1", descriptionOf({ classPartitions: [classPartition("http://b.example/City")] }));
  const unsure = descriptionOf({
    propertyPartitions: [propertyPartition("http://a.example/mayor", {})],
    classesComplete: false,
  });
  models.setDescription("dataset-2", unsure);
  return finder.filterEntries(entries, { limit: 100, offset: 0, ...filter });
}

const shouldList = (filter: Partial<EntryFilter>, ids: readonly string[], undecided = 0) =>
  it(`${JSON.stringify(filter)}: ${ids.length}`, () => {
    const page = listed(filter);
    expect(page.hits.map((hit) => hit.entry.id)).toEqual(ids);
    expect([page.total, page.undecided]).toEqual([ids.length, undecided]);
  });

describe("filterEntries", () => {
  const all = ["dataset-0", "dataset-1", "dataset-2", "dataset-3"];
  shouldList({}, all);
  shouldList({ q: "  " }, all);
  shouldList({ q: "dataset-2" }, ["dataset-2"]);
  shouldList({ q: "zebra" }, []);
  // Described first, then published; a complete description wins.
  shouldList({ class: "http://a.example/City" }, ["dataset-0", "dataset-2", "dataset-3"]);
  shouldList({ class: "foaf:Person" }, ["dataset-2", "dataset-3"]);
  it("says when what is only published was", () => {
    const { hits } = listed({ class: "foaf:Person" });
    expect(hits[0]?.why).toEqual([
      {
        field: "published class",
        term: "foaf:Person",
        matched: "http://xmlns.com/foaf/0.1/Person (published, as of 2026-02-03)",
      },
    ]);
  });
  shouldList({ class: "<http://b.example/City>" }, ["dataset-1"], 2);
  shouldList({ class: "Act" }, ["dataset-0"], 2);
  shouldList({ class: "Unheard" }, [], 2);
  shouldList({ property: "mayor" }, ["dataset-2"], 1);
  shouldList({ class: "Act", property: "mayor" }, [], 2);
  shouldList({ keyword: "geographie" }, ["dataset-3"]);
  shouldList({ keyword: "geograph" }, []);
  shouldList({ status: "down" }, ["dataset-1"]);
  shouldList({ status: "unknown" }, ["dataset-0", "dataset-2", "dataset-3"]);
  shouldList({ status: "up" }, []);
  shouldList({ interface: "tpf" }, ["dataset-2"]);
  shouldList({ interface: "tpf", status: "down" }, []);
  shouldList({ q: "dataset", interface: "tpf" }, ["dataset-2"]);

  it("refuses a local name that stands for several classes, and names them", () => {
    expect(() => listed({ class: "City" })).toThrow(
      expect.objectContaining({
        code: "REQUEST_INVALID",
        details: { next: "Give one of them in full: http://a.example/City, http://b.example/City" },
      }),
    );
  });

  it("tells why, and what the names stand for", () => {
    const page = listed({ class: "Act", interface: "sparql", q: "dataset-0" });
    expect(page.class).toBe("http://a.example/Act");
    expect(page.hits[0]?.why).toEqual(
      expect.arrayContaining([
        { field: "id", term: "dataset-0", matched: "dataset-0" },
        { field: "interface", term: "sparql", matched: "sparql" },
        { field: "class", term: "Act", matched: "http://a.example/Act" },
      ]),
    );
    expect(page.hits[0]?.status).toBe("unknown");
  });

  it("gives pages of a whole", () => {
    expect(listed({ limit: 1, offset: 2 })).toMatchObject({ total: 4, hits: [{ entry: { id: "dataset-2" } }] });
    expect(listed({ limit: 1, offset: 9 })).toMatchObject({ total: 4, hits: [] });
    expect(listed({ limit: Number.NaN, offset: -5 }).hits.length).toBe(1);
  });
});
