import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { Handover } from "../../../../src/jobs/job-kind.ts";
import type { JobContext, JobProgress } from "../../../../src/jobs/job-queue.ts";
import type { DescribeOptions, DescribeTarget } from "../../../../src/registry/descriptions/compute/describer.ts";
import { createDescriptionService } from "../../../../src/registry/descriptions/description-service.ts";
import { createDescriptionStore } from "../../../../src/registry/descriptions/description-store.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/sqlite-store.ts";
import { sampleDescription } from "../../../support/sample-description.ts";
import { catalogEntry } from "../../../support/catalog-entry.ts";
import { jobContext, notedJobs } from "../../../support/job-fakes.ts";
import type { CatalogEntry } from "../../../../src/registry/catalog.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

type DescriptionServiceOptions = Parameters<typeof createDescriptionService>[0];

const entry = (id: string, more: Partial<CatalogEntry> = {}): CatalogEntry =>
  catalogEntry(id, { url: "http://data.example/sparql", ...more });

const entries = new Map([
  ["people", entry("people", { engine: "virtuoso", rowCap: 1000, method: "get" })],
  ["dump", entry("dump", { interface: "file" })],
]);

type Describe = (target: DescribeTarget, options: DescribeOptions) => Promise<VoidDescription>;

const finished = { ...sampleDescription, unfinished: false };
const open = { ...sampleDescription, classesComplete: false, propertiesComplete: false };

const setUp = (describeIt: Describe, more: Partial<DescriptionServiceOptions> = {}) => {
  const store = openSqliteStore({ path: ":memory:" });
  const descriptions = createDescriptionStore({ store });
  const jobs = notedJobs();
  const progress: JobProgress[] = [];
  const changes: string[] = [];
  let retrievals = 0;
  const clock = { nowMs: Date.parse("2026-01-03T00:00:00Z"), now: () => clock.nowMs };
  const service = createDescriptionService({
    catalog: { byId: (id) => entries.get(id), entries: [...entries.values()] },
    retriever: {
      async retrieve() {
        retrievals += 1;
        const { records, cost } = sampleDescription;
        return { checks: [], quarantined: [], contradicted: [], records, cost };
      },
    },
    describer: { describe: async (...asked) => ({ description: await describeIt(...asked) }) },
    descriptions,
    jobs,
    clock,
    publicUrl: "http://fedway.example",
    ...more,
  });
  service.onChange((id) => changes.push(id));
  const run = (payload: unknown = { id: "people" }, context: Partial<JobContext> = {}, kind = 0) =>
    service.kinds[kind]?.run(payload, jobContext({ progress: (one) => progress.push(one), ...context }));
  const { enqueued } = jobs;
  return { service, descriptions, store, enqueued, progress, changes, clock, run, retrievals: () => retrievals };
};

const notCalled: Describe = () => Promise.reject(new Error("not to be called"));

describe("asking for a description", () => {
  it("enqueues one job an endpoint", async () => {
    const { service, enqueued } = setUp(notCalled);
    const job = await service.request("people", { priority: 3 });
    expect(job.id).toBe("describe.people");
    expect(enqueued).toEqual([["describe-endpoint", { id: "people" }, { id: "describe.people", priority: 3 }]]);
  });
  it("anew enqueues one that begins with the lists, which wait for no long description", async () => {
    const { service, enqueued } = setUp(notCalled);
    await service.request("people", { again: true, isPolite: true });
    const payload = { id: "people", isPolite: true, again: true };
    expect(enqueued).toEqual([["describe-lists", payload, { id: "describe.people" }]]);
  });
  it.each([
    ["unknown", "ENDPOINT_UNKNOWN"],
    ["dump", "REQUEST_INVALID"],
  ])("%s is refused: %s", async (id, code) => {
    await expect(setUp(notCalled).service.request(id)).rejects.toMatchObject({ code });
  });
  it.each([[undefined], [null], ["people"], [{}], [{ id: 5 }], [{ id: "../x" }], [{ id: "people", again: "yes" }]])(
    "the payload %j is refused",
    (payload) => {
      const { service } = setUp(notCalled);
      expect(() => service.kinds[0]?.validate(payload)).toThrow(expect.objectContaining({ code: "REQUEST_INVALID" }));
      expect(() => service.kinds[0]?.validate({ id: "people" })).not.toThrow();
    },
  );
});

