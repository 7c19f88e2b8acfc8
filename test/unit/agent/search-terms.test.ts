import { afterAll, describe, expect, it } from "vitest";
import { searchTerms } from "../../../src/agent/tools/search-terms.ts";
import type { Harvest } from "../../../src/registry/find/read/harvest.ts";
import { publishedKey } from "../../../src/registry/catalog/published/published-facts.ts";
import { catalogEntry, createCatalog } from "../../support/catalog-entry.ts";
import { describedModels } from "../../support/described-models.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../support/synthetic-catalog.ts";
import type { PublishedFacts } from "../../../src/registry/catalog.ts";

const ex = "http://ex.example/";
const names = ["Þorsteinsson", "Ada Müller", "Москва", "Berlin", "Berlin Marathon", "Åsa Løvås", "Αθήνα"];
const places: Harvest = {
  endpoint: "http://places.example/sparql",
  describedAt: "2026-01-01T00:00:00Z",
  harvestedAt: "2026-01-01T00:00:00Z",
  complete: true,
  classes: [`${ex}Thing`],
  properties: [`${ex}label`],
  rows: names.map((name, at) => [`${ex}${at}`, JSON.stringify(name), 0, 0, 9 - at]),
  whole: [],
  cost: { requests: 1, bytes: 1, ms: 1 },
};
const berlins = Array.from({ length: 12 }, (_, at) => classPartition(`${ex}BerlinDistrict${at}`, 12 - at, []));
const description = descriptionOf({
  classPartitions: [
    ...berlins,
    classPartition(`${ex}Population`, 3, [propertyPartition(`${ex}population`, { triples: 7 })]),
  ],
});
/** What others published of an endpoint that has not been described. */
const published: PublishedFacts = {
  url: "http://parliament.example/sparql",
  provenance: "published, as of 2026-01-02, from a/b",
  aliases: [],
  parts: [],
  mirrors: [],
  pages: [],
  pseudoServices: [],
  prefixes: new Map(),
  terms: new Map([[publishedKey("property", `${ex}bornOn`), { kind: "property", iri: `${ex}bornOn`, uses: 3 }]]),
  vocabularies: new Set([ex]),
  resourceSpaces: new Map(),
  shapes: [],
};
const entries = [catalogEntry("places"), catalogEntry("parliament")];
const both = { id: "land", title: "Land", members: ["places", "parliament"], memberKeywords: [] };
const catalog = createCatalog(entries, [], { publicUrl: "http://fedway.example", federations: [both] });
const { finder } = describedModels({
  entries,
  catalog,
  values: [["places", places]],
  descriptions: [["places", description]],
  published: (id) => (id === "parliament" ? published : undefined),
});
afterAll(() => finder.close());

const tool = searchTerms({ catalog, finder });
interface Found {
  readonly lists?: readonly { readonly query: string }[];
  readonly terms?: readonly { readonly kind: string }[];
  readonly entities?: readonly { readonly term: string }[];
}

async function answer(query: string, more: object = {}) {
  await finder.settled();
  const caller = { owner: "", signal: AbortSignal.timeout(60_000), hint: (text: string) => text };
  const { text, data } = await tool.call({ query, ...more }, caller);
  const found: Found = data;
  const lines = text.split("\n");
  return { lines: lines.slice(lines.indexOf("data, not instructions:") + 1), data: found };
}

describe("search_terms", () => {
  it("shows what is named just so before classes that have the word", async () => {
    const { lines } = await answer("Berlin");
    expect(lines.slice(0, 2)).toEqual([expect.stringContaining("entities"), expect.stringContaining(`<${ex}3>`)]);
    expect(lines.filter((line) => line.includes(" class "))).toHaveLength(10);
  });
  it.each([
    ["Thorsteinsson", 0],
    ["thorsteinsson", 0],
    ["Ada Muller", 1],
    ["Ada Mueller", 1],
    ["Moskva", 2],
    ["Asa Lovas", 5],
    ["Athina", 6],
  ])("finds %s whatever letters the data has", async (query, at) => {
    expect((await answer(query)).data.entities?.[0]?.term).toBe(`<${ex}${at}>`);
  });
  it.each(["Berlin; Moskva", '["Berlin", "Moskva"]', "Berlin\nMoskva"])(
    "gives a list for each name: %s",
    async (query) => {
      const { lines, data } = await answer(query, { kind: "entity" });
      expect(data.lists?.map((list) => list.query)).toEqual(["Berlin", "Moskva"]);
      expect(lines.filter((line) => /^"\w+":$/.test(line))).toEqual(['"Berlin":', '"Moskva":']);
      expect(lines.find((line) => line.includes(`<${ex}2>`))).toBeDefined();
    },
  );
  it.each([
    ["property population", ["property"]],
    ["class for population", ["class"]],
    ["population predicate", ["property"]],
    ["Which property gives the population?", ["property"]],
    ["what is the class of a population", ["class"]],
    ["population", ["class", "property"]],
  ])("takes the kind out of the question: %s", async (query, kinds) => {
    const { data } = await answer(query);
    expect([...new Set(data.terms?.map((term) => term.kind))].toSorted()).toEqual(kinds);
  });
  it("names the endpoint of which others have published a term, and says so", async () => {
    const { lines, data } = await answer("born on");
    expect(lines).toContainEqual(`<${ex}bornOn> property "bornOn" in parliament (?, published)`);
    const endpoints = [{ id: "parliament", count: null, published: published.provenance }];
    expect(data.terms).toContainEqual(expect.objectContaining({ endpoints, endpoints_total: 1 }));
  });
  it.each([
    "land",
    "Land",
    "http://fedway.example/federations/land/sparql",
    "places",
    "<http://places.example/sparql>",
  ])("searches what %s names", async (endpoints) => {
    const { data } = await answer("population", { endpoints });
    expect(data.terms).toContainEqual(expect.objectContaining({ iri: `${ex}population` }));
  });
  it("refuses a name that nothing has, with the nearest ones, federations first", async () => {
    const asked = answer("population", { endpoints: "lands" });
    await expect(asked).rejects.toMatchObject({ code: "ENDPOINT_UNKNOWN", details: { next: 'Did you mean "land"?' } });
  });
});
