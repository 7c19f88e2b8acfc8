import { vi } from "vitest";
import { EmbeddedJobQueue } from "../../../src/jobs/embedded/embedded-job-queue.ts";
import { createMemoryStore } from "../../support/memory-store.ts";
import { describeJobQueue } from "./job-queue-contract.ts";

describeJobQueue("embedded", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const store = createMemoryStore();
  return {
    queue: () => new EmbeddedJobQueue({ store, backoffMs: () => 50 }),
    advance: async (ms) => {
      await vi.advanceTimersByTimeAsync(ms);
    },
    dispose: async () => {
      await store.close();
      vi.useRealTimers();
    },
  };
});
