import { writeSync } from "node:fs";
import { EmbeddedJobQueue } from "../../src/jobs/embedded/embedded-job-queue.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

// Runs the job `endless` of the database named on the command line, which never ends, and says so; waits to be killed.
const [path = ""] = process.argv.slice(2);
const queue = new EmbeddedJobQueue({ store: openSqliteStore({ path }), progressMs: 20 });
await queue.start([
  {
    name: "endless",
    validate: () => {},
    run: (_, { attempt, progress }) => {
      progress({ stage: "working", done: attempt });
      setTimeout(() => writeSync(1, `running ${attempt}\n`), 60);
      return new Promise(() => {});
    },
  },
]);
await queue.enqueue("endless", { kept: true }, { id: "the-job" });
