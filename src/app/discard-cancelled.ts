import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { JobQueue } from "../jobs/job-queue.ts";
import { discardLeftovers } from "./run-build.ts";
import { buildJobId } from "./shard-jobs.ts";

const ending = ".building";
/** How long runs of a cancelled build, or of its parts, may go on writing. */
const lastWordsMs = 60_000;

/**
 * Removes what builds left that were cancelled while none of their runs was under way to clear up behind itself: after an
 * end of the service, or of its worker. What was begun since, by the command line for instance, stays.
 * @throws FedwayError `STORE_FAILED`; errors of the file system
 */
export async function discardCancelled(root: string, jobs: Pick<JobQueue, "get">): Promise<void> {
  const names = await readdir(root).catch(() => []);
  for (const name of names.filter((each) => each.endsWith(ending))) {
    const dataset = name.slice(0, -ending.length);
    const job = await jobs.get(buildJobId(dataset));
    if (job?.state !== "cancelled" || job.finishedAt === undefined) continue;
    const found = await stat(join(root, name)).catch(() => undefined);
    const untilMs = Date.parse(job.finishedAt) + lastWordsMs;
    if (found !== undefined && found.mtimeMs <= untilMs) await discardLeftovers(join(root, dataset));
  }
}
