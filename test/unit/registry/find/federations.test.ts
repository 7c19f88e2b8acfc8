import { describe, expect, it, onTestFinished } from "vitest";
import { findEndpoints } from "../../../../src/agent/tools/find-endpoints.ts";
import { catalogEntry, createCatalog } from "../../../support/catalog-entry.ts";
import { describedModels } from "../../../support/described-models.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../../support/synthetic-catalog.ts";
import type { Federation } from "../../../../src/registry/catalog.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const ex = "http://zoo.example/ns#";
const name = propertyPartition(`${ex}animalName`, { triples: 9 });
const weight = propertyPartition(`${ex}weight`, { triples: 9 });
const keeper = propertyPartition(`${ex}keeper`, { triples: 9, range: `${ex}Keeper` });
const animals = (properties: Parameters<typeof classPartition>[2]) =>
  descriptionOf({ classPartitions: [classPartition(`${ex}Animal`, 9, properties)] });

/** Names at two endpoints, weights at a third, keepers at a fourth alone; another endpoint has animals of its own. */
const descriptions = {
  names1: animals([name]),
  names2: animals([name]),
  weights: animals([weight]),
  keepers: descriptionOf({
    classPartitions: [
      classPartition(`${ex}Keeper`, 3, [propertyPartition(`${ex}salary`, { triples: 3 })]),
      classPartition(`${ex}Animal`, 9, [keeper]),
    ],
  }),
  farm: descriptionOf({
    classPartitions: [
      classPartition("http://farm.example/Animal", 5, [propertyPartition("http://farm.example/price", { triples: 5 })]),
    ],
  }),
};

const federation = (id: string, members: readonly string[]): Federation => ({
  id,
  title: `All of ${id}`,
  members,
  memberKeywords: [],
});

async function found(
  question: string,
  federations: readonly Federation[],
  described: Readonly<Record<string, VoidDescription>> = descriptions,
) {
  const known = Object.entries(described);
  const entries = known.map(([id]) => catalogEntry(id, { title: id }));
  const { finder: linker } = describedModels({
    entries,
    descriptions: known,
    catalog: createCatalog(entries, [], { publicUrl: "http://localhost", federations }),
    onFault: (error) => {
      throw error;
    },
  });
  onTestFinished(() => linker.close());
  await linker.settled();
  return linker.findEndpoints({ question, limit: 5 });
}

const zoo = federation("zoo", ["keepers", "names1", "names2", "weights"]);
const all = federation("all", Object.keys(descriptions));

describe("federations among the endpoints for a question", () => {
  it.each<[string, readonly Federation[], readonly string[]]>([
    // What is asked for lies at several members.
    ["names of animals", [zoo], ["federation zoo", "farm"]],
    ["animal name and weight", [zoo], ["federation zoo", "farm"]],
    // One member has it all.
    ["salary", [zoo], ["keepers"]],
    // The smallest of those that fit.
    ["animal name and weight", [all, zoo], ["federation zoo", "farm"]],
    ["animal name, weight and price", [all], ["federation all"]],
    // Without a federation the endpoints alone.
    ["salary of keepers", [], ["keepers"]],
    // By its id.
    ["zoo", [zoo], ["federation zoo"]],
  ])("of %s", async (question, federations, expected) => {
    const { endpoints } = await found(question, federations);
    const shown = endpoints.map(({ id, federation: of }) => (of === undefined ? id : `federation ${id}`));
    expect(shown.slice(0, expected.length)).toEqual(expected);
    // A member of a federation that is listed is not listed again.
    expect(new Set(shown).size).toBe(shown.length);
    if (shown.includes("federation zoo")) expect(shown).not.toContain("names1");
  });

  it("are left for the one member that has all that is surely meant", async () => {
    const { endpoints } = await found("Which keepers have which salary?", [zoo]);
    expect(endpoints.map(({ id, isWeak }) => [id, isWeak])).toEqual([
      ["keepers", false],
      ["farm", true],
      ["weights", true],
    ]);
  });

  it("have the terms of all their members, with the classes that have them and that they lead to", async () => {
    const { endpoints } = await found("animals, their names and their keepers", [zoo]);
    const [best] = endpoints;
    expect(best).toMatchObject({ id: "zoo", federation: { members: 4, matching: expect.arrayContaining(["names1"]) } });
    expect(best?.terms).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: "class", iri: `${ex}Animal` }),
        expect.objectContaining({ iri: `${ex}animalName`, domains: [`${ex}Animal`] }),
        expect.objectContaining({ iri: `${ex}keeper`, domains: [`${ex}Animal`], ranges: [`${ex}Keeper`] }),
      ]),
    );
  });

  const text = "http://www.w3.org/2001/XMLSchema#string";
  const half = (other: string, count: number, parts = 2): VoidDescription => {
    const called = {
      ...propertyPartition(`${ex}animalName`, { triples: count }),
      datatypes: [{ iri: text, triples: { value: count, status: "exact", record: 0 }, status: "exact", record: 0 }],
      objectsComplete: true,
    } as const;
    return {
      ...descriptionOf({
        classPartitions: [classPartition(`${ex}Animal`, count, [called])],
        propertyPartitions: [called],
      }),
      built: {
        properties: [],
        parts: [{ class: `${ex}Animal`, parts, siblings: [{ endpoint: other, properties: [] }] }],
      },
    };
  };
  const farms = federation("farms", ["one", "two"]);

  it("have the sum of their shards, which hold each triple once, and the datatype that all values have", async () => {
    const { endpoints } = await found("names of animals", [farms], { one: half("two", 8), two: half("one", 4) });
    expect(endpoints[0]).toMatchObject({ id: "farms" });
    expect(endpoints[0]?.terms).toMatchObject([
      { iri: `${ex}animalName`, datatype: text, count: { value: 12, status: "exact" } },
      { iri: `${ex}Animal`, count: { value: 12, status: "exact" } },
    ]);
  });

  it.each([
    ["one part is missing", { one: half("two", 8, 3), two: half("one", 4, 3) }],
    ["a member is no shard", { one: half("two", 8), two: { ...half("one", 4), built: undefined } }],
    [
      "a shard of another build has the class whole",
      { one: half("two", 8), two: { ...half("one", 4), built: { properties: [], parts: [] } } },
    ],
  ])("have at least the largest count where %s", async (_, described) => {
    const { endpoints } = await found("names of animals", [farms], described);
    expect(endpoints[0]?.terms[1]).toMatchObject({ iri: `${ex}Animal`, count: { value: 8, status: "lowerBound" } });
  });
});

