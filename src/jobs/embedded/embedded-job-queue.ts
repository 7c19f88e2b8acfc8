import { randomUUID } from "node:crypto";
import { Type } from "typebox";
import { type Clock, systemClock, type Timer } from "../../clock.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { createCollection } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import {
  checkedPayload,
  checkEnqueueOptions,
  checkId,
  checkKinds,
  checkSchedule,
  type PublicError,
} from "../bounds.ts";
import type { EnqueueOptions, Job, JobKind, JobQueue, JobSchedule, Work } from "../job-queue.ts";
import { createWatchers, type Watchers } from "../watchers.ts";
import { isOpen, jobOf, type JobRecord, JobRecords } from "./job-records.ts";
import { Runner } from "./runner.ts";

/** How an embedded queue works; all times in milliseconds. */
const defaults = {
  clock: systemClock,
  /** How often progress is written, and what the store did not take. */
  progressMs: 1_000,
  /** Shortest time between two calls of a watcher. */
  watchMs: 250,
  /** Finished jobs that are kept, their bytes in memory, and how long. */
  keepFinished: 1_000,
  keepFinishedBytes: 32 * 1024 * 1024,
  keepFinishedMs: 7 * 24 * 3_600_000,
  /** Wait before the next run after this number of failures. */
  backoffMs: (failures: number): number => Math.min(1_000 * 2 ** (failures - 1), 300_000),
  /** Ends of the process in the middle of a job after which that is given up. */
  mostInterruptions: 20,
  /** Called with what goes wrong inside the queue and is tried again, e.g. a store that fails for a while. */
  onFault: (_error: unknown): void => undefined,
};

/** No other process changes the jobs in the store: this one holds the data folder. */
type EmbeddedJobQueueOptions = Partial<typeof defaults> & { readonly store: Store };

const longestWaitMs = 3_600_000;
const defaultListed = 100;

/** A queue in this process, the only one of its store, whose jobs survive the process as the store's documents do. */
export class EmbeddedJobQueue implements JobQueue {
  readonly name = "embedded";
  readonly #options: Required<EmbeddedJobQueueOptions>;
  readonly #kinds = new Map<string, JobKind>();
  readonly #records: JobRecords;
  readonly #runner: Runner;
  readonly #schedules: ReturnType<typeof createSchedules>;
  readonly #watchers: Watchers;
  readonly #bytes = new WeakMap<JobRecord, number>();
  /** Jobs are added one after the other. */
  #adding: Promise<unknown> = Promise.resolve();
  #stage: "new" | "starting" | "started" | "closed" = "new";
  #work: Work = false;
  #lastOrder = 0;
  #timer: Timer | undefined;
  #look: Promise<void> = Promise.resolve();

