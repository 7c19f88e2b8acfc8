import { describe, expect, it } from "vitest";
import { catalogEntry, publishedFacts } from "../../../support/catalog-entry.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../../support/synthetic-catalog.ts";
import { EndpointModels, type EndpointModel, type KnownSchema } from "../../../../src/registry/model.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const ex = "http://people.example/ns#";
const people = descriptionOf({
  title: "People",
  triples: { value: 9, status: "claimed", record: 0 },
  classPartitions: [
    {
      ...classPartition(`${ex}Person`, 4, [propertyPartition(`${ex}name`, {})]),
      entities: { value: 4, status: "lowerBound", record: 0 },
    },
    { ...classPartition(`${ex}Ghost`), propertiesComplete: false },
  ],
  propertyPartitions: [
    {
      ...propertyPartition(`${ex}knows`, { triples: 0, range: `${ex}Person` }),
      distinctSubjects: { value: 3, status: "sampled", record: 0 },
      datatypes: [{ iri: "http://www.w3.org/2001/XMLSchema#string", status: "exists", record: 0 }],
      objectsComplete: false,
    },
    propertyPartition(`${ex}seen`, {}),
  ],
  terms: [{ iri: `${ex}Person`, label: "person", description: "Somebody.", status: "claimed", record: 0 }],
});
const works = descriptionOf({ classPartitions: [classPartition(`${ex}Person`, 1), classPartition(`${ex}Work`, 2)] });

/** What a schema says, without records and statuses of partitions. */
function said({ classPartitions, propertyPartitions, linksets }: KnownSchema): unknown {
  const kept = new Set(
    "class property iri entities triples distinctSubjects distinctObjects value status properties propertiesComplete objectClasses datatypes objectsComplete".split(
      " ",
    ),
  );
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== "object" || value === null) return value;
    const isFact = "class" in value || "property" in value || "iri" in value;
    const parts = Object.entries(value).filter(
      ([name, part]) => kept.has(name) && part !== undefined && !(isFact && name === "status"),
    );
    return Object.fromEntries(parts.map(([name, part]) => [name, plain(part)]));
  };
  return plain([classPartitions, propertyPartitions, linksets]);
}

function modelsOf(descriptions: Readonly<Record<string, VoidDescription>>) {
  const models = new EndpointModels();
  for (const [id, description] of Object.entries(descriptions)) models.setDescription(id, description);
  return models;
}

const published = publishedFacts({
  format: 1,
  url: "http://people.example/sparql",
  asOf: "2026-11-26",
  classes: { [ex]: { Work: 3 } },
  sources: [{ repo: "example/queries", commit: "0f", path: "q", date: "2026-01-01", licence: "MIT" }],
});

describe("a model", () => {
  it("says what the description says, counts with their status, unknown ones absent", () => {
    const described = modelsOf({ people }).get("people")?.described;
    if (described === undefined) throw new Error("not described");
    expect(said(described)).toEqual(said(people));
    expect(described).toMatchObject({ title: "People", triples: { value: 9, status: "claimed" }, leftOut: 0 });
    expect(described.classPartitions[1]).not.toHaveProperty("entities.value");
    expect(described.propertyPartitions[0]?.triples).toEqual({ value: 0, status: "exact" });
  });

  it("has each term once: classes, then properties, those of classes alone last", () => {
    const described = modelsOf({ people }).get("people")?.described;
    expect(Array.from(described?.terms() ?? [], ({ kind, iri }) => `${kind} ${iri.slice(ex.length)}`)).toEqual([
      "class Person",
      "class Ghost",
      "property knows",
      "property seen",
      "property name",
    ]);
    expect(described?.term("class", `${ex}Person`)).toMatchObject({ label: "person", count: { value: 4 } });
    expect(described?.comment("class", `${ex}Person`)).toBe("Somebody.");
    expect(described?.term("property", `${ex}name`)?.count).toBeUndefined();
    for (const [kind, name] of [
      ["class", "knows"],
      ["property", "Person"],
      ["class", "Nobody"],
    ] as const) {
      expect(described?.term(kind, ex + name)).toBeUndefined();
    }
  });

  it.each([
    ["counts that do not add up", { triples: { value: 5, status: "exact", record: 0 } }, false],
    ["counts that add up", { triples: { value: 7, status: "exact", record: 0 } }, true],
    ["named graphs", { namedGraphs: { list: [], complete: true } }, false],
    ["a contradiction", { unknown: [{ what: "triples", why: "contradicted" }] }, false],
    ["a claim that was wrong", { unknown: [{ what: "p of the publisher's description", why: "contradicted" }] }, true],
  ] as const)("is consistent or not: %s", (_, parts, isConsistent) => {
    const described = descriptionOf({ propertyPartitions: [propertyPartition(`${ex}a`, { triples: 7 })], ...parts });
    expect(modelsOf({ described }).get("described")?.described?.isConsistent).toBe(isConsistent);
  });
});

