import { afterEach, beforeEach, expect } from "vitest";
import type { ErrorCode } from "../../../src/errors/codes.ts";
import type { Job, JobContext, JobKind, JobQueue } from "../../../src/jobs/job-queue.ts";

/** Queues under test that share one set of jobs, and their time. */
export interface JobQueueHarness {
  /** One more queue, not started, as in another process. Back-off is 50 ms. */
  queue(): JobQueue;
  /** Lets this much of the queues' time pass. */
  advance(ms: number): Promise<void>;
  /** Removes what is left; the queues are closed already. */
  dispose(): Promise<void>;
}

const stepMs = 20;
const mostSteps = 500;

export async function shouldReject(work: Promise<unknown>, code: ErrorCode): Promise<void> {
  await expect(work).rejects.toMatchObject({ name: "FedwayError", code });
}

/** A handler that waits to be told, and ends when its signal says so. */
export interface Gate {
  /** Payloads of the runs started. */
  readonly started: readonly unknown[];
  readonly run: JobKind["run"];
  readonly open: () => void;
}

/** What the cases of the contract work with; made anew for each. */
export interface JobQueueFixture {
  readonly advance: (ms: number) => Promise<void>;
  /** A queue that is not started. */
  readonly create: () => JobQueue;
  readonly start: (...kinds: readonly JobKind[]) => Promise<JobQueue>;
  readonly until: (what: string, holds: () => boolean | Promise<boolean>) => Promise<void>;
  readonly state: (queue: JobQueue, id: string) => Promise<string | undefined>;
  /** The job, once it is done, failed or cancelled. */
  readonly finished: (queue: JobQueue, id: string) => Promise<Job>;
}

/** Opens a harness for each case, and ends all its queues after it. */
export function useJobQueues(open: () => Promise<JobQueueHarness>): JobQueueFixture {
  let harness: JobQueueHarness;
  let queues: JobQueue[];
  beforeEach(async () => {
    harness = await open();
    queues = [];
  });
  afterEach(async () => {
    const closing = Promise.all(queues.map((queue) => queue.close(0)));
    await harness.advance(100);
    await closing;
    await harness.dispose();
  });

  const create = (): JobQueue => {
    const queue = harness.queue();
    queues.push(queue);
    return queue;
  };
  const until: JobQueueFixture["until"] = async (what, holds) => {
    for (let step = 0; step < mostSteps; step += 1) {
      if (await holds()) return;
      await harness.advance(stepMs);
    }
    throw new Error(`never: ${what}`);
  };
  return {
    advance: (ms) => harness.advance(ms),
    create,
    async start(...kinds) {
      const queue = create();
      await queue.start(kinds);
      return queue;
    },
    until,
    state: async (queue, id) => (await queue.get(id))?.state,
    async finished(queue, id) {
      let job: Job | undefined;
      await until(`${id} finished`, async () => {
        job = await queue.get(id);
        return /done|failed|cancelled/.test(job?.state ?? "");
      });
      if (job === undefined) throw new Error(`${id} is gone`);
      return job;
    },
  };
}

/** A kind that takes every payload. */
export function kind(name: string, run: JobKind["run"], more: Partial<JobKind> = {}): JobKind {
  return { name, validate: () => {}, run, ...more };
}

/** A closed gate. */
export function gate(): Gate {
  const started: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const run = async (payload: unknown, { signal }: JobContext): Promise<unknown> => {
    started.push(payload);
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => aborted.reject(signal.reason));
    await Promise.race([promise, aborted.promise]);
    return "opened";
  };
  return { started, run, open: () => resolve() };
}
