import { describe, expect, it, onTestFinished } from "vitest";
import { catalogEntry, createCatalog } from "../../../support/catalog-entry.ts";
import { describedModels } from "../../../support/described-models.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../../support/synthetic-catalog.ts";
import type { Federation } from "../../../../src/registry/catalog.ts";

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

async function found(question: string, federations: readonly Federation[], limit = 5) {
  const known = Object.entries(descriptions);
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
  return linker.findEndpoints({ question, limit });
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
});