describe("models", () => {
  it("know who is described with a term, and forget it with the description", () => {
    const models = modelsOf({ people, works });
    expect(models.described("class", `${ex}Person`)).toEqual(["people", "works"]);
    models.setDescription("people", undefined);
    expect(models.described("class", `${ex}Person`)).toEqual(["works"]);
    expect(models.described("property", `${ex}knows`)).toEqual([]);
    models.remove("works");
    expect(models.size).toEqual({ terms: 0, uses: 0 });
  });

  it("keep what is left readable when texts are given back and used again", () => {
    const models = modelsOf({ people, works });
    for (let round = 0; round < 20; round++) {
      const iri = `http://other.example/${round}`;
      models.setDescription("people", descriptionOf({ classPartitions: [classPartition(iri, round)] }));
      expect(Array.from(models.get("people")?.described?.terms() ?? [], (term) => term.iri)).toEqual([iri]);
    }
    const { described } = models.get("works") ?? {};
    expect(described && said(described)).toEqual(said(works));
  });

  it("leave out what there is no room for, and prove nothing then", () => {
    const models = new EndpointModels({ terms: 2 });
    models.setDescription("works", works);
    models.setDescription("people", people);
    const { described } = models.get("people") ?? {};
    expect(Array.from(described?.terms() ?? [], ({ iri }) => iri)).toEqual([`${ex}Person`]);
    expect(described).toMatchObject({ classesComplete: false, propertiesComplete: false, leftOut: 4 });
    expect(described?.classPartitions[0]).toMatchObject({ properties: [], propertiesComplete: false });
  });

  it("hold published facts beside the description, and never take them for it", () => {
    const models = modelsOf({ people });
    models.setEntry(catalogEntry("people"), published);
    expect([...models.published("class", `${ex}Work`)]).toEqual(["people"]);
    expect(models.described("class", `${ex}Work`)).toEqual([]);
    expect(models.get("people")?.described?.term("class", `${ex}Work`)).toBeUndefined();
    models.setDescription("people", undefined);
    expect(models.get("people")).toMatchObject({
      published: { provenance: "published, as of 2026-11-26, from example/queries" },
      described: undefined,
    });
  });

  it("tell views of each change once, with what was there before", () => {
    const models = modelsOf({ people });
    const seen: string[] = [];
    const state = (model: EndpointModel | undefined): string =>
      model === undefined ? "-" : `${model.entry ? "entry" : ""}${Array.from(model.described?.terms() ?? []).length}`;
    const ignore = models.follow((_id, after, before) => void seen.push(`${state(before)} ${state(after)}`));
    const entry = catalogEntry("people");
    models.setEntries([entry]);
    models.setEntries([entry]);
    models.setDescription("people", works);
    models.setEntries([]);
    ignore();
    models.setDescription("people", people);
    expect(seen).toEqual(["- 5", "5 entry5", "entry5 entry2", "entry2 -"]);
  });
});
