import { randomUUID } from "node:crypto";
import { FedwayError } from "../../errors/fedway-error.ts";
import { checkedPayload, checkEnqueueOptions, knownKind } from "../bounds.ts";
import type { Handover } from "../job-kind.ts";
import type { EnqueueOptions, Job, JobKind } from "../job-queue.ts";
import {
  isToCome,
  type JobData,
  jobOf,
  jobOptions,
  type Keeping,
  priorityOf,
  publicId,
  type QueuedJob,
} from "./bullmq-job.ts";
import { isOpen, type JobTable } from "./job-table.ts";
import { locked, type RedisLink } from "./redis-link.ts";

/** How new jobs come in. */
export type Intake = ReturnType<typeof createIntake>;

interface IntakeOptions {
  readonly link: RedisLink;
  readonly table: JobTable;
  readonly kinds: ReadonlyMap<string, JobKind>;
  readonly keeping: Keeping;
  readonly prefix: string;
}

type IntakeParts = IntakeOptions & { readonly nextOrder: () => number };

/** How long a new job waits for the handler of a cancelled one of its id. */
const endingMs = 10_000;
const endingAgainMs = 50;

/** The intake of a queue. */
export function createIntake(options: IntakeOptions) {
  let lastOrder = 0;
  /** Grows within this process, and from one start to the next as the clock does. */
  const nextOrder = (): number => {
    lastOrder = Math.max(lastOrder + 1, Date.now() * 1_000);
    return lastOrder;
  };
  const parts = { ...options, nextOrder };
  return {
    enqueue: (kind: string, payload: unknown, enqueueOptions: EnqueueOptions): Promise<Job> =>
      enqueue(parts, { kind, payload, options: enqueueOptions }),
    /** Adds the job that a job goes on as, whose own end BullMQ does not know yet. */
    handOver: (job: QueuedJob, { kind, payload }: Handover): Promise<Job> =>
      add(parts, { kind, payload, options: { id: publicId(job), priority: priorityOf(job) } }),
  };
}

interface NewJob {
  readonly kind: string;
  readonly payload: unknown;
  readonly options: EnqueueOptions;
}

async function enqueue(parts: IntakeParts, { kind, payload, options }: NewJob): Promise<Job> {
  checkEnqueueOptions(options);
  const { id = randomUUID() } = options;
  const job = { kind, payload: checkedPayload(parts.kinds, kind, payload), options: { ...options, id } };
  if (options.id === undefined) return add(parts, job);
  const work = async (): Promise<Job | "ending"> => (await makeRoom(parts, id)) ?? add(parts, job);
  for (let waitedMs = 0; waitedMs <= endingMs; waitedMs += endingAgainMs) {
    const added = await locked(parts.link, `${parts.prefix}jobs:lock:${id}`, work);
    if (added !== "ending") return added;
    await new Promise((resolve) => setTimeout(resolve, endingAgainMs));
  }
  throw new FedwayError("STORE_FAILED", `The job ${id} was cancelled and has not ended yet.`);
}

/**
 * Removes a finished job whose id is used again; resolves to an open job of the id, which then stays, or to `ending` when
 * the handler of a cancelled one has not ended yet.
 */
async function makeRoom({ table, link }: IntakeParts, id: string): Promise<Job | "ending" | undefined> {
  const held = (await table.stored(id)).filter((job) => !isToCome(job));
  if (held.some(isOpen)) return table.view(id);
  // BullMQ removes no job that a worker holds.
  const removals = held.map((job) => link.queue(job.queueName).remove(job.id ?? ""));
  const removed = await link.wait(Promise.all(removals));
  return removed.every((count) => count === 1) ? undefined : "ending";
}

type CheckedJob = NewJob & { readonly options: EnqueueOptions & { readonly id: string } };

async function add(parts: IntakeParts, { kind, payload, options }: CheckedJob): Promise<Job> {
  const { link, kinds, keeping, nextOrder } = parts;
  const data: JobData = { payload, order: nextOrder() };
  const opts = jobOptions(knownKind(kinds, kind), keeping, options);
  return jobOf(await link.wait(link.queue(kind).add(kind, data, opts)), false);
}