describe("a run", () => {
  it("retrieves, then describes what is missing, and stores the result", async () => {
    const seen: [DescribeTarget, DescribeOptions][] = [];
    const { run, service, descriptions, changes, progress } = setUp(async (target, options) => {
      seen.push([target, options]);
      options.onProgress?.({ stage: "classes", done: 1 });
      await options.save?.(open);
      return finished;
    });
    expect(await run({ id: "people", isPolite: true })).toEqual({
      id: "people",
      unfinished: false,
      classes: 2,
      properties: 2,
      answered: 2,
      cost: sampleDescription.cost,
      retrieved: { checks: [], quarantined: [], contradicted: [] },
    });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.[0]).toEqual({
      endpoint: { id: "people", url: "http://data.example/sparql", method: "get" },
      dataset: "http://fedway.example/endpoints/people#dataset",
      rowCap: 1000,
    });
    expect(seen[0]?.[1]).toMatchObject({
      // Less those of the search.
      budget: { requests: 300 - sampleDescription.cost.requests },
      known: { records: sampleDescription.records, source: "computed" },
    });
    expect(await service.get("people")).toEqual(finished);
    expect(await descriptions.loadWork("people")).toBeUndefined();
    expect(changes).toEqual(["people"]);
    expect(progress.map(({ stage }) => stage)).toEqual(["looking for the publisher's description", "classes"]);
  });
  it("goes on from unfinished work, without looking for the publisher's again", async () => {
    const known: unknown[] = [];
    const { run, service, retrievals } = setUp(async (_target, options) => {
      known.push(options.known);
      return known.length === 1 ? sampleDescription : finished;
    });
    await run();
    expect(await service.freshness("people")).toMatchObject({ state: "unfinished" });
    await run();
    expect(known[1]).toEqual(sampleDescription);
    expect(retrievals()).toBe(1);
    expect(await service.freshness("people")).toMatchObject({ state: "fresh" });
  });
  it("starts from nothing when asked to, but only at the first attempt", async () => {
    const { run, descriptions, retrievals } = setUp(async () => finished);
    await descriptions.saveWork("people", sampleDescription);
    await run({ id: "people", again: true }, { attempt: 2 });
    expect(retrievals()).toBe(0);
    await descriptions.saveWork("people", sampleDescription);
    await run({ id: "people", again: true });
    expect(retrievals()).toBe(1);
  });
  it("does not go on from work on another URL", async () => {
    const { run, descriptions, retrievals } = setUp(async () => finished);
    await descriptions.saveWork("people", { ...sampleDescription, endpoint: "http://old.example/sparql" });
    await run();
    expect(retrievals()).toBe(1);
  });
});

describe("a run for the lists", () => {
  const lists = { id: "people", again: true };
  it("ends with them, and the run that follows goes on", async () => {
    const asked: unknown[] = [];
    const { run, service, retrievals } = setUp(async (_target, options) => {
      asked.push([options.onlyLists, options.known?.unfinished]);
      return options.onlyLists === true ? sampleDescription : finished;
    });
    const next = await run({ ...lists, isPolite: true }, {}, 1);
    const found = { checks: [], quarantined: [], contradicted: [] };
    const payload = { id: "people", isPolite: true, retrieved: found };
    expect(next).toEqual(new Handover("describe-endpoint", payload));
    expect(await service.get("people")).toEqual(sampleDescription);
    expect(await run(payload)).toMatchObject({ id: "people", unfinished: false, retrieved: found });
    expect(await service.get("people")).toEqual(finished);
    expect(asked).toEqual([
      [true, true],
      [false, true],
    ]);
    expect(retrievals()).toBe(1);
  });
  it("that has described all is the whole job", async () => {
    const { run } = setUp(async () => finished);
    expect(await run(lists, {}, 1)).toMatchObject({ id: "people", unfinished: false, classes: 2, retrieved: {} });
  });
});