describe("endpoints that have a question together", () => {
  const question = "prices of animals and salary of keepers";

  it("come first where neither one nor a federation has it all", async () => {
    const { endpoints, together } = await found(question, []);
    expect([together, endpoints.slice(0, together).map(({ id }) => id)]).toEqual([2, ["keepers", "farm"]]);
    expect(endpoints[0]?.isWeak).toBe(false);
  });

  it("give way to the smallest federation of them", async () => {
    const pair = federation("pair", ["keepers", "farm", "weights"]);
    const { endpoints, together } = await found(question, [all, pair]);
    expect([together, endpoints[0]?.id]).toEqual([1, "pair"]);
  });

  it("are one where the others add only words for counts and names", async () => {
    const { together } = await found("How many names, numbers and salaries have 9 keepers?", []);
    expect(together).toBe(1);
  });

  it("are found by their entries while nothing is described, by their federation first", async () => {
    const entries = [
      catalogEntry("towns", { title: "Towns", description: "Cities with their population." }),
      catalogEntry("artists", { title: "Artists", description: "Painters and where they were born." }),
      catalogEntry("weather", { title: "Weather", description: "Temperatures of lakes." }),
    ];
    const art = federation("art", ["artists", "towns"]);
    for (const federations of [[], [art]]) {
      const catalog = createCatalog(entries, [], { publicUrl: "http://localhost", federations });
      const { finder } = describedModels({ entries, catalog });
      onTestFinished(() => finder.close());
      await finder.settled();
      const { endpoints, together } = await finder.findEndpoints({
        question: "Painters born in large cities",
        limit: 5,
      });
      const [first] = endpoints;
      if (federations.length > 0)
        expect([first?.id, first?.federation?.matching.toSorted()]).toEqual(["art", ["artists", "towns"]]);
      else expect(endpoints.slice(0, together).map(({ id }) => id)).toEqual(["artists", "towns"]);
    }
  });

  it("are weak where they have like words only", async () => {
    const { endpoints } = await found("wages", []);
    expect(endpoints.map(({ isWeak }) => isWeak)).not.toContain(false);
  });
});

describe("find_endpoints, while endpoints are being described", () => {
  const nextFor = async (question: string, coming: readonly string[], described: readonly string[]) => {
    const known = Object.entries(descriptions);
    const entries = [
      ...known.map(([id]) => catalogEntry(id, { title: id })),
      catalogEntry("opera", { title: "Opera" }),
    ];
    const { finder } = describedModels({
      entries,
      descriptions: known.filter(([id]) => described.includes(id)),
      catalog: createCatalog(entries, [], { publicUrl: "http://localhost", federations: [zoo] }),
    });
    onTestFinished(() => finder.close());
    await finder.settled();
    const tool = findEndpoints({ finder, due: { describedFirst: async () => coming } });
    const hint = (sentence: string): string => sentence.replaceAll(/[{}]/g, "");
    const { data } = await tool.call({ question }, { owner: "me", signal: new AbortController().signal, hint });
    return String(data["next"]);
  };

  it.each([
    ["a guess waits for any of them", "Which soprano sings?", ["weights"], ["names1", "keepers", "farm"], "Ask again"],
    [
      "so does a federation for its members",
      "weight of each animal name",
      ["weights"],
      ["names1", "weights"],
      "Ask again",
    ],
    ["a sure match of a described one does not", "price at the farm", ["weights"], ["farm"], "run_query"],
    [
      "nor does anything once all are described",
      "weight of each animal name",
      [],
      Object.keys(descriptions),
      "run_query",
    ],
  ])("%s", async (_name, question, coming, described, next) => {
    expect(await nextFor(question, coming, described)).toContain(next);
  });
});
