import { expect, it, onTestFinished } from "vitest";
import { createCatalog } from "../../../../src/registry/catalog/index-catalog.ts";
import { EndpointModels } from "../../../../src/registry/model/endpoint-models.ts";
import { createHarvestStore, type Harvest } from "../../../../src/registry/values/harvest.ts";
import { createValueService } from "../../../../src/registry/values/value-service.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";
import { eventually } from "../../../support/eventually.ts";
import { jobContext, notedJobs } from "../../../support/job-fakes.ts";
import { createMemoryStore } from "../../../support/memory-store.ts";
import { descriptionOf } from "../../../support/synthetic-catalog.ts";

const startedAt = "2026-02-01T00:00:00.000Z";
const [before, since] = ["2026-01-31T00:00:00.000Z", "2026-02-02T00:00:00.000Z"];
const people = catalogEntry("people");
const describedAt = (finishedAt: string) => descriptionOf({ endpoint: people.url, finishedAt });
const harvestOf = (at: string): Harvest => {
  const lists = { classes: [], properties: [], rows: [], whole: [], cost: { requests: 1, bytes: 1, ms: 1 } };
  return { endpoint: people.url, describedAt: at, harvestedAt: at, complete: true, ...lists };
};

function openValues(readExamples: () => Promise<number> = async () => 3) {
  const models = new EndpointModels();
  models.setEntries([people]);
  const harvests = createHarvestStore({ store: createMemoryStore() });
  const jobs = notedJobs();
  const faults: unknown[] = [];
  const service = createValueService({
    models,
    catalog: createCatalog([people], [], { publicUrl: "http://fedway.example" }),
    descriptions: { get: async () => describedAt(since) },
    harvester: { harvest: async () => harvestOf(since) },
    harvests,
    jobs,
    clock: { now: () => Date.parse(startedAt) },
    examples: { read: readExamples },
    capabilities: async () => undefined,
    mayHarvest: () => true,
    onFault: (error) => faults.push(error),
  });
  onTestFinished(() => service.close());
  return { models, harvests, jobs, service, faults };
}

it("values are read after a description that was made since the start, also while older ones are still being read", async () => {
  const { models, jobs, faults } = openValues();
  models.isReading = true;
  models.setDescription("people", describedAt(before));
  models.setDescription("people", describedAt(since));
  await eventually(() => expect(jobs.enqueued).toHaveLength(1));
  expect(jobs.enqueued).toEqual([["harvest-values", { id: "people" }, { id: "harvest.people", priority: -100 }]]);
  expect(faults).toEqual([]);
});

it("values that were read of that description already are not read again", async () => {
  const { models, harvests, jobs } = openValues();
  await harvests.put("people", harvestOf(since));
  models.setDescription("people", describedAt(since));
  models.setDescription("people", describedAt("2026-02-03T00:00:00.000Z"));
  await eventually(() => expect(jobs.enqueued).toHaveLength(1));
});

it("examples that cannot be read leave the values, and no number", async () => {
  const run = (service: ReturnType<typeof openValues>["service"]) => service.kind.run({ id: "people" }, jobContext());
  expect(await run(openValues().service)).toMatchObject({ rows: 0, complete: true, examples: 3 });
  const failing = openValues(() => Promise.reject(new Error("down")));
  expect(await run(failing.service)).not.toHaveProperty("examples");
  expect(await failing.harvests.get("people")).toBeDefined();
});
