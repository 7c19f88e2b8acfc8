import { randomUUID } from "node:crypto";
import { type Clock, systemClock, type Timer } from "../../clock.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Store } from "../../store/store.ts";
import { checkedChildren, checkedPayload, checkEnqueueOptions, checkId, checkKinds, childId } from "../bounds.ts";
import type { ChildJob, EnqueueOptions, Job, JobKind, JobQueue, JobSchedule } from "../job-queue.ts";
import { createWatchers, type Watchers } from "../watchers.ts";
import { isOpen, jobOf, type JobRecord } from "./job-record.ts";
import { JobRecords } from "./job-records.ts";
import { recover } from "./recover.ts";
import { Runner } from "./runner.ts";
import { Schedules } from "./schedules.ts";

/** How an embedded queue works; all times in milliseconds. */
interface EmbeddedJobQueueOptions {
  /** No other process changes the jobs in it: this one holds the data folder. */
  readonly store: Store;
  readonly clock?: Clock;
  /** How often progress is written; default 1,000. */
  readonly progressMs?: number;
  /** Shortest time between two calls of a watcher; default 250. */
  readonly watchMs?: number;
  /** Finished jobs that are kept; default 1,000. */
  readonly keepFinished?: number;
  /** How long they are kept; default 7 days. */
  readonly keepFinishedMs?: number;
  /** Wait before the next run after this number of failures; default 1 s, doubled with each, at most 5 minutes. */
  readonly backoffMs?: (failures: number) => number;
  /** Ends of the process in the middle of a job after which that is given up; default 20. */
  readonly mostInterruptions?: number;
  /** Called with what goes wrong inside the queue and is tried again, e.g. a store that fails for a while. */
  readonly onFault?: (error: unknown) => void;
}

const day = 24 * 3_600_000;
const longestBackoffMs = 300_000;
const longestWaitMs = 3_600_000;
const unsavedAgainMs = 1_000;
const defaultListed = 100;

const defaultBackoffMs = (failures: number): number => Math.min(1_000 * 2 ** (failures - 1), longestBackoffMs);

/** A queue in this process, the only one of its store, whose jobs survive the process as the store's documents do. */
export class EmbeddedJobQueue implements JobQueue {
  readonly name = "embedded";
  readonly #clock: Clock;
  readonly #mostInterruptions: number;
  readonly #fault: (error: unknown) => void;
  readonly #kinds = new Map<string, JobKind>();
  readonly #records: JobRecords;
  readonly #runner: Runner;
  readonly #schedules: Schedules;
  readonly #watchers: Watchers;
  /** Ids that are being enqueued. */
  readonly #entering = new Map<string, Promise<void>>();
  #stage: "new" | "starting" | "started" | "closed" = "new";
  #works = false;
  #lastOrder = 0;
  #timer: Timer | undefined;
  #look: Promise<void> = Promise.resolve();

