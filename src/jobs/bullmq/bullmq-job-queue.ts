import { every, systemClock } from "../../clock.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { checkRedisPlace } from "../../store/redis/redis-connection.ts";
import { checkId, checkKinds } from "../bounds.ts";
import type { Job, JobKind, JobQueue } from "../job-queue.ts";
import { createWatchers, type Watchers } from "../watchers.ts";
import type { Keeping } from "./bullmq-job.ts";
import { startWorkers, type Workers } from "./bullmq-worker.ts";
import { createIntake, type Intake } from "./intake.ts";
import { JobTable } from "./job-table.ts";
import { openRedisLink, type RedisLink } from "./redis-link.ts";
import { openSchedules, type Schedules } from "./schedules.ts";

/** How a queue in Redis works; all times in milliseconds. */
interface BullmqJobQueueOptions extends Partial<Keeping> {
  /** `redis://` or `rediss://`, with account and database. */
  readonly url: string;
  /** What every key begins with: a short name and a colon, e.g. `fedway:`; the same in all processes of a deployment. */
  readonly prefix: string;
  /** How long a job stays with a worker that gives no sign of life; default 30,000. */
  readonly leaseMs?: number;
  /** How often a worker looks for jobs of workers that are gone; default 10,000. */
  readonly stalledMs?: number;
  /** Lost workers after which a job is given up; default 20. */
  readonly mostInterruptions?: number;
  /** Wait before the next run of a job that has failed so often; default 1 s, doubled, at most 5 minutes. */
  readonly backoffMs?: (failures: number) => number;
  /** Shortest time between two reports of progress in Redis; default 250. */
  readonly progressMs?: number;
  /** Shortest time between two calls of a watcher; default 250. */
  readonly watchMs?: number;
  /** How often watched and running jobs are read for what other processes did; default 500. */
  readonly lookMs?: number;
  /** How often lost schedules are restored; default 30,000. */
  readonly sweepMs?: number;
  /** Longest wait for Redis at the start; default 5,000. */
  readonly connectTimeoutMs?: number;
  /** Longest wait for the answer to one command; default 3,000. */
  readonly commandTimeoutMs?: number;
  /** Called with failures in the background. */
  readonly onFault?: (error: unknown) => void;
}

const day = 24 * 3_600_000;
const longestBackoffMs = 300_000;

interface Started {
  readonly link: RedisLink;
  readonly table: JobTable;
  readonly intake: Intake;
  readonly schedules: Schedules;
  readonly workers: Workers | undefined;
  readonly repeated: readonly { stop(): Promise<void> }[];
}

interface QueueParts {
  readonly options: BullmqJobQueueOptions;
  readonly keeping: Keeping;
  readonly kinds: Map<string, JobKind>;
  readonly watchers: Watchers;
  readonly fault: (error: unknown) => void;
  started: Started | undefined;
  isClosing: boolean;
}

/**
 * A queue that several processes share, over one Redis server (6.2 or newer, `maxmemory-policy noeviction`): each job is
 * a BullMQ job. Connects at the start.
 *
 * @throws FedwayError `CONFIG_INVALID`; `start` rejects with `STORE_FAILED` when Redis does not answer
 */
export function createBullmqJobQueue(options: BullmqJobQueueOptions): JobQueue {
  checkRedisPlace(options);
  const parts = createParts(options);
  let starting = false;
  return {
    name: "bullmq",
    async start(kinds, { work = true } = {}) {
      checkKinds(kinds);
      if (starting) throw new FedwayError("CONFIG_INVALID", "The job queue has been started already.");
      starting = true;
      for (const kind of kinds) parts.kinds.set(kind.name, kind);
      try {
        parts.started = await start(parts, work);
        if (parts.isClosing) await close(parts, 0);
      } catch (error) {
        starting = false;
        parts.kinds.clear();
        throw error;
      }
    },
    async enqueue(kind, payload, enqueueOptions = {}) {
      if (parts.isClosing) throw new FedwayError("STORE_FAILED", "The job queue is closed.");
      return running(parts).intake.enqueue(kind, payload, enqueueOptions);
    },
    async get(id) {
      checkId(id);
      return running(parts).table.view(id);
    },
    list: async (listOptions = {}) => running(parts).table.list(listOptions),
    async cancel(id) {
      checkId(id);
      return running(parts).table.cancel(id);
    },
    watch: (id, listener) => parts.watchers.watch(id, listener),
    schedule: async (schedule) => running(parts).schedules.add(schedule),
    unschedule: async (name) => running(parts).schedules.remove(name),
    async close(graceMs = 5_000) {
      if (parts.isClosing) return;
      parts.isClosing = true;
      await close(parts, graceMs);
    },
  };
}

