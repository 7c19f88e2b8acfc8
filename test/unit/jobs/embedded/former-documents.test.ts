import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createEmbeddedJobQueue } from "../../../../src/jobs/embedded/embedded-job-queue.ts";
import type { JobKind } from "../../../../src/jobs/job-queue.ts";
import { createMemoryStore } from "../../../../src/store/memory/memory-store.ts";

/** Documents of a service that was killed with one job done, two children done or running, and others open. */
const former: Readonly<Record<string, unknown>> = JSON.parse(
  readFileSync(new URL("../../../fixtures/jobs/former-documents.json", import.meta.url), "utf8"),
);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.parse("2026-11-23T14:00:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

it("the open jobs of a folder that version 0.1.0 left are run to their end, and its finished ones shown", async () => {
  const store = createMemoryStore();
  for (const [key, document] of Object.entries(former)) await store.put(key, JSON.stringify(document));
  const run: JobKind["run"] = async (payload, { children }) => [payload, ...children];
  const queue = createEmbeddedJobQueue({ store, soleOwner: true });
  await queue.start(["note", "gather", "slice"].map((name) => ({ name, validate: () => {}, run })));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await queue.get("note.1")).toMatchObject({ state: "done", result: "done", attempts: 1 });
  expect(await queue.get("note.2")).toMatchObject({ state: "done", result: ["hangs"], attempts: 2 });
  expect(await queue.get("note.3")).toMatchObject({ state: "done", result: ["later"], attempts: 1 });
  expect(await queue.get("gather.d")).toMatchObject({ state: "done", result: [{ dataset: "d" }, 20, [20]] });
  const turns = (await queue.list()).filter(({ id }) => id.startsWith("hourly."));
  expect(turns.map(({ state }) => state)).toEqual(["done"]);
  await queue.close(0);
});