  constructor(options: EmbeddedJobQueueOptions) {
    const { store, clock = systemClock, progressMs = 1_000, backoffMs = defaultBackoffMs } = options;
    const { keepFinished = 1_000, keepFinishedMs = 7 * day, watchMs: everyMs = 250 } = options;
    const fault = (error: unknown): void => options.onFault?.(error);
    const kinds = this.#kinds;
    const changed = (record: JobRecord): void => this.#changed(record);
    const records = new JobRecords({ store, clock, keepFinished, keepFinishedMs, changed, fault });
    const onEnd = (): void => this.#wake();
    this.#clock = clock;
    this.#mostInterruptions = options.mostInterruptions ?? 20;
    this.#fault = fault;
    this.#records = records;
    this.#runner = new Runner({ records, kinds, clock, progressMs, backoffMs, onEnd, fault });
    this.#schedules = new Schedules({
      store,
      clock,
      jobs: records,
      enqueue: ({ kind, payload }, id) => this.enqueue(kind, payload, { id }),
      fault,
    });
    this.#watchers = createWatchers({ clock, read: (id) => this.#view(id), everyMs, fault });
  }

  async start(kinds: readonly JobKind[], { work = true }: { readonly work?: boolean } = {}): Promise<void> {
    checkKinds(kinds);
    if (this.#stage !== "new") throw new FedwayError("CONFIG_INVALID", "The job queue has been started already.");
    this.#stage = "starting";
    for (const kind of kinds) this.#kinds.set(kind.name, kind);
    try {
      await this.#records.load();
      const options = { kinds: this.#kinds, nowMs: this.#clock.now(), mostInterruptions: this.#mostInterruptions };
      await recover(this.#records, options);
      await this.#schedules.load();
    } catch (error) {
      this.#stage = "new";
      this.#kinds.clear();
      throw error;
    }
    this.#works = work;
    this.#stage = "started";
    this.#wake();
  }

  async enqueue(kind: string, payload: unknown, options: EnqueueOptions = {}): Promise<Job> {
    this.#checkStarted();
    checkEnqueueOptions(options);
    const { id = randomUUID() } = options;
    const checked = checkedPayload(this.#kinds, kind, payload);
    const children = options.children && checkedChildren(this.#kinds, id, options.children);
    while (this.#entering.has(id)) await this.#entering.get(id);
    const held = this.#records.get(id);
    if (held !== undefined && isOpen(held)) return jobOf(held);
    if (held !== undefined && this.#records.isNeeded(held)) {
      const message = `The job ${id} is a finished part of the job ${held.parent?.id}, which still needs it.`;
      throw new FedwayError("REQUEST_INVALID", message);
    }
    const job = this.#newJob({ ...options, id, children }, kind, checked);
    const parts = (children ?? []).map((child, index) => this.#newChild(job, child, index));
    await this.#add(job, parts);
    this.#wake();
    return jobOf(job);
  }

  async get(id: string): Promise<Job | undefined> {
    checkId(id);
    return this.#view(id);
  }

  async list({
    kind,
    state,
    limit = defaultListed,
  }: NonNullable<Parameters<JobQueue["list"]>[0]> = {}): Promise<readonly Job[]> {
    const isListed = (record: JobRecord): boolean =>
      (kind === undefined || record.kind === kind) && (state === undefined || record.state === state);
    return this.#records
      .values()
      .filter(isListed)
      .toSorted((left, right) => right.order - left.order)
      .slice(0, limit)
      .map((record) => jobOf(record));
  }

  async cancel(id: string): Promise<boolean> {
    checkId(id);
    const record = this.#records.get(id);
    if (record === undefined || !isOpen(record)) return false;
    await this.#records.end(record, "cancelled").finally(() => this.#wake());
    return true;
  }

  watch(id: string, listener: (job: Job) => void): () => void {
    return this.#watchers.watch(id, listener);
  }

  async schedule(schedule: JobSchedule): Promise<void> {
    this.#checkStarted();
    checkedPayload(this.#kinds, schedule.kind, schedule.payload);
    await this.#schedules.add(schedule);
    this.#wake();
  }

  unschedule(name: string): Promise<void> {
    return this.#schedules.remove(name);
  }

  async close(graceMs = 5_000): Promise<void> {
    if (this.#stage === "closed") return;
    this.#stage = "closed";
    this.#clock.clearTimeout(this.#timer);
    await this.#look;
    await this.#runner.stop(graceMs);
    await this.#records.flush().catch(this.#fault);
    this.#watchers.close();
  }

  #checkStarted(): void {
    if (this.#stage === "started") return;
    throw new FedwayError("STORE_FAILED", `The job queue is ${this.#stage === "closed" ? "closed" : "not started"}.`);
  }

  /** A job with its result. */
  async #view(id: string): Promise<Job | undefined> {
    const record = this.#records.get(id);
    return record && jobOf(record, await this.#records.resultOf(record));
  }

  #changed(record: JobRecord): void {
    this.#watchers.notify(record.id);
    if (!isOpen(record)) this.#runner.drop(record.id);
  }

  /** Starts what can be started, and wakes up for what is due later. */
  #wake(): void {
    if (this.#stage !== "started") return;
    // Read before the runner looks: what becomes due after its look must still be ahead here.
    const now = this.#clock.now();
    const due = [this.#records.prune(), this.#records.hasUnsaved ? now + unsavedAgainMs : Number.POSITIVE_INFINITY];
    if (this.#works) due.push(this.#runner.fill(), this.#schedules.nextMs);
    const waitMs = Math.min(Math.max(1, Math.min(...due) - now), longestWaitMs);
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => {
      this.#look = this.#look.then(() => this.#tick());
    }, waitMs);
  }

  async #tick(): Promise<void> {
    await this.#records.flush().catch(this.#fault);
    if (this.#works && this.#stage === "started") await this.#schedules.tick();
    this.#wake();
  }

  #newJob({ id, priority = 0, children }: NewJobOptions, kind: string, payload: unknown): JobRecord {
    const now = this.#clock.now();
    // Grows within this process, and from one start to the next as the clock does; those of the children follow it.
    const order = Math.max(this.#lastOrder + 1, now * 1_000);
    this.#lastOrder = order + (children?.length ?? 0);
    const job = { id, kind, payload, priority, order, createdAtMs: now, runAtMs: now };
    const names = children?.map(({ name }) => name);
    return { ...job, state: "waiting", attempts: 0, failures: 0, interruptions: 0, children: names };
  }

  #newChild(parent: JobRecord, { name, kind, payload }: ChildJob, index: number): JobRecord {
    const id = childId(parent.id, name);
    const held = this.#records.get(id);
    const isTaken = held !== undefined && (isOpen(held) || this.#records.isNeeded(held));
    if (isTaken || this.#entering.has(id)) {
      throw new FedwayError("REQUEST_INVALID", `The id ${id} stands for another job.`);
    }
    const order = parent.order + 1 + index;
    return { ...parent, id, kind, payload, order, children: undefined, parent: { id: parent.id, order: parent.order } };
  }

  async #add(job: JobRecord, children: readonly JobRecord[]): Promise<void> {
    const ids = [job, ...children].map(({ id }) => id);
    const adding = this.#records.add(job, children);
    const settled = adding.catch(() => {});
    for (const id of ids) this.#entering.set(id, settled);
    try {
      await adding;
    } finally {
      for (const id of ids) this.#entering.delete(id);
    }
  }
}

type NewJobOptions = EnqueueOptions & { readonly id: string };
