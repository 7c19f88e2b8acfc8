import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { createEmbeddedJobQueue } from "../../../../src/jobs/embedded/embedded-job-queue.ts";
import type { JobKind } from "../../../../src/jobs/job-queue.ts";
import { createMemoryStore } from "../../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../../src/store/store.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A store whose first write with this text in it takes effect and is reported as failed: the answer got lost. */
function forgetful(store: Store, text: string): Store {
  let forgotten = false;
  return {
    ...store,
    async put(key, value, options) {
      const version = await store.put(key, value, options);
      if (forgotten || !value.includes(text)) return version;
      forgotten = true;
      throw new FedwayError("STORE_FAILED", "The answer got lost.");
    },
  };
}

/** That a job with this handler ends as `end` says after one run, although the answer to its outcome got lost. */
async function shouldEnd(run: JobKind["run"], written: string, end: Readonly<Record<string, unknown>>): Promise<void> {
  const faults: unknown[] = [];
  const store = forgetful(createMemoryStore(), written);
  const queue = createEmbeddedJobQueue({ store, onFault: (fault) => faults.push(fault) });
  await queue.start([{ name: "a", validate: () => {}, run, maxAttempts: 1 }]);
  const { id } = await queue.enqueue("a", null);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(faults).toMatchObject([{ code: "STORE_FAILED", message: "The answer got lost." }]);
  expect(await queue.get(id)).toMatchObject({ attempts: 1, ...end });
  await queue.close(0);
}

it("an outcome that was written and reported as failed keeps its result", () =>
  shouldEnd(async () => "precious", '"state":"done"', { state: "done", result: "precious" }));

it("a result that was written and reported as failed is kept", () =>
  shouldEnd(async () => "precious", '"precious"', { state: "done", result: "precious" }));

it("a failure that was written and reported as failed counts once", () =>
  shouldEnd(() => Promise.reject(new FedwayError("INTERNAL", "No.")), '"state":"failed"', {
    state: "failed",
    error: { code: "INTERNAL", message: "No." },
  }));
