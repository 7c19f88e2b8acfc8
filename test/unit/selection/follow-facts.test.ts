import { expect, it } from "vitest";
import { FactFollower } from "../../../src/selection/follow-facts.ts";
import { FactTable } from "../../../src/selection/fact-table.ts";
import type { CatalogDocument } from "../../../src/registry/catalog/catalog.ts";
import type { VoidDescription } from "../../../src/registry/void/void-description.ts";
import { createMemoryStore } from "../../support/memory-store.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { describedModels } from "../../support/described-models.ts";
import { described } from "../../support/described-members.ts";
import { eventually } from "../../support/eventually.ts";
import { scriptedAsker } from "../../support/scripted-asker.ts";

const url = "http://people.example/sparql";
const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const [ann, bob, name] = ["ann", "bob", "name"].map((local) => `<http://x.example/${local}>`);
const asDescribed = `${ann} ${type} <http://x.example/Person> ; ${name} "Ann" . ${bob} ${name} "Bob" .`;

/** One described endpoint whose data, description and entry can change; it does not answer while it is held. */
function following(turtle: string, held = Promise.resolve()) {
  let changedAt = "";
  const { models } = describedModels({
    entries: [catalogEntry("people")],
    descriptions: [["people", described("people")]],
  });
  const table = new FactTable({ models, now: () => Date.parse("2026-01-01T12:00:00Z") });
  const document = (): CatalogDocument => ({
    id: "people",
    kind: "endpoint",
    origin: "api",
    quads: [],
    etag: "",
    ...(changedAt !== "" && { changedAt }),
  });
  const asker = scriptedAsker({ data: { [url]: turtle } });
  const store = createMemoryStore();
  const follower = new FactFollower(table, {
    models,
    catalog: { document },
    settings: { publicUrl: "http://fedway.example", factsMaxAgeMs: 86_400_000, readTriples: 100 },
    store,
    asker: {
      async ask(asking) {
        const answer = await asker.ask(asking);
        await held;
        return answer;
      },
    },
    onFault: (error) => {
      throw error;
    },
  });
  return {
    follower,
    asker,
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

it("facts come with the description, keys with what was read", async () => {
  const { follower, facts } = following(asDescribed);
  await follower.settled();
  expect(facts()?.properties?.size).toBe(2);
  expect(facts()?.all).toBeUndefined();
  follower.startReading();
  await eventually(() => expect(facts()?.all?.subjects).toMatchObject({ prefixes: ["http://x.example/"] }));
  await follower.close();
});

it("data that are not those of the description end what it proves", async () => {
  const { follower, facts } = following(`${asDescribed} ${bob} <http://x.example/age> 7 .`);
  await follower.settled();
  expect(facts()).toBeDefined();
  follower.startReading();
  await eventually(() => expect(facts()).toBeUndefined());
  await follower.close();
});

it("fewer triples than described say nothing", async () => {
  const { follower, asker, facts } = following(`${ann} ${name} "Ann" .`);
  await follower.settled();
  follower.startReading();
  await eventually(() => expect(asker.log).toHaveLength(1));
  await follower.close();
  expect(facts()?.all).toBeUndefined();
  expect(facts()?.properties?.size).toBe(2);
});

it("an endpoint is read once for each description, also when what was read cannot be stored", async () => {
  const { follower, asker, facts, describe, storedKeys, spoilKeys } = following(asDescribed);
  await follower.settled();
  follower.startReading();
  await eventually(() => expect(facts()?.all).toBeDefined());
  await spoilKeys();
  await eventually(async () => expect(await storedKeys()).toBe(0));
  await follower.settled();
  expect(facts()?.properties?.size).toBe(2);
  expect(asker.log).toHaveLength(1);
  describe(described("people", { finishedAt: "2026-01-01T11:00:00.000Z" }));
  await eventually(() => expect(facts()?.all).toBeDefined());
  expect(asker.log).toHaveLength(2);
  await follower.close();
});

it("a description that goes takes its facts along at once, and so does an entry that is written anew", async () => {
  const { follower, facts, describe, rewrite } = following(asDescribed);
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
  await follower.close();
});

it("facts that were ended stay so until the endpoint is described again", async () => {
  const { follower, facts, describe, rewrite } = following(asDescribed);
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
  await follower.close();
});

it("facts that were ended do not come back with what is read meanwhile, or with a description that is being taken in", async () => {
  const held = Promise.withResolvers<void>();
  const reading = following(asDescribed, held.promise);
  await reading.follower.settled();
  reading.follower.startReading();
  await eventually(() => expect(reading.asker.log).toHaveLength(1));
  reading.follower.end("people");
  held.resolve();
  await eventually(async () => expect(await reading.storedKeys()).toBe(1));
  await reading.follower.settled();
  expect(reading.facts()).toBeUndefined();
  await reading.follower.close();
  const taking = following(asDescribed);
  const taken = taking.follower.settled();
  taking.follower.end("people");
  await taken;
  expect(taking.facts()).toBeUndefined();
  await taking.follower.close();
});