it("lists are published when they become complete, and when they are not any more", async () => {
  const { run, service } = setUp(async (_target, { save }) => {
    for (const propertiesComplete of [false, true, true, false]) {
      await save?.({ ...open, propertiesComplete });
      published.push((await service.get("people"))?.propertiesComplete);
    }
    return finished;
  });
  const published: unknown[] = [];
  await run();
  expect(published).toEqual([undefined, true, true, false]);
});

it.each<
  readonly [
    string,
    { readonly isPolite?: boolean; readonly only?: boolean; readonly ends?: boolean },
    string | undefined,
  ]
>([
  ["the end of a description", { ends: true }, "all"],
  ["lists that were all there is", { only: true, ends: true }, "all"],
  ["lists of a longer description", { only: true }, undefined],
  ["an automatic description of a public endpoint", { isPolite: true, ends: true }, "polite"],
])("what is read after %s: %#", async (_name, { isPolite = false, only = false, ends = false }, more) => {
  const read: unknown[] = [];
  const readMore = async (id: string, polite: boolean): Promise<unknown> => read.push([id, polite]);
  const { run } = setUp(async () => (ends ? finished : sampleDescription), { readMore });
  await run({ id: "people", isPolite }, {}, only ? 1 : 0);
  expect(read).toEqual(more === undefined ? [] : [["people", more === "polite"]]);
});

describe("a run that fails half-way", () => {
  const failing: Describe = async (_target, options) => {
    await options.save?.({ ...finished, title: "checkpoint" });
    throw new FedwayError("ENDPOINT_FAILED", "The endpoint died.", { fault: "http-5xx" });
  };
  it("keeps what was found, marked as unfinished", async () => {
    const { run, service, descriptions } = setUp(failing);
    await expect(run()).rejects.toMatchObject({ code: "ENDPOINT_FAILED" });
    expect(await service.get("people")).toMatchObject({ title: "checkpoint", unfinished: true });
    expect(await descriptions.loadWork("people")).toMatchObject({ title: "checkpoint" });
  });
  it("does not replace a whole description", async () => {
    const { run, service, descriptions, changes } = setUp(failing);
    await descriptions.save("people", finished);
    await expect(run()).rejects.toMatchObject({ code: "ENDPOINT_FAILED" });
    expect(await service.get("people")).toEqual(finished);
    expect(await descriptions.loadWork("people")).toMatchObject({ title: "checkpoint" });
    expect(changes).toEqual([]);
  });
  it("stores nothing when it was cancelled, but the work", async () => {
    const stop = new AbortController();
    const { run, service, descriptions } = setUp(async (_target, options) => {
      await options.save?.(open);
      stop.abort();
      throw new FedwayError("CANCELLED", "cancelled");
    });
    await expect(run({ id: "people" }, { signal: stop.signal })).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await service.get("people")).toBeUndefined();
    expect(await descriptions.loadWork("people")).toEqual(open);
  });
});

describe("freshness", () => {
  it("none, fresh, stale", async () => {
    const { service, clock } = setUp(notCalled);
    expect(await service.freshness("people")).toEqual({ state: "none" });
    await service.put("people", finished);
    const ageMs = 30 * 24 * 3_600_000;
    clock.nowMs = Date.parse(finished.finishedAt) + ageMs;
    expect(await service.freshness("people")).toEqual({ state: "fresh", finishedAt: finished.finishedAt, ageMs });
    clock.nowMs += 1;
    expect(await service.freshness("people")).toMatchObject({ state: "stale" });
    await service.remove("people");
    expect(await service.freshness("people")).toEqual({ state: "none" });
  });
  it("the description of an entry that has another URL now is none", async () => {
    const { service } = setUp(notCalled);
    await service.put("people", { ...finished, endpoint: "http://old.example/sparql" });
    expect(await service.get("people")).toBeUndefined();
  });
});
