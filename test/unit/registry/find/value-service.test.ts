import { expect, it } from "vitest";
import { createHarvestStore, type Harvest } from "../../../../src/registry/find/read/harvest.ts";
import { createValueService } from "../../../../src/registry/find/read/value-service.ts";
import { catalogEntry, createCatalog } from "../../../support/catalog-entry.ts";
import { jobContext, notedJobs } from "../../../support/job-fakes.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/sqlite-store.ts";
import { descriptionOf } from "../../../support/synthetic-catalog.ts";

const at = "2026-02-02T00:00:00.000Z";
const people = catalogEntry("people");
const lists = { classes: [], properties: [], rows: [], whole: [], cost: { requests: 1, bytes: 1, ms: 1 } };
const harvest: Harvest = { endpoint: people.url, describedAt: at, harvestedAt: at, complete: true, ...lists };

function openValues(change: Partial<Parameters<typeof createValueService>[0]> = {}) {
  const harvests = createHarvestStore(openSqliteStore({ path: ":memory:" }));
  const jobs = notedJobs();
  const faults: unknown[] = [];
  const service = createValueService({
    catalog: createCatalog([people], [], { publicUrl: "http://fedway.example" }),
    descriptions: { get: async () => descriptionOf({ endpoint: people.url, finishedAt: at }) },
    harvester: { harvest: async () => harvest },
    harvests,
    jobs,
    examples: { read: async () => 3 },
    capabilities: async () => undefined,
    mayHarvest: () => true,
    onFault: (error) => faults.push(error),
    ...change,
  });
  return { harvests, jobs, service, faults };
}

it.each([false, true])("values are asked for in the background, when polite (%s) too", async (isPolite) => {
  const { jobs, service, faults } = openValues();
  await service.request("people", isPolite);
  expect(jobs.enqueued).toEqual([
    ["harvest-values", { id: "people", isPolite }, { id: "harvest.people", priority: -100 }],
  ]);
  expect(faults).toEqual([]);
});

it("nothing is asked for where that is forbidden, and a queue that fails is reported", async () => {
  const forbidden = openValues({ mayHarvest: () => false });
  await forbidden.service.request("people", false);
  expect(forbidden.jobs.enqueued).toEqual([]);
  const failing = openValues({ jobs: { enqueue: () => Promise.reject(new Error("down")) } });
  await failing.service.request("people", false);
  expect(failing.faults).toHaveLength(1);
});

it("a polite run reads examples, and no values", async () => {
  const { harvests, service } = openValues();
  expect(await service.kind.run({ id: "people", isPolite: true }, jobContext())).toEqual({ id: "people", examples: 3 });
  expect(await harvests.get("people")).toBeUndefined();
});

it("examples that cannot be read leave the values, and no number", async () => {
  const run = (service: ReturnType<typeof openValues>["service"]) => service.kind.run({ id: "people" }, jobContext());
  expect(await run(openValues().service)).toMatchObject({ rows: 0, complete: true, examples: 3 });
  const failing = openValues({ examples: { read: () => Promise.reject(new Error("down")) } });
  expect(await run(failing.service)).not.toHaveProperty("examples");
  expect(await failing.harvests.get("people")).toBeDefined();
});
