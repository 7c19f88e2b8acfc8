import { randomUUID } from "node:crypto";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Store } from "../../store/store.ts";
import { checkId, checkKinds } from "../bounds.ts";
import { type JobClock, systemClock } from "../clock.ts";
import type { Job, JobQueue } from "../job-queue.ts";
import { loseRun } from "./active-run.ts";
import { createIntake, type Intake } from "./intake.ts";
import { createJobDocuments } from "./job-documents.ts";
import { createJobMirror } from "./job-mirror.ts";
import { isOpen, type JobRecord, jobOf } from "./job-record.ts";
import { createPump, type Pump } from "./pump.ts";
import { type QueueCore, withoutOwner } from "./queue-core.ts";
import { createSchedules, type Schedules } from "./schedules.ts";
import { createWatchers, type Watchers } from "./watchers.ts";
import { createWorker, type Worker } from "./worker.ts";

/** How an embedded queue works; all times in milliseconds. */
export interface EmbeddedJobQueueOptions {
  readonly store: Store;
  readonly clock?: JobClock;
  /** Names this process in leases; default: a random one. */
  readonly owner?: string;
  /**
   * No other process works on this store, because this one holds the data folder: jobs that a former process left
   * behind as running are run again at once instead of when their lease ends. Default false.
   */
  readonly soleOwner?: boolean;
  /** How long a job stays with a worker that gives no sign of life; default 30,000. */
  readonly leaseMs?: number;
  /** How often the store is looked through for what other processes did; default 2,000, or 30,000 for a sole owner. */
  readonly surveyMs?: number;
  /** How often progress is written; default 1,000. */
  readonly progressMs?: number;
  /** Shortest time between two calls of a watcher; default 250. */
  readonly watchMs?: number;
  /** Finished jobs that are kept; default 1,000. */
  readonly keepFinished?: number;
  /** How long they are kept; default 7 days. */
  readonly keepFinishedMs?: number;
  /** Wait before the next run after so many failures; default 1 s, doubled with each, at most 5 minutes. */
  readonly backoffMs?: (failures: number) => number;
  /** Lost workers after which a job is given up; default 20. */
  readonly mostInterruptions?: number;
  /** Hears what goes wrong inside the queue and is tried again, e.g. a store that fails for a while. */
  readonly onFault?: (error: unknown) => void;
}

const day = 24 * 3_600_000;
const defaultListed = 100;

interface QueueParts {
  readonly core: QueueCore;
  readonly worker: Worker;
  readonly schedules: Schedules;
  readonly watchers: Watchers;
  readonly intake: Intake;
  readonly pump: Pump;
  readonly get: (id: string) => Promise<Job | undefined>;
}

/** A queue in this process whose jobs live in a `Store` and survive the process as the store's documents do. */
export function createEmbeddedJobQueue(options: EmbeddedJobQueueOptions): JobQueue {
  const parts = createParts(options);
  const { core, intake, pump, schedules, watchers, worker } = parts;
  let started = false;
  return {
    name: "embedded",
    async start(kinds) {
      checkKinds(kinds);
      if (started) throw new FedwayError("CONFIG_INVALID", "The job queue has been started already.");
      started = true;
      for (const kind of kinds) core.kinds.set(kind.name, kind);
      try {
        await pump.survey();
      } catch (error) {
        started = false;
        core.kinds.clear();
        throw error;
      }
    },
    async enqueue(kind, payload, enqueueOptions = {}) {
      if (core.closing) throw new FedwayError("STORE_FAILED", "The job queue is closed.");
      return jobOf(await intake.enqueue(kind, payload, enqueueOptions));
    },
    async get(id) {
      checkId(id);
      return parts.get(id);
    },
    list: (listOptions = {}) => list(parts, listOptions),
    async cancel(id) {
      checkId(id);
      return cancel(parts, id);
    },
    watch: (id, listener) => watchers.watch(id, listener),
    schedule: (schedule) => schedules.add(schedule),
    unschedule: (name) => schedules.remove(name),
    async close(graceMs = 5_000) {
      if (core.closing) return;
      core.closing = true;
      await pump.stop();
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
  const surveyEveryMs = options.surveyMs ?? (soleOwner ? 30_000 : 2_000);
  const pump = createPump({ core, worker, schedules, soleOwner, surveyEveryMs, keepFinished });
  core.changed = (held) => {
    core.mirror.see(held);
    watchers.notify(held.record.id);
  };
  core.progressed = (id) => watchers.notify(id);
  core.pump = pump.run;
  return { core, worker, schedules, watchers, intake, pump, get };
}

const nothing = (): void => {};

function createCore(options: EmbeddedJobQueueOptions): QueueCore {
  const { store, leaseMs = 30_000, keepFinishedMs = 7 * day } = options;
  return {
    clock: options.clock ?? systemClock,
    documents: createJobDocuments({ store, keepFinishedMs, leaseMs }),
    mirror: createJobMirror(),
    owner: options.owner ?? randomUUID(),
    kinds: new Map(),
    leaseMs,
    progressMs: options.progressMs ?? 1_000,
    backoffMs: options.backoffMs ?? ((failures) => Math.min(1_000 * 2 ** (failures - 1), 300_000)),
    mostInterruptions: options.mostInterruptions ?? 20,
    closing: false,
    changed: nothing,
    progressed: nothing,
    pump: nothing,
    fault: (error) => options.onFault?.(error),
  };
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

async function cancel({ core, worker }: QueueParts, id: string): Promise<boolean> {
  for (;;) {
    const held = await core.documents.read(id);
    if (held === undefined || !isOpen(held.record.state)) return false;
    const record: JobRecord = { ...withoutOwner(held.record), state: "cancelled", finishedAtMs: core.clock.now() };
    const version = await core.documents.write(record, held.version);
    if (version === undefined) continue;
    const run = worker.get(id);
    // A run without a record is about to claim the job.
    if (run !== undefined && (run.held?.record.attempts ?? record.attempts) === record.attempts)
      loseRun(run, "The job was cancelled.");
    core.changed({ record, version });
    core.pump();
    return true;
  }
}