  constructor(given: EmbeddedJobQueueOptions) {
    const options = { ...defaults, ...given };
    const { clock, watchMs: everyMs, onFault: fault } = options;
    this.#options = options;
    this.#records = new JobRecords({ ...options, changed: (record) => this.#changed(record) });
    this.#runner = new Runner({ ...options, records: this.#records, onEnd: () => this.#wake() });
    this.#schedules = createSchedules({
      ...options,
      enqueue: async ({ kind, payload }, id) => this.#records.get(id) ?? this.enqueue(kind, payload, { id }),
      isUnderWay: (id) => this.#openJob(id) !== undefined,
      // A closed queue leaves its turns to the next start.
      onFault: (error) => (this.#stage === "closed" ? undefined : fault(error)),
    });
    this.#watchers = createWatchers({ clock, read: (id) => this.#view(id), everyMs, fault });
  }

  async start(kinds: readonly JobKind[], { work = true }: { readonly work?: Work } = {}): Promise<void> {
    checkKinds(kinds);
    if (this.#stage !== "new") throw new FedwayError("CONFIG_INVALID", "The job queue has been started already.");
    this.#stage = "starting";
    try {
      await this.#records.load();
      await this.#schedules.load();
    } catch (error) {
      this.#stage = "new";
      throw error;
    }
    for (const kind of kinds) this.#kinds.set(kind.name, kind);
    this.#work = work;
    this.#stage = "started";
    this.#wake();
  }

  enqueue(kind: string, payload: unknown, options: EnqueueOptions = {}): Promise<Job> {
    const adding = this.#adding.then(() => this.#add(kind, payload, options));
    this.#adding = adding.catch(() => {});
    return adding;
  }

  async #add(kind: string, payload: unknown, options: EnqueueOptions): Promise<Job> {
    this.#checkStarted();
    checkEnqueueOptions(options);
    const { id = randomUUID(), priority = 0 } = options;
    const checked = checkedPayload(this.#kinds, kind, payload);
    const open = this.#openJob(id);
    if (open) return jobOf(open);
    const now = this.#options.clock.now();
    // Grows within this process, and from one start to the next as the clock does.
    const order = Math.max(this.#lastOrder + 1, now * 1_000);
    this.#lastOrder = order;
    const counts = { attempts: 0, failures: 0, interruptions: 0, createdAtMs: now, runAtMs: now } as const;
    const job: JobRecord = { ...counts, id, kind, state: "waiting", priority, order, payload: checked };
    await this.#records.add(job);
    this.#wake();
    return jobOf(job);
  }

  async get(id: string): Promise<Job | undefined> {
    checkId(id);
    return this.#view(id);
  }

  async list({ kind, state, limit = defaultListed }: NonNullable<Parameters<JobQueue["list"]>[0]> = {}) {
    return this.#records
      .values()
      .filter((one) => (kind ?? one.kind) === one.kind && (state ?? one.state) === one.state)
      .toSorted((left, right) => right.order - left.order)
      .slice(0, limit)
      .map((record) => jobOf(record));
  }

  async cancel(id: string): Promise<boolean> {
    checkId(id);
    const record = this.#openJob(id);
    if (record === undefined) return false;
    await this.#records.save(this.#ended(record, "cancelled")).finally(() => this.#wake());
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
    this.#options.clock.clearTimeout(this.#timer);
    await this.#look;
    await this.#runner.stop(graceMs);
    await this.#records.close();
    this.#watchers.close();
  }

  #checkStarted(): void {
    if (this.#stage === "started") return;
    throw new FedwayError("STORE_FAILED", `The job queue is ${this.#stage === "closed" ? "closed" : "not started"}.`);
  }

  #openJob(id: string): JobRecord | undefined {
    const record = this.#records.get(id);
    return record && isOpen(record) ? record : undefined;
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

  /** Repairs and forgets jobs, starts what can be started, and wakes up for what is due later. */
  #wake(): void {
    if (this.#stage !== "started") return;
    const { clock } = this.#options;
    // Read before the jobs are looked at: what becomes due after that must still be ahead.
    const now = clock.now();
    this.#recover(now);
    const due = [this.#prune(now)];
    if (this.#work !== false) due.push(this.#fill(now));
    if (this.#work === true) due.push(this.#schedules.nextMs());
    clock.clearTimeout(this.#timer);
    const waitMs = Math.min(Math.max(1, Math.min(...due) - now), longestWaitMs);
    this.#timer = clock.setTimeout(() => {
      this.#look = this.#look
        .then(() => (this.#work === true ? this.#schedules.tick() : undefined))
        .then(() => this.#wake());
    }, waitMs);
  }

  /** Has jobs that no run belongs to wait again, as after the end of the process. */
  #recover(now: number): void {
    for (const record of this.#records.values()) {
      if (!isOpen(record)) continue;
      const next = this.#recovered(record, now);
      if (next !== record) void this.#records.save(next).catch(this.#options.onFault);
    }
  }

  #recovered(record: JobRecord, now: number): JobRecord {
    const { kind, state, interruptions: before } = record;
    if (!this.#kinds.has(kind)) {
      const message = `This version of the service has no jobs of the kind ${kind}.`;
      return this.#ended(record, "failed", { code: "REQUEST_INVALID", message });
    }
    if (state === "waiting" || this.#runner.has(record.id)) return record;
    const interruptions = before + 1;
    if (interruptions < this.#options.mostInterruptions) {
      return { ...record, interruptions, state: "waiting", runAtMs: now };
    }
    const message = `The job was given up: its worker ended ${interruptions} times while it ran.`;
    return this.#ended(record, "failed", { code: "INTERNAL", message });
  }

  #ended(record: JobRecord, state: "failed" | "cancelled", error?: PublicError): JobRecord {
    return { ...record, state, error, finishedAtMs: this.#options.clock.now() };
  }

  /** Starts the jobs that may run now, by priority and then in the order of enqueuing; gives when the next one may. */
  #fill(now: number): number {
    let dueMs = Number.POSITIVE_INFINITY;
    const waiting = this.#records.values().filter(({ id, state }) => state === "waiting" && !this.#runner.has(id));
    const runs = (name: string): boolean => this.#work === true || (this.#work !== false && this.#work.includes(name));
    for (const record of waiting.toSorted(byTurn)) {
      const kind = runs(record.kind) ? this.#kinds.get(record.kind) : undefined;
      if (kind && record.runAtMs > now) dueMs = Math.min(dueMs, record.runAtMs);
      else if (kind && this.#runner.hasRoom(kind)) this.#runner.start(kind, record);
    }
    return dueMs;
  }

  /** Forgets finished jobs that are too many, too large together or too old; gives when the next one will be too old. */
  #prune(now: number): number {
    const { keepFinished, keepFinishedBytes, keepFinishedMs, onFault } = this.#options;
    const over = this.#records.values().filter((record) => !isOpen(record));
    const isOld = ({ finishedAtMs = 0 }: JobRecord): boolean => finishedAtMs + keepFinishedMs <= now;
    let bytes = 0;
    const old = over.toReversed().filter((record, index) => {
      bytes += this.#bytesOf(record);
      return index >= keepFinished || bytes > keepFinishedBytes || isOld(record);
    });
    for (const record of old.toReversed()) void this.#records.forget(record).catch(onFault);
    const next = over.find((record) => !isOld(record));
    return (next?.finishedAtMs ?? Number.POSITIVE_INFINITY) + keepFinishedMs;
  }

  /** Estimated bytes of a finished job, which does not change any more. */
  #bytesOf(record: JobRecord): number {
    const bytes = this.#bytes.get(record) ?? 1_000 + 3 * JSON.stringify(record).length;
    this.#bytes.set(record, bytes);
    return bytes;
  }
}

const byTurn = (left: JobRecord, right: JobRecord): number =>
  right.priority - left.priority || left.order - right.order;

interface ScheduleRecord extends JobSchedule {
  /** Moment of the next turn. */
  readonly nextAtMs: number;
  /** Id of the job of the last turn. */
  readonly lastJob?: string;
}

const scheduleSchema = Type.Unsafe<ScheduleRecord>(
  Type.Object({ name: Type.String(), kind: Type.String(), everyMs: Type.Number(), nextAtMs: Type.Number() }),
);

interface SchedulesOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Enqueues the job of a turn, unless there is one. */
  readonly enqueue: (schedule: JobSchedule, id: string) => Promise<unknown>;
  readonly isUnderWay: (id: string) => boolean;
  readonly onFault: (error: unknown) => void;
}

/** Wait before a turn is tried again that could not be enqueued. */
const againMs = 1_000;

/** Jobs that come again and again: in memory, written through to the store. */
function createSchedules({ store, clock, enqueue, isUnderWay, onFault }: SchedulesOptions) {
  const documents = createCollection({
    store,
    prefix: "jobs/schedule/",
    schema: scheduleSchema,
    lost: "The schedule begins anew.",
  });
  const schedules = new Map<string, ScheduleRecord>();
  const save = async (schedule: ScheduleRecord): Promise<void> => {
    await documents.put(schedule.name, schedule);
    schedules.set(schedule.name, schedule);
  };
  const takeTurn = async (schedule: ScheduleRecord): Promise<void> => {
    const { name, everyMs, nextAtMs, lastJob } = schedule;
    // Turns during which no process ran are made up for by one.
    const turnAtMs = nextAtMs + Math.floor((clock.now() - nextAtMs) / everyMs) * everyMs;
    // A turn that comes while the one before is not done is left out: jobs must not pile up.
    const job = lastJob !== undefined && isUnderWay(lastJob) ? lastJob : `${name}.${turnAtMs}`;
    await enqueue(schedule, job);
    const held = schedules.get(name);
    if (held !== undefined) await save({ ...held, nextAtMs: turnAtMs + held.everyMs, lastJob: job });
  };
  return {
    /** When the next turn is due. */
    nextMs: (): number => Math.min(...Array.from(schedules.values(), ({ nextAtMs }) => nextAtMs)),
    async load(): Promise<void> {
      for await (const [name, schedule] of documents.entries()) schedules.set(name, schedule);
    },
    /** Adds or changes a schedule. Its first turn is now; a schedule that is there already keeps its next turn. */
    async add(schedule: JobSchedule): Promise<void> {
      checkSchedule(schedule);
      const { name, kind, payload, everyMs } = schedule;
      const now = clock.now();
      const held = schedules.get(name);
      const nextAtMs = Math.min(held?.nextAtMs ?? now, now + everyMs);
      await save({ ...held, name, kind, payload: payload ?? null, everyMs, nextAtMs });
    },
    async remove(name: string): Promise<void> {
      schedules.delete(name);
      await documents.delete(name);
    },
    /** Enqueues what is due. */
    async tick(): Promise<void> {
      for (const schedule of Array.from(schedules.values())) {
        if (schedule.nextAtMs > clock.now()) continue;
        await takeTurn(schedule).catch((error: unknown) => {
          onFault(error);
          const held = schedules.get(schedule.name);
          if (held !== undefined) schedules.set(held.name, { ...held, nextAtMs: clock.now() + againMs });
        });
      }
    },
  };
}
