import { EmbeddedJobQueue } from "../../../src/jobs/embedded/embedded-job-queue.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { describeWatches } from "./watches-contract.ts";

describeWatches("SQLite and the embedded queue", async () => {
  const store = openSqliteStore({ path: ":memory:" });
  const jobs = new EmbeddedJobQueue({ store });
  return {
    processes: [{ store, jobs }],
    async dispose() {
      await jobs.close();
      await store.close();
    },
  };
});