function createParts(options: BullmqJobQueueOptions): QueueParts {
  const { keepFinishedMs = 7 * day, keepFinished = 1_000, watchMs: everyMs = 250 } = options;
  const fault = (error: unknown): void => options.onFault?.(error);
  const read = (id: string): Promise<Job | undefined> => running(parts).table.view(id);
  const parts: QueueParts = {
    options,
    keeping: { keepFinishedMs, keepFinished },
    kinds: new Map(),
    watchers: createWatchers({ clock: systemClock, read, everyMs, fault }),
    fault,
    started: undefined,
    isClosing: false,
  };
  return parts;
}

/** @throws FedwayError `STORE_FAILED` before the start and after the end */
function running({ started }: QueueParts): Started {
  if (started === undefined) throw new FedwayError("STORE_FAILED", "The job queue is not started.");
  return started;
}

async function start(parts: QueueParts, work: boolean): Promise<Started> {
  const { options, kinds, keeping, watchers, fault } = parts;
  const { connectTimeoutMs = 5_000, commandTimeoutMs = 3_000, sweepMs = 30_000, lookMs = 500 } = options;
  const link = await openRedisLink({ ...options, kinds: kinds.keys(), connectTimeoutMs, commandTimeoutMs, fault });
  try {
    const table = new JobTable({
      link,
      kinds,
      keepFinishedMs: keeping.keepFinishedMs,
      ended(id) {
        workers?.end(id);
        watchers.notify(id);
      },
    });
    const schedules = await openSchedules({ link, kinds, keeping, prefix: options.prefix });
    const intake = createIntake({ link, table, kinds, keeping, prefix: options.prefix });
    const workers = work
      ? startWorkers(kinds.values(), { ...workerOptions(parts), table, handOver: intake.handOver })
      : undefined;
    const look = async (): Promise<void> => {
      for (const id of watchers.watched()) watchers.notify(id);
      await workers?.check();
    };
    const times = { clock: systemClock, onFault: fault };
    const repeated = [
      every(lookMs, look, { ...times, firstAfterMs: lookMs }),
      every(sweepMs, () => schedules.restore(), { ...times, firstAfterMs: sweepMs }),
    ];
    return { link, table, intake, schedules, workers, repeated };
  } catch (error) {
    await link.close();
    throw error;
  }
}

const workerOptions = ({ options, watchers, fault }: QueueParts) => ({
  url: options.url,
  prefix: options.prefix,
  leaseMs: options.leaseMs ?? 30_000,
  stalledMs: options.stalledMs ?? 10_000,
  mostInterruptions: options.mostInterruptions ?? 20,
  progressMs: options.progressMs ?? 250,
  backoffMs: options.backoffMs ?? ((failures: number) => Math.min(1_000 * 2 ** (failures - 1), longestBackoffMs)),
  changed: (id: string) => watchers.notify(id),
  fault,
});

async function close(parts: QueueParts, graceMs: number): Promise<void> {
  const { started, watchers } = parts;
  watchers.close();
  if (started === undefined) return;
  const { link, repeated, workers } = started;
  const stopping = Promise.all(repeated.map((one) => one.stop()));
  await workers?.stop(graceMs);
  await stopping;
  await link.close();
  parts.started = undefined;
}
