import type { Config } from "../config/config.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createBullmqJobQueue } from "../jobs/bullmq/bullmq-job-queue.ts";
import { createEmbeddedJobQueue } from "../jobs/embedded/embedded-job-queue.ts";
import type { JobKind, JobQueue } from "../jobs/job-queue.ts";
import { redisPrefix, type State } from "./open-state.ts";

/** What the queue is opened with. */
export interface JobsParts {
  readonly config: Pick<Config, "redisUrl">;
  readonly state: State;
  readonly onFault: (error: unknown) => void;
}

/** The queue where the state is: BullMQ in Redis, or embedded beside the database. */
export function openJobs({ config: { redisUrl }, state, onFault }: JobsParts): JobQueue {
  if (redisUrl !== undefined) return createBullmqJobQueue({ url: redisUrl, prefix: redisPrefix, onFault });
  const { store, soleOwner } = state;
  return createEmbeddedJobQueue({ store, soleOwner, onFault });
}

/** The same kinds with their runs counted and timed. */
export const measured = (kinds: readonly JobKind[], metrics: Metrics): readonly JobKind[] =>
  kinds.map((kind) => ({ ...kind, run: metrics.measureJob(kind.name, kind.run) }));
