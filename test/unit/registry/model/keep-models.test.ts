import { expect, it } from "vitest";
import { systemClock } from "../../../../src/clock.ts";
import { createExampleStore } from "../../../../src/registry/find/read/example.ts";
import { keepModels } from "../../../../src/registry/model/keep-models.ts";
import { createHarvestStore } from "../../../../src/registry/find/read/harvest.ts";
import { catalogEntry, createCatalog } from "../../../support/catalog-entry.ts";
import { eventually } from "../../../support/eventually.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../../src/store/store.ts";
import { lookBetweenTurns } from "../../../support/held-loop.ts";
import { classPartition, descriptionOf, syntheticEntries } from "../../../support/synthetic-catalog.ts";
import { EndpointModels } from "../../../../src/registry/model.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const described = (at: string) =>
  descriptionOf({
    endpoint: catalogEntry("people").url,
    classPartitions: [classPartition("http://x.example/Person", 1)],
    finishedAt: at,
  });

/** A process over a store: one endpoint, descriptions that all processes share. */
async function processOver(store: Store, stored: Map<string, VoidDescription>) {
  const models = new EndpointModels();
  const listeners = new Set<(id: string, description: VoidDescription | undefined) => void>();
  const changed = new Set<() => void>();
  const catalog = { entries: [catalogEntry("people")] };
  const read: string[] = [];
  const keeper = await keepModels(models, {
    store,
    catalog: {
      get entries() {
        return catalog.entries;
      },
      published: createCatalog([], [], { publicUrl: "http://fedway.example" }).published,
      byId: (id) => catalog.entries.find((entry) => entry.id === id),
      onChange: (listener) => {
        changed.add(listener);
        return () => changed.delete(listener);
      },
    },
    descriptions: {
      async get(id) {
        read.push(id);
        const found = stored.get(id);
        return found?.endpoint === catalog.entries.find((entry) => entry.id === id)?.url ? found : undefined;
      },
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    harvests: createHarvestStore(store),
    exampleSets: createExampleStore(store),
    mayHarvest: () => true,
    clock: systemClock,
    onFault: (error) => {
      throw error;
    },
  });
  return {
    models,
    keeper,
    read,
    put(description: VoidDescription | undefined): void {
      if (description === undefined) stored.delete("people");
      else stored.set("people", description);
      for (const listener of listeners) listener("people", description);
    },
    setEntries(entries: typeof catalog.entries): void {
      catalog.entries = entries;
      for (const listener of changed) listener();
    },
    version: () => models.get("people")?.version,
  };
}

it("models follow descriptions, also those of other processes, and read each once", async () => {
  const [store, stored] = [openSqliteStore({ path: ":memory:" }), new Map<string, VoidDescription>()];
  const [one, other] = [await processOver(store, stored), await processOver(store, stored)];
  one.put(described("2026-01-01T00:00:00Z"));
  await eventually(() => expect(one.version()).toBe("2026-01-01T00:00:00Z"));
  await eventually(async () => {
    await other.keeper.refresh();
    expect(other.version()).toBe("2026-01-01T00:00:00Z");
  });
  const reads = other.read.length;
  await other.keeper.refresh();
  expect(other.read).toHaveLength(reads);
  one.put(undefined);
  await eventually(async () => {
    await other.keeper.refresh();
    expect([one.version(), other.version()]).toEqual([undefined, undefined]);
  });
  await one.keeper.close();
  await other.keeper.close();
});

it("a start reads what is stored; an entry that has got another URL is another endpoint, and one that is gone is forgotten", async () => {
  const [store, stored] = [openSqliteStore({ path: ":memory:" }), new Map<string, VoidDescription>()];
  const before = await processOver(store, stored);
  before.put(described("2026-01-01T00:00:00Z"));
  await eventually(async () => expect(await store.list("search/version/")).toHaveLength(1));
  await before.keeper.close();
  const after = await processOver(store, stored);
  await after.keeper.settled();
  expect([after.version(), after.models.isReading]).toEqual(["2026-01-01T00:00:00Z", false]);
  after.setEntries([catalogEntry("people", { url: "http://moved.example/sparql" })]);
  await eventually(() => expect(after.models.get("people")).toMatchObject({ described: undefined }));
  after.setEntries([catalogEntry("people")]);
  await eventually(() => expect(after.version()).toBe("2026-01-01T00:00:00Z"));
  after.setEntries([]);
  expect(after.models.get("people")).toBeUndefined();
  await after.keeper.close();
});

it("values are followed for all views: those that another process stored, and none of an entry that has got another URL", async () => {
  const store = openSqliteStore({ path: ":memory:" });
  const harvests = createHarvestStore(store);
  const at = "2026-01-01T00:00:00Z";
  const { url: endpoint } = catalogEntry("people");
  const lists = {
    classes: [],
    properties: ["http://x.example/name"],
    rows: [["", '"Ada"', -1, 0, 1] as const],
    whole: [],
  };
  const cost = { requests: 1, bytes: 1, ms: 1 };
  const harvest = { endpoint, describedAt: at, harvestedAt: at, complete: true, ...lists, cost };
  await harvests.put("people", harvest);
  const one = await processOver(store, new Map());
  const values = () => one.models.get("people")?.values?.rows.length;
  await eventually(() => expect(values()).toBe(1));
  one.setEntries([catalogEntry("people", { url: "http://moved.example/sparql" })]);
  expect(values()).toBeUndefined();
  one.setEntries([catalogEntry("people")]);
  await eventually(() => expect(values()).toBe(1));
  await harvests.delete("people");
  await eventually(() => expect(values()).toBeUndefined());
  await one.keeper.close();
});

it("takes in thousands of entries with turns for others", async () => {
  const store = openSqliteStore({ path: ":memory:" });
  const one = await processOver(store, new Map());
  const entries = [...syntheticEntries(3_000)];
  const held = new Set<number>();
  const takeIn = async (): Promise<void> => {
    one.setEntries(entries);
    await eventually(() => expect(one.models.get("dataset-2999")?.entry).toBe(entries[2_999]));
  };
  await lookBetweenTurns(takeIn, () => held.add([...one.models.all()].length));
  expect(held.size).toBeGreaterThan(10);
  expect([...one.models.all()]).toHaveLength(3_000);
  await one.keeper.close();
  await store.close();
});
