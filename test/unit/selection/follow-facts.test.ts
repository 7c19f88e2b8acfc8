import { DataFactory } from "n3";
import { expect, it } from "vitest";
import { FactFollower } from "../../../src/selection/follow-facts.ts";
import { createTermKeeper } from "../../../src/selection/endpoint-keys.ts";
import { FactTable } from "../../../src/selection/fact-table.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { describedModels } from "../../support/described-models.ts";
import { described } from "../../support/described-members.ts";
import { eventually } from "../../support/eventually.ts";
import type { VoidDescription } from "../../../src/registry/descriptions.ts";

const url = "http://people.example/sparql";
const ann = DataFactory.namedNode("http://x.example/ann");
const bob = DataFactory.namedNode("http://x.example/bob");
const triples = [
  {
    subject: ann,
    property: "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
    object: DataFactory.namedNode("http://x.example/Person"),
  },
  { subject: ann, property: "http://x.example/name", object: DataFactory.literal("Ann") },
  { subject: bob, property: "http://x.example/name", object: DataFactory.literal("Bob") },
] as const;

/** One described endpoint whose triples, description and entry can change. */
function following() {
  let changedAt = "";
  const { models } = describedModels({
    entries: [catalogEntry("people")],
    descriptions: [["people", described("people")]],
  });
  const table = new FactTable({ models, now: () => Date.parse("2026-01-01T12:00:00Z") });
  const authorship = () => ({ origin: "api", ...(changedAt !== "" && { changedAt }) }) as const;
  const store = openSqliteStore({ path: ":memory:" });
  const follower = new FactFollower(table, {
    models,
    catalog: { authorship },
    settings: { publicUrl: "http://fedway.example", factsMaxAgeMs: 86_400_000 },
    store,
    onFault: (error) => {
      throw error;
    },
  });
  const { keepTriples } = createTermKeeper(store);
  return {
    follower,
    /** Its triples were read for a description. */
    read: (finishedAt = described("people").finishedAt) =>
      keepTriples("people", { finishedAt, endpoint: url }, triples),
    facts: () => table.get("people", url),
    spoilKeys: () => store.put("keys/people", "{}"),
    storedKeys: async (): Promise<number> => (await store.list("keys/")).length,
    describe: (next: VoidDescription | undefined): void => models.setDescription("people", next),
    rewrite: (at: string): void => {
      changedAt = at;
      models.setEntry(catalogEntry("people"));
    },
  };
}

it("facts come with the description, keys with what was read for it", async () => {
  const { follower, facts, read } = following();
  await follower.settled();
  expect(facts()?.properties?.size).toBe(2);
  expect(facts()?.all).toBeUndefined();
  await read("2026-01-01T09:00:00.000Z");
  await follower.settled();
  expect(facts()?.all).toBeUndefined();
  await read();
  await eventually(() => expect(facts()?.all?.subjects).toMatchObject({ prefixes: ["http://x.example/"] }));
  follower.close();
});

it("what was read may be there before its description, and may be lost", async () => {
  const { follower, facts, read, describe, storedKeys, spoilKeys } = following();
  const finishedAt = "2026-01-01T11:00:00.000Z";
  await read(finishedAt);
  await follower.settled();
  expect(facts()?.properties?.size).toBe(2);
  expect(facts()?.all).toBeUndefined();
  describe(described("people", { finishedAt }));
  await eventually(() => expect(facts()?.all).toBeDefined());
  await spoilKeys();
  await eventually(async () => expect(await storedKeys()).toBe(0));
  expect(facts()?.properties?.size).toBe(2);
  follower.close();
});

it("a description that goes takes its facts along at once, and so does an entry that is written anew", async () => {
  const { follower, facts, describe, rewrite } = following();
  await follower.settled();
  describe(undefined);
  expect(facts()).toBeUndefined();
  describe(described("people"));
  await eventually(() => expect(facts()).toBeDefined());
  rewrite("2026-01-01T06:00:00.000Z");
  expect(facts()).toBeUndefined();
  await follower.settled();
  expect(facts()).toBeUndefined();
  describe(described("people", { startedAt: "2026-01-01T07:00:00.000Z", finishedAt: "2026-01-01T07:00:01.000Z" }));
  await eventually(() => expect(facts()).toBeDefined());
  follower.close();
});

it("facts that were ended stay so until the endpoint is described again", async () => {
  const { follower, facts, describe, rewrite } = following();
  await follower.settled();
  follower.end("people");
  expect(facts()).toBeUndefined();
  await follower.settled();
  describe(described("people"));
  await follower.settled();
  expect(facts()).toBeUndefined();
  describe(described("people", { finishedAt: "2026-01-01T11:00:00.000Z" }));
  await eventually(() => expect(facts()).toBeDefined());
  rewrite("");
  expect(facts()).toBeDefined();
  follower.close();
});

it("facts that were ended do not come back with what was read, or with a description that is being taken in", async () => {
  const { follower, facts, read } = following();
  const taken = follower.settled();
  follower.end("people");
  await taken;
  expect(facts()).toBeUndefined();
  await read();
  await follower.settled();
  expect(facts()).toBeUndefined();
  follower.close();
});
