import { describe, expect, it, onTestFinished } from "vitest";
import type { Harvest } from "../../../../src/registry/find/read/harvest.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";
import { describedModels } from "../../../support/described-models.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../../support/synthetic-catalog.ts";
import type { CatalogEntry } from "../../../../src/registry/catalog.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const town = "http://town.example/ns#";
const music = "http://music.example/ns#";
const odd = "http://odd.example/ns#";

/** People name and places name: only the class tells which is meant. */
const towns = descriptionOf({
  classPartitions: [
    classPartition(`${town}Municipality`, 2_110, [
      propertyPartition(`${town}municipalityName`, { triples: 2_110 }),
      propertyPartition(`${town}population`, { triples: 2_110 }),
      propertyPartition(`${town}partOf`, { triples: 2_110, range: `${town}District` }),
    ]),
    classPartition(`${town}District`, 143, [propertyPartition(`${town}districtName`, { triples: 143 })]),
  ],
});
const concerts = descriptionOf({
  classPartitions: [
    classPartition(`${music}Singer`, 50, [
      propertyPartition(`${music}name`, { triples: 50 }),
      propertyPartition(`${music}singsIn`, { triples: 80, range: `${music}Concert` }),
    ]),
    classPartition(`${music}Concert`, 20, [propertyPartition(`${music}year`, { triples: 20 })]),
  ],
});
const codes = descriptionOf({
  classPartitions: [classPartition(`${odd}C1`, 7, [propertyPartition(`${odd}P1`, { triples: 7 })])],
  terms: [{ iri: `${odd}C1`, label: 'Vessel\u202e\nIgnore "all"', status: "exact", record: 0 }],
});

const harvest: Harvest = {
  endpoint: "http://concerts.example/sparql",
  describedAt: "2026-01-01T00:00:00Z",
  harvestedAt: "2026-01-01T00:00:00Z",
  complete: true,
  classes: [`${music}Singer`],
  properties: [`${music}name`],
  rows: [[`${music}singer/7`, '"Ada Sverd"', 0, 0, 4]],
  whole: [],
  cost: { requests: 1, bytes: 1, ms: 1 },
};

interface Fixture {
  readonly described?: Readonly<Record<string, VoidDescription>>;
  readonly entries?: readonly CatalogEntry[];
  readonly embed?: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
}

function linkerOver({ described = { towns, concerts, codes }, entries, embed }: Fixture = {}) {
  const stored = new Map(Object.entries(described));
  const all = entries ?? [...stored.keys(), "plain"].map((id) => catalogEntry(id));
  const faults: unknown[] = [];
  const { models, finder: linker } = describedModels({
    entries: all,
    descriptions: stored,
    values: stored.has("concerts") ? [["concerts", harvest]] : [],
    embedder: embed && { embed: (texts) => embed(texts) },
    statusOf: (id) => (id === "towns" ? "down" : "up"),
    onFault: (error) => faults.push(error),
  });
  onTestFinished(() => linker.close());
  return { linker, models, stored, faults };
}

const irisOf = ({ terms }: { readonly terms: readonly { readonly iri: string }[] }) => terms.map(({ iri }) => iri);

describe("endpoints for a question", () => {
  it("are ranked by their schemas, with one sentence, status and why", async () => {
    const { linker } = linkerOver();
    await linker.settled();
    const { endpoints, ranking } = await linker.findEndpoints({ question: "How many municipalities?", limit: 5 });
    expect(ranking).toBe("lexical");
    expect(endpoints.map(({ id }) => id)).toEqual(["towns"]);
    expect(endpoints[0]).toMatchObject({
      status: "down",
      sentence: expect.stringContaining("About 2,100 municipalities"),
      why: expect.arrayContaining([{ field: "class", term: "municipalities", matched: "Municipality" }]),
    });
  });

  it("are found in spite of a typing error, and not at all by words that nobody has", async () => {
    const { linker } = linkerOver();
    await linker.settled();
    const found = await linker.findEndpoints({ question: "municipalty", limit: 5 });
    expect(found.endpoints[0]?.id).toBe("towns");
    expect(await linker.findEndpoints({ question: "asteroids", limit: 5 })).toMatchObject({ endpoints: [], total: 0 });
  });

  it("are found by their entries before descriptions have been read", async () => {
    const { linker } = linkerOver({ entries: [catalogEntry("plain", { title: "Ancient coins" })] });
    const { endpoints } = await linker.findEndpoints({ question: "coins", limit: 5 });
    expect(endpoints[0]).toMatchObject({ id: "plain", status: "up", title: "Ancient coins" });
  });

  it("follow new descriptions", async () => {
    const { linker, models, stored } = linkerOver();
    await linker.settled();
    stored.set("plain", { ...concerts, finishedAt: "2026-02-02T00:00:00Z" });
    models.setDescription("plain", { ...concerts, finishedAt: "2026-02-02T00:00:00Z" });
    await linker.settled();
    const { endpoints } = await linker.findEndpoints({ question: "singers", limit: 5 });
    expect(endpoints.map(({ id }) => id).slice(0, 2)).toEqual(["concerts", "plain"]);
  });
});

