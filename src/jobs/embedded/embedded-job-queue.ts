import { randomUUID } from "node:crypto";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Store } from "../../store/store.ts";
import { checkId, checkKinds } from "../bounds.ts";
import { systemClock } from "../../clock.ts";
import type { Job, JobQueue } from "../job-queue.ts";
import { cancelJob, endRunOf, createWorker, type Worker } from "./worker.ts";
import { createIntake, type Intake } from "./intake.ts";
import { createJobCore, type JobCore, type JobQueueTimes } from "./job-core.ts";
import { type JobRecord, jobOf } from "./job-record.ts";
import { createWatchers, type Watchers } from "../watchers.ts";
import { createJobDocuments } from "./job-documents.ts";
import { createDispatcher, type Dispatcher } from "./dispatcher.ts";
import { createSchedules, type Schedules } from "./schedules.ts";

/** How an embedded queue works; all times in milliseconds. */
export interface EmbeddedJobQueueOptions extends JobQueueTimes {
  readonly store: Store;
  /**
   * No other process works on this store, because this one holds the data folder: jobs that a former process left
   * behind as running are run again at once instead of when their lease ends. Default false.
   */
  readonly soleOwner?: boolean;
  /** How often the store is looked through for what other processes did; default 2,000, or 30,000 for a sole owner. */
  readonly sweepMs?: number;
}

const day = 24 * 3_600_000;
const defaultListed = 100;

interface QueueParts {
  readonly core: JobCore;
  readonly worker: Worker;
  readonly schedules: Schedules;
  readonly watchers: Watchers;
  readonly intake: Intake;
  readonly dispatcher: Dispatcher;
  readonly get: (id: string) => Promise<Job | undefined>;
}

/** A queue in this process whose jobs live in a `Store` and survive the process as the store's documents do. */
export function createEmbeddedJobQueue(options: EmbeddedJobQueueOptions): JobQueue {
  const parts = createParts(options);
  const { core, intake, dispatcher, schedules, watchers, worker } = parts;
  let started = false;
  return {
    name: "embedded",
    async start(kinds, { work = true } = {}) {
      checkKinds(kinds);
      if (started) throw new FedwayError("CONFIG_INVALID", "The job queue has been started already.");
      started = true;
      core.working = work;
      for (const kind of kinds) core.kinds.set(kind.name, kind);
      try {
        await dispatcher.sweep();
      } catch (error) {
        started = false;
        core.kinds.clear();
        throw error;
      }
    },
    async enqueue(kind, payload, enqueueOptions = {}) {
      if (core.closing) throw new FedwayError("STORE_FAILED", "The job queue is closed.");
      const record = await intake.enqueue(kind, payload, enqueueOptions);
      core.dispatch();
      return jobOf(record);
    },
    async get(id) {
      checkId(id);
      return parts.get(id);
    },
    list: (listOptions = {}) => list(parts, listOptions),
    async cancel(id) {
      checkId(id);
      const cancelled = await cancelJob(core, id);
      if (cancelled !== undefined) core.dispatch();
      return cancelled !== undefined;
    },
    watch: (id, listener) => watchers.watch(id, listener),
    schedule: (schedule) => schedules.add(schedule),
    unschedule: (name) => schedules.remove(name),
    async close(graceMs = 5_000) {
      if (core.closing) return;
      core.closing = true;
      await dispatcher.stop();
      await worker.stop(graceMs);
      watchers.close();
    },
  };
}

function createParts(options: EmbeddedJobQueueOptions): QueueParts {
  const core = createCore(options);
  const worker = createWorker(core);
  const get = async (id: string): Promise<Job | undefined> => {
    const held = await core.documents.read(id);
    if (held === undefined) return undefined;
    const { resultKey } = held.record;
    const result = resultKey === undefined ? undefined : await core.documents.readResult(resultKey);
    return jobOf(latest(worker, held.record), result);
  };
  const watchers = createWatchers({ clock: core.clock, read: get, everyMs: options.watchMs ?? 250, fault: core.fault });
  const intake = createIntake(core);
  const schedules = createSchedules(core, options.store, intake);
  const { soleOwner = false, keepFinished = 1_000 } = options;
  const sweepEveryMs = options.sweepMs ?? (soleOwner ? 30_000 : 2_000);
  const dispatcher = createDispatcher({ core, worker, schedules, soleOwner, sweepEveryMs, keepFinished });
  core.changed = (held) => {
    core.mirror.see(held);
    watchers.notify(held.record.id);
  };
  core.endRun = (record) => endRunOf(worker.get(record.id), record);
  core.progressed = (id) => watchers.notify(id);
  core.dispatch = dispatcher.run;
  return { core, worker, schedules, watchers, intake, dispatcher, get };
}

function createCore(options: EmbeddedJobQueueOptions): JobCore {
  const { store, leaseMs = 30_000, keepFinishedMs = 7 * day, clock = systemClock, owner = randomUUID() } = options;
  const documents = createJobDocuments({ store, keepFinishedMs, leaseMs });
  return createJobCore(documents, { ...options, clock, owner });
}

/** A stored job with what this process knows beyond the store. */
function latest(worker: Worker, record: JobRecord): JobRecord {
  const progress = record.state === "running" ? worker.get(record.id)?.progress : undefined;
  return progress === undefined ? record : { ...record, progress };
}

/** Without results: they can be large, and `get` has them. */
async function list(parts: QueueParts, options: NonNullable<Parameters<JobQueue["list"]>[0]>): Promise<readonly Job[]> {
  const { kind, state, limit = defaultListed } = options;
  const all = await parts.core.documents.all();
  return all
    .map(({ record }) => record)
    .filter((record) => (kind === undefined || record.kind === kind) && (state === undefined || record.state === state))
    .toSorted((left, right) => right.order - left.order)
    .slice(0, limit)
    .map((record) => jobOf(latest(parts.worker, record)));
}
