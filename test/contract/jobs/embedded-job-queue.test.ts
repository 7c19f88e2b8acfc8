import { vi } from "vitest";
import { EmbeddedJobQueue } from "../../../src/jobs/embedded/embedded-job-queue.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { describeJobQueue } from "./job-queue-contract.ts";

describeJobQueue("embedded", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const store = openSqliteStore({ path: ":memory:" });
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
