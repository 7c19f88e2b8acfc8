import { describe, expect, it } from "vitest";
import { createDescriptionStore } from "../../../../src/registry/descriptions/description-store.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/sqlite-store.ts";
import { sampleDescription } from "../../../support/sample-description.ts";
import { heardDamage } from "../../../support/heard-damage.ts";

describe("descriptions are kept", () => {
  it("under their own keys, work apart from results", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const descriptions = createDescriptionStore({ store });
    await descriptions.save("people", sampleDescription);
    await descriptions.saveWork("people", { ...sampleDescription, title: "work" });
    expect(await descriptions.load("people")).toEqual(sampleDescription);
    expect((await descriptions.loadWork("people"))?.title).toBe("work");
    expect((await store.list("description")).map(({ key }) => key)).toEqual([
      "description-work/people",
      "description/people",
    ]);
    await descriptions.removeWork("people");
    expect(await descriptions.loadWork("people")).toBeUndefined();
    await descriptions.remove("people");
    expect(await descriptions.load("people")).toBeUndefined();
  });
  it("what another process stored is seen", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const [one, other] = [createDescriptionStore({ store }), createDescriptionStore({ store })];
    await one.save("people", sampleDescription);
    expect((await other.load("people"))?.title).toBe('People & "friends"');
    await one.save("people", { ...sampleDescription, title: "new" });
    expect((await other.load("people"))?.title).toBe("new");
  });
  it("one that is read once is not kept in memory", async () => {
    const descriptions = createDescriptionStore({ store: openSqliteStore({ path: ":memory:" }) });
    await descriptions.save("people", sampleDescription);
    const once = await descriptions.load("people", { once: true });
    const kept = await descriptions.load("people");
    expect([kept === once, (await descriptions.load("people")) === kept]).toEqual([false, true]);
  });
  it("an unchanged one is not parsed again, as long as it fits into the cache", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const load = async (cacheLength: number): Promise<boolean> => {
      const descriptions = createDescriptionStore({ store, cacheLength });
      await descriptions.save("people", sampleDescription);
      await descriptions.save("places", sampleDescription);
      const first = await descriptions.load("people");
      await descriptions.load("places");
      return (await descriptions.load("people")) === first;
    };
    const { length } = JSON.stringify(sampleDescription);
    expect(await load(3 * length)).toBe(true);
    expect(await load(length + 100)).toBe(false);
    expect(await load(10)).toBe(false);
  });
  it("one of a million triples and 80,000 pairs of a class and a property is kept in a tenth of its size", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const known = { status: "exact", record: 0 } as const;
    const triples = { value: 12, ...known };
    const properties = Array.from({ length: 25 }, (_, at) => ({
      property: `http://data.example/property/${at}`,
      ...known,
      triples,
      distinctSubjects: triples,
      distinctObjects: triples,
      objectClasses: [{ iri: `http://data.example/class/${at}`, ...known, triples }],
      datatypes: [],
      objectsComplete: true,
    }));
    const partition = { ...known, entities: triples, triples, properties, propertiesComplete: true };
    const classPartitions = Array.from({ length: 3_200 }, (_, at) => ({
      class: `http://data.example/class/${at}`,
      ...partition,
    }));
    const large = { ...sampleDescription, classPartitions };
    const descriptions = createDescriptionStore({ store });
    await descriptions.save("people", large);
    expect((await store.get("description/people"))?.value.length).toBeLessThan(JSON.stringify(large).length / 10);
    expect(JSON.stringify(await descriptions.load("people")) === JSON.stringify(large)).toBe(true);
  });
  it("too large ones are refused", async () => {
    const descriptions = createDescriptionStore({ store: openSqliteStore({ path: ":memory:" }), maxLength: 1000 });
    await expect(descriptions.save("people", sampleDescription)).rejects.toMatchObject({ code: "REQUEST_TOO_LARGE" });
    expect(await descriptions.load("people")).toBeUndefined();
  });
});

describe("a damaged one is dropped, with the reason", () => {
  const shouldDrop = async (value: string, reason: RegExp): Promise<void> => {
    const store = openSqliteStore({ path: ":memory:" });
    const damaged = heardDamage();
    const descriptions = createDescriptionStore({ store });
    await store.put("description/people", value);
    expect(await descriptions.load("people")).toBeUndefined();
    expect(damaged).toMatchObject([{ key: "description/people", reason: expect.stringMatching(reason) }]);
    expect(await store.get("description/people")).toBeUndefined();
  };
  const stored = (description: unknown): string => JSON.stringify({ format: 1, description });
  const but = (change: object): string => stored({ ...sampleDescription, ...change });
  const triples = (change: object): string => but({ triples: { value: 1, status: "exact", record: 0, ...change } });
  const [person] = sampleDescription.classPartitions;
  it.each([
    ["half of it", '{"format":1,"descr', /not JSON/u],
    ["a number", "5", /must be object/u],
    ["null", "null", /must be object/u],
    ["another format", '{"format":2,"description":{}}', /^format must be equal to/u],
    ["a text that is none", stored("H4sIAAAA"), /must be object/u],
    ["an array", stored([]), /must be object/u],
    ["no endpoint", but({ endpoint: undefined }), /required properties endpoint/u],
    ["no lists", but({ classPartitions: undefined }), /required properties classPartitions/u],
    ["no records", but({ records: [] }), /record points to no record/u],
    ["unknown members", but({ extra: 1 }), /^extra schema is false/u],
    ["an unknown status", triples({ status: "sure" }), /^triples\/status must be equal to one of/u],
    ["a negative count", triples({ value: -1 }), /^triples\/value must be >= 0/u],
    ["a count that is text", triples({ value: "1" }), /^triples\/value must be number/u],
    ["no moment", but({ finishedAt: "yesterday" }), /^finishedAt must be a moment/u],
    ["a partition that is null", but({ classPartitions: [null] }), /^classPartitions\/0 must be object/u],
    [
      "a deep fault",
      but({ classPartitions: [{ ...person, properties: [{ property: "" }] }] }),
      /^classPartitions\/0\/properties\/0 must have required/u,
    ],
  ])("%s", (_name, value, reason) => shouldDrop(value, reason));
});
