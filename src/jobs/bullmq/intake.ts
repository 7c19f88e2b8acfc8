import { randomUUID } from "node:crypto";
import type { FlowJob } from "bullmq";
import { FedwayError } from "../../errors/fedway-error.ts";
import { checkedChildren, checkedPayload, checkEnqueueOptions, childError, childId, knownKind } from "../bounds.ts";
import type { ChildJob, EnqueueOptions, Job, JobKind, JobQueue } from "../job-queue.ts";
import { type JobData, jobOf, jobOptions, type Keeping, publicId } from "./bullmq-job.ts";
import { isOpen, type JobTable } from "./job-table.ts";
import { forAll, locked, type RedisLink } from "./redis-link.ts";

/** How new jobs come in. */
export type Intake = Pick<JobQueue, "enqueue">;

interface IntakeOptions {
  readonly link: RedisLink;
  readonly table: JobTable;
  readonly kinds: ReadonlyMap<string, JobKind>;
  readonly keeping: Keeping;
  readonly prefix: string;
}

type IntakeParts = IntakeOptions & { readonly nextOrder: (children: number) => number };

/** How long a new job waits for the handler of a cancelled one of its id. */
const endingMs = 10_000;
const endingAgainMs = 50;

/** The intake of a queue. */
export function createIntake(options: IntakeOptions): Intake {
  let lastOrder = 0;
  /** Grows within this process, and from one start to the next as the clock does; those of the children follow it. */
  const nextOrder = (children: number): number => {
    const order = Math.max(lastOrder + 1, Date.now() * 1_000);
    lastOrder = order + children;
    return order;
  };
  const parts = { ...options, nextOrder };
  return {
    enqueue: (kind, payload, enqueueOptions = {}) => enqueue(parts, { kind, payload, options: enqueueOptions }),
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
  const job = {
    kind,
    payload: checkedPayload(parts.kinds, kind, payload),
    options: { ...options, id },
    children: options.children && checkedChildren(parts.kinds, id, options.children),
  };
  if (options.id === undefined) return add(parts, job);
  const work = async (): Promise<Job | "ending"> => (await makeRoom(parts, job)) ?? add(parts, job);
  for (let waitedMs = 0; waitedMs <= endingMs; waitedMs += endingAgainMs) {
    const added = await locked(parts.link, `${parts.prefix}jobs:lock:${id}`, work);
    if (added !== "ending") return added;
    await new Promise((resolve) => setTimeout(resolve, endingAgainMs));
  }
  throw new FedwayError("STORE_FAILED", `The job ${id} was cancelled and has not ended yet.`);
}

type CheckedJob = NewJob & {
  readonly options: EnqueueOptions & { readonly id: string };
  readonly children: readonly ChildJob[] | undefined;
};

/**
 * Removes finished jobs whose ids are used again; resolves to an open job of the id, which then stays, or to `ending` when
 * the handler of a cancelled one has not ended yet.
 */
async function makeRoom(
  parts: IntakeParts,
  { options: { id }, children = [] }: CheckedJob,
): Promise<Job | "ending" | undefined> {
  const { table, link } = parts;
  const held = await table.find(id);
  if (held !== undefined && isOpen(held)) return table.view(id);
  const parent = held?.data.parent === undefined ? undefined : await table.find(held.data.parent);
  if (parent !== undefined && isOpen(parent)) {
    const message = `The job ${id} is a finished part of the job ${publicId(parent)}, which still needs it.`;
    throw new FedwayError("REQUEST_INVALID", message);
  }
  const former = await forAll(children, ({ name }) => table.find(childId(id, name)));
  const taken = former.find((child) => child !== undefined && isOpen(child));
  if (taken !== undefined) {
    throw new FedwayError("REQUEST_INVALID", `The id ${publicId(taken)} stands for another job.`);
  }
  const removed = await forAll([held, ...former], async (job) => {
    if (job === undefined) return 1;
    return link.wait(link.queue(job.queueName).remove(job.id ?? "", { removeChildren: true }));
  });
  // BullMQ removes no job that a worker holds, and none with such a child.
  return removed.every((count) => count === 1) ? undefined : "ending";
}

async function add(parts: IntakeParts, { kind, payload, options, children }: CheckedJob): Promise<Job> {
  const { link, kinds, keeping, nextOrder } = parts;
  const { id } = options;
  const order = nextOrder(children?.length ?? 0);
  const opts = jobOptions(knownKind(kinds, kind), keeping, options);
  if (children === undefined) {
    const data: JobData = { payload, order };
    return jobOf(await link.wait(link.queue(kind).add(kind, data, opts)), false);
  }
  const flowChildren = children.map((child, index): FlowJob => {
    const data: JobData = { payload: child.payload, order: order + 1 + index, parent: id };
    const childOptions = jobOptions(knownKind(kinds, child.kind), keeping, { ...options, id: childId(id, child.name) });
    const childOpts = { ...childOptions, continueParentOnFailure: true };
    return { name: child.kind, queueName: child.kind, data, opts: childOpts };
  });
  const data: JobData = { payload, order, children: children.map(({ name }) => name) };
  const flow = await link.wait(link.flows.add({ name: kind, queueName: kind, data, opts, children: flowChildren }));
  return jobOf(flow.job, false);
}

/** Cancels an open job and its children, or fails the parent of a child and cancels the others. */
export async function cancelJob(table: JobTable, id: string): Promise<boolean> {
  const job = await table.find(id);
  if (job === undefined || !isOpen(job)) return false;
  const parent = job.data.parent === undefined ? undefined : await table.find(job.data.parent);
  if (parent === undefined || !isOpen(parent)) {
    await table.end(job, { state: "cancelled" });
    return true;
  }
  const name = id.slice(childId(publicId(parent), "").length);
  await table.end(parent, { state: "failed", error: childError(name, { code: "CANCELLED", message: "" }) });
  return true;
}
