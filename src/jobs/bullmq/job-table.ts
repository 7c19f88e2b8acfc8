import type { JobType, Queue } from "bullmq";
import type { Job, JobQueue } from "../job-queue.ts";
import {
  bullmqId,
  isEnded,
  isToCome,
  jobOf,
  orderOf,
  publicId,
  type QueuedJob,
  resultOf,
  turnId,
} from "./bullmq-job.ts";
import type { RedisLink } from "./redis-link.ts";

interface JobTableOptions {
  readonly link: RedisLink;
  readonly kinds: ReadonlyMap<string, unknown>;
  readonly keepFinishedMs: number;
  /** Called with each job that has ended. */
  readonly ended: (id: string) => void;
}

const defaultListed = 100;
const groups = {
  waiting: ["wait", "prioritized", "delayed", "waiting-children"],
  active: ["active"],
  completed: ["completed"],
  failed: ["failed"],
} as const satisfies Record<string, readonly JobType[]>;
type JobGroup = keyof typeof groups;

const finished = new Set(["completed", "failed", "unknown"]);

/** The jobs of all kinds as they are in Redis. All methods reject with FedwayError `STORE_FAILED`. */
export class JobTable {
  readonly #options: JobTableOptions;

  constructor(options: JobTableOptions) {
    this.#options = options;
  }

  async find(id: string): Promise<QueuedJob | undefined> {
    return (await this.stored(id)).find((job) => this.#isKept(job));
  }

  /** All jobs of an id that Redis has, also expired ones: BullMQ forgets them when the next one of their kind ends. */
  async stored(id: string): Promise<readonly QueuedJob[]> {
    const turn = turnId(id);
    const ids = turn === undefined ? [bullmqId(id)] : [bullmqId(id), turn];
    const read = (queue: Queue): readonly Promise<QueuedJob | undefined>[] => ids.map((each) => queue.getJob(each));
    const found = await this.#options.link.wait(Promise.all(this.#queues().flatMap(read)));
    return found.filter((job) => job !== undefined);
  }

  /** A job with its result. */
  async view(id: string): Promise<Job | undefined> {
    for (;;) {
      const job = await this.find(id);
      if (job === undefined) return undefined;
      if (job.finishedOn !== undefined || isEnded(job)) return withResult(job);
      const state = await this.#options.link.wait(job.getState());
      // Otherwise it has moved on since it was read.
      if (!finished.has(state)) return jobOf(job, state === "active");
    }
  }

  async list({
    kind,
    state,
    limit = defaultListed,
  }: NonNullable<Parameters<JobQueue["list"]>[0]>): Promise<readonly Job[]> {
    const found = new Map<string, Job>();
    const orders = new Map<string, number>();
    const read = async (queue: Queue, group: JobGroup): Promise<void> => {
      const types = groups[group];
      const jobs: readonly (QueuedJob | undefined)[] = await this.#options.link.wait(
        queue.getJobs([...types], 0, limit - 1, false),
      );
      for (const job of jobs) {
        // One that moves on meanwhile is met twice, or is gone.
        if (job === undefined || !this.#isKept(job)) continue;
        const view = jobOf(job, group === "active");
        found.set(view.id, view);
        orders.set(view.id, orderOf(job));
      }
    };
    const wanted = groupsOf(state);
    const readAll = async (queue: Queue): Promise<void> => {
      for (const group of wanted) await read(queue, group);
    };
    await Promise.all(this.#queues(kind).map(readAll));
    return Array.from(found.values())
      .filter((job) => state === undefined || job.state === state)
      .toSorted((left, right) => (orders.get(right.id) ?? 0) - (orders.get(left.id) ?? 0))
      .slice(0, limit);
  }

  /** True for a turn of a schedule that arrives while an earlier one is not done. */
  async isOverlapping(job: QueuedJob): Promise<boolean> {
    if (job.repeatJobKey === undefined) return false;
    const { link } = this.#options;
    const open = link.queue(job.queueName).getJobs(["active", "wait", "prioritized", "delayed"]);
    const others: readonly QueuedJob[] = await link.wait(open);
    return others.some(
      (other) => other?.repeatJobKey === job.repeatJobKey && turnAtMs(other) < turnAtMs(job) && !isEnded(other),
    );
  }

  /** True when a job of another kind, which this one has handed over to, is open under its id. */
  async isHandedOver(job: QueuedJob): Promise<boolean> {
    const found = job.attemptsStarted > 1 ? await this.find(publicId(job)) : undefined;
    return found !== undefined && found.queueName !== job.queueName && isOpen(found);
  }

  /** Cancels an open job, whatever its handler does. False when there is no such job. */
  async cancel(id: string): Promise<boolean> {
    const job = await this.find(id);
    if (job === undefined || !isOpen(job)) return false;
    const end = { state: "cancelled", atMs: Date.now() } as const;
    await this.#options.link.wait(job.updateData({ ...job.data, end }));
    // A worker takes it out of the queue; until its time has come it would be in the way.
    if (job.delay > 0) await job.promote().catch(() => {});
    this.#options.ended(id);
    return true;
  }

  #queues(kind?: string): readonly Queue[] {
    const { link, kinds } = this.#options;
    const known = kind === undefined ? Array.from(kinds.keys()) : [kind].filter((name) => kinds.has(name));
    return known.map((name) => link.queue(name));
  }

  #isKept(job: QueuedJob): boolean {
    const { finishedOn = Number.POSITIVE_INFINITY } = job;
    return !isToCome(job) && finishedOn > Date.now() - this.#options.keepFinishedMs;
  }
}

/** Where jobs of a state may be: one that was ended stays in its place until a worker comes to it. */
function groupsOf(state: Job["state"] | undefined): readonly JobGroup[] {
  if (state === "waiting") return ["waiting"];
  if (state === "running") return ["active"];
  if (state === "done") return ["completed"];
  return state === undefined ? ["waiting", "active", "completed", "failed"] : ["waiting", "active", "failed"];
}

const turnAtMs = ({ id = "" }: QueuedJob): number => Number(id.slice(id.lastIndexOf(":") + 1));

/** True if a job may still run or end. */
export const isOpen = (job: QueuedJob): boolean => job.finishedOn === undefined && !isEnded(job);

function withResult(job: QueuedJob): Job {
  const view = jobOf(job, false);
  const result = resultOf(job);
  return view.state === "done" && result !== undefined && result.length > 0 ? { ...view, result: result[0] } : view;
}
