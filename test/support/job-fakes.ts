import type { Job, JobContext, JobQueue } from "../../src/jobs/job-queue.ts";

/** A job queue that runs nothing and notes what was enqueued: kind, payload, options. */
export function notedJobs() {
  const enqueued: unknown[] = [];
  const enqueue: JobQueue["enqueue"] = async (kind, payload, options): Promise<Job> => {
    enqueued.push([kind, payload, options]);
    const createdAt = "2026-01-01T00:00:00Z";
    return { id: options?.id ?? "", kind, state: "waiting", payload, attempts: 0, createdAt };
  };
  return { enqueued, enqueue };
}

/** What a handler gets in its first run. */
export const jobContext = (more: Partial<JobContext> = {}): JobContext => ({
  id: "job",
  attempt: 1,
  signal: new AbortController().signal,
  progress: () => undefined,
  ...more,
});