describe("a question in other words than a schema", () => {
  it("finds endpoints and terms by words of the same meaning, and says by which", async () => {
    const { linker } = linkerOver();
    await linker.settled();
    const { endpoints } = await linker.findEndpoints({ question: "Which vocalists are there?", limit: 5 });
    expect(endpoints[0]).toMatchObject({
      id: "concerts",
      why: expect.arrayContaining([{ field: "class", term: "vocalists", matched: "Singer" }]),
    });
    for (const [query, iri] of [
      ["towns", `${town}Municipality`],
      ["gigs", `${music}Concert`],
    ] as const)
      expect(irisOf(await linker.searchTerms({ query, limit: 3 }))).toContain(iri);
  });

  it("ranks the same word before one of the same meaning", async () => {
    const nation = descriptionOf({ classPartitions: [classPartition(`${town}Nation`, 9, [])] });
    const country = descriptionOf({ classPartitions: [classPartition(`${town}Country`, 9, [])] });
    const { linker } = linkerOver({ described: { nation, country } });
    await linker.settled();
    for (const question of ["countries", "nations"]) {
      const { endpoints } = await linker.findEndpoints({ question, limit: 5 });
      expect(endpoints.map(({ id }) => id)).toEqual(
        question === "nations" ? ["nation", "country"] : ["country", "nation"],
      );
    }
  });

  it.each([
    ["Welche Sängerinnen kommen aus Frankreich?", true],
    ["Quels chanteurs habitent à Lyon?", true],
    ["Which singers come from France?", false],
    ["Where did Ada Sverd sing?", false],
    ["municipalityName districtName Sängerin", false],
  ])("is foreign where most words are neither English nor known: %s", async (question, isForeign) => {
    const { linker } = linkerOver();
    await linker.settled();
    expect(await linker.findEndpoints({ question, limit: 5 })).toMatchObject({ isForeign });
  });
});

describe("a name in a question", () => {
  it("tells the endpoint, the entity and the property that has it", async () => {
    const { linker } = linkerOver();
    await linker.settled();
    const question = "When was Ada Sverd there?";
    const { endpoints } = await linker.findEndpoints({ question, limit: 1 });
    expect(endpoints[0]).toMatchObject({
      id: "concerts",
      why: [{ field: "value", term: "Ada Sverd", matched: "name" }],
    });
    const { terms, entities } = await linker.searchTerms({ query: question, limit: 2 });
    expect(entities[0]).toMatchObject({ term: `<${music}singer/7>`, class: `${music}Singer`, degree: 4 });
    expect(new Set(terms.map(({ iri }) => iri))).toEqual(new Set([`${music}name`, `${music}Singer`]));
    expect((await linker.searchTerms({ query: question, kinds: ["class"], limit: 2 })).entities).toEqual([]);
  });
});

describe("terms for a question", () => {
  it("gain from their neighbours in the schema", async () => {
    const { linker } = linkerOver();
    await linker.settled();
    const terms = irisOf(
      await linker.searchTerms({ query: "names of the singers", endpoints: ["concerts"], limit: 3 }),
    );
    expect(terms).toEqual([`${music}Singer`, `${music}name`, `${music}singsIn`]);
    const joined = await linker.searchTerms({ query: "singers of each concert", kinds: ["property"], limit: 1 });
    expect(joined.terms[0]).toMatchObject({ iri: `${music}singsIn`, endpoints: [{ id: "concerts" }] });
  });

  it("come first when the whole query names them", async () => {
    const { linker } = linkerOver();
    await linker.settled();
    for (const query of [`${music}year`, `<${music}year>`, "year"]) {
      expect(irisOf(await linker.searchTerms({ query, limit: 1 }))).toEqual([`${music}year`]);
    }
  });

  it("are found by their labels, which are shown on one line", async () => {
    const { linker } = linkerOver();
    await linker.settled();
    const { terms } = await linker.searchTerms({ query: "vessels", limit: 1 });
    expect(terms[0]).toMatchObject({ iri: `${odd}C1`, label: 'Vessel Ignore "all"' });
  });
});

/** Points words of one meaning into one direction. */
const meanings = ["city municipality town", "singer zangeres"];
const meaningOf = (text: string): Float32Array =>
  Float32Array.from([0.1, ...meanings.map((words) => (words.split(" ").some((word) => text.includes(word)) ? 1 : 0))]);

describe("a model", () => {
  it("finds what has no word of the question, as soon as there are vectors", async () => {
    const ready = Promise.withResolvers<void>();
    const { linker } = linkerOver({
      embed: async (texts) => {
        if (texts[0] !== "zangeres") await ready.promise;
        return texts.map(meaningOf);
      },
    });
    const before = await linker.findEndpoints({ question: "zangeres", limit: 1 });
    expect(before).toMatchObject({ endpoints: [], ranking: "lexical" });
    ready.resolve();
    await linker.settled();
    const { endpoints, ranking } = await linker.findEndpoints({ question: "zangeres", limit: 1 });
    expect(ranking).toBe("fused");
    expect(endpoints[0]).toMatchObject({ id: "concerts", why: [{ field: "meaning", matched: "Singer" }] });
    const { terms } = await linker.searchTerms({ query: "zangeres", limit: 1 });
    expect(terms[0]?.iri).toBe(`${music}Singer`);
  });

  it("that fails leaves words, and is told of", async () => {
    let fails = false;
    const { linker, faults } = linkerOver({
      embed: async (texts) => {
        if (fails) throw new Error("out of memory");
        return texts.map(meaningOf);
      },
    });
    await linker.settled();
    fails = true;
    const { endpoints, ranking } = await linker.findEndpoints({ question: "population", limit: 1 });
    expect([endpoints[0]?.id, ranking]).toEqual(["towns", "lexical"]);
    expect(faults).toEqual([new Error("out of memory")]);
  });
});
