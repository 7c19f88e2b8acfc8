import { writeSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createBullmqJobQueue } from "../../src/jobs/bullmq/bullmq-job-queue.ts";
import { Handover } from "../../src/jobs/job-kind.ts";

// A worker that gives a job up after as many lost workers as named last, on the Redis and with the prefix named on the command line. A job leaves a folder named by its id in the
// folder named third, and says so. `endless` jobs then wait to be killed, until the run that their payload names; so do
// `leading` ones, which then go on as `endless` ones.
const [url = "", prefix = "", folder = "", most = ""] = process.argv.slice(2);
const queue = createBullmqJobQueue({ url, prefix, leaseMs: 900, stalledMs: 200, mostInterruptions: Number(most) });
await queue.start([
  {
    name: "endless",
    validate: () => {},
    run: async (lastRun, { id, attempt }) => {
      await mkdir(join(folder, id), { recursive: true });
      writeSync(1, `running ${attempt}\n`);
      return attempt === lastRun ? { stamped: id, attempt } : new Promise(() => {});
    },
  },
  {
    name: "leading",
    validate: () => {},
    run: async (lastRun, { attempt }) => {
      writeSync(1, `leading ${attempt}\n`);
      return attempt === lastRun ? new Handover("endless", lastRun) : new Promise(() => {});
    },
  },
]);
