import { every, systemClock } from "../../clock.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { checkRedisPlace } from "../../store/redis/redis-connection.ts";
import { checkId, checkKinds } from "../bounds.ts";
import type { Job, JobKind, JobQueue, Work } from "../job-queue.ts";
import { createWatchers, type Watchers } from "../watchers.ts";
import { startWorkers, type Workers } from "./bullmq-worker.ts";
import { createIntake, type Intake } from "./intake.ts";
import { JobTable } from "./job-table.ts";
import { openRedisLink, type RedisLink } from "./redis-link.ts";
import { openSchedules, type Schedules } from "./schedules.ts";

/** How a queue in Redis works; all times in milliseconds. */
const defaults = {
  /** How long a job stays with a worker that gives no sign of life. */
  leaseMs: 30_000,
  /** How often a worker looks for jobs of workers that are gone. */
  stalledMs: 10_000,
  /** Lost workers after which a job is given up. */
  mostInterruptions: 20,
  /** Wait before the next run after this number of failures. */
  backoffMs: (failures: number): number => Math.min(1_000 * 2 ** (failures - 1), 300_000),
  /** Shortest time between two reports of progress in Redis. */
  progressMs: 250,
  /** Shortest time between two calls of a watcher. */
  watchMs: 250,
  /** How often watched and running jobs are read for what other processes did. */
  lookMs: 500,
  /** How often lost schedules are restored. */
  sweepMs: 30_000,
  /** Longest wait for Redis at the start. */
  connectTimeoutMs: 5_000,
  /** Longest wait for the answer to one command. */
  commandTimeoutMs: 3_000,
  /** Finished jobs of a kind that are kept, and how long. */
  keepFinished: 1_000,
  keepFinishedMs: 7 * 24 * 3_600_000,
  /** Called with failures in the background. */
  onFault: (_error: unknown): void => undefined,
};

interface RedisPlace {
  /** `redis://` or `rediss://`, with account and database. */
  readonly url: string;
  /** Prefix of every key: a short name and a colon, e.g. `fedway:`; the same in all processes of a deployment. */
  readonly prefix: string;
}

type BullmqJobQueueOptions = RedisPlace & Partial<typeof defaults>;

interface Started {
  readonly link: RedisLink;
  readonly table: JobTable;
  readonly intake: Intake;
  readonly schedules: Schedules;
  readonly workers: Workers | undefined;
  readonly repeated: readonly { stop(): Promise<void> }[];
}

interface QueueParts {
  readonly options: RedisPlace & typeof defaults;
  readonly kinds: Map<string, JobKind>;
  readonly watchers: Watchers;
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

function createParts(given: BullmqJobQueueOptions): QueueParts {
  const options = { ...defaults, ...given };
  const { watchMs: everyMs, onFault: fault } = options;
  const read = (id: string): Promise<Job | undefined> => running(parts).table.view(id);
  const watchers = createWatchers({ clock: systemClock, read, everyMs, fault });
  const parts: QueueParts = { options, kinds: new Map(), watchers, started: undefined, isClosing: false };
  return parts;
}

/** @throws FedwayError `STORE_FAILED` before the start and after the end */
function running({ started }: QueueParts): Started {
  if (started === undefined) throw new FedwayError("STORE_FAILED", "The job queue is not started.");
  return started;
}

async function start({ options, kinds, watchers }: QueueParts, work: Work): Promise<Started> {
  const { prefix, sweepMs, lookMs, onFault } = options;
  const link = await openRedisLink({ ...options, kinds: kinds.keys(), fault: onFault });
  try {
    const ended = (id: string): void => {
      workers?.end(id);
      watchers.notify(id);
    };
    const table = new JobTable({ link, kinds, keepFinishedMs: options.keepFinishedMs, ended });
    const schedules = await openSchedules({ link, kinds, keeping: options, prefix });
    const intake = createIntake({ link, table, kinds, keeping: options, prefix });
    const how = {
      ...options,
      table,
      handOver: intake.handOver,
      changed: (id: string) => watchers.notify(id),
      fault: onFault,
    };
    const run = [...kinds.values()].filter(({ name }) => work === true || (work !== false && work.includes(name)));
    const workers = run.length > 0 ? startWorkers(run, how) : undefined;
    const look = async (): Promise<void> => {
      for (const id of watchers.watched()) watchers.notify(id);
      await workers?.check();
    };
    const times = { clock: systemClock, onFault };
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
