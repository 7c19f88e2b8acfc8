import { randomUUID } from "node:crypto";
import { FedwayError } from "../../errors/fedway-error.ts";
import { checkId, checkKinds } from "../bounds.ts";
import { systemClock } from "../../clock.ts";
import type { Job, JobQueue } from "../job-queue.ts";
import { withProgress } from "../life/active-run.ts";
import { cancelJob, endRunOf } from "../life/cancelling.ts";
import { createIntake, type Intake } from "../life/intake.ts";
import { createJobCore, type JobCore, type JobQueueTimes } from "../life/job-core.ts";
import { type JobRecord, jobOf } from "../life/job-record.ts";
import { createWatchers, type Watchers } from "../life/watchers.ts";
import { createRedisDocuments, type RedisJobDocuments } from "./redis-documents.ts";
import { checkAddress, keysOf, openRedisLink, type RedisLink } from "./redis-link.ts";
import { startTicketWorkers, type TicketWorkers, type WorkerSettings } from "./ticket-worker.ts";
import { putUp } from "./put-up.ts";
import { createTickets, type Tickets } from "./tickets.ts";
import { openTurns, type Turns } from "./turns.ts";
import { createLook, repeat, type Repeated, sweep } from "./upkeep.ts";

/** How a queue in Redis works; all times in milliseconds. */
export interface BullmqJobQueueOptions extends Omit<JobQueueTimes, "clock"> {
  /** `redis://` or `rediss://`, with account and database. */
  readonly url: string;
  /** What every key begins with: a short name and a colon, e.g. `fedway:`; the same in all processes of a deployment. */
  readonly prefix: string;
  /** How often a worker looks for jobs of workers that are gone; default 10,000. */
  readonly stalledMs?: number;
  /** How often watched and running jobs are looked at for what other processes did; default 500. */
  readonly lookMs?: number;
  /** How often lost tickets and schedules are put up again; default 30,000. */
  readonly sweepMs?: number;
  /** Longest wait for Redis at the start; default 5,000. */
  readonly connectTimeoutMs?: number;
  /** Longest wait for the answer to one command; default 3,000. */
  readonly commandTimeoutMs?: number;
}

const day = 24 * 3_600_000;
const defaultListed = 100;

/** What there is from the start on. */
interface Started {
  readonly link: RedisLink;
  readonly tickets: Tickets;
  readonly turns: Turns;
  readonly workers: TicketWorkers | undefined;
  readonly repeated: readonly Repeated[];
}

/** What there is all the time. */
interface QueueParts {
  readonly options: BullmqJobQueueOptions;
  readonly core: JobCore & { readonly documents: RedisJobDocuments };
  readonly intake: Intake;
  readonly watchers: Watchers;
  /** There before `started`: workers begin while the rest is put together. */
  link: RedisLink | undefined;
  started: Started | undefined;
}

/**
 * A queue that several processes share, over one Redis server (6.2 or newer, `maxmemory-policy noeviction`). What a job
 * is stands in a document; BullMQ says when which worker looks at it. Connects at the start.
 *
 * @throws FedwayError `CONFIG_INVALID`; `start` rejects with `STORE_FAILED` when Redis does not answer
 */
export function createBullmqJobQueue(options: BullmqJobQueueOptions): JobQueue {
  checkAddress(options);
  const parts = createParts(options);
  const { core, intake, watchers } = parts;
  let starting = false;
  return {
    name: "bullmq",
    async start(kinds, { work = true } = {}) {
      checkKinds(kinds);
      if (starting) throw new FedwayError("CONFIG_INVALID", "The job queue has been started already.");
      starting = true;
      for (const kind of kinds) core.kinds.set(kind.name, kind);
      try {
        parts.started = await start(parts, work);
        if (core.closing) await close(parts, 0);
      } catch (error) {
        starting = false;
        core.kinds.clear();
        throw error;
      }
    },
    async enqueue(kind, payload, enqueueOptions = {}) {
      if (core.closing) throw new FedwayError("STORE_FAILED", "The job queue is closed.");
      const record = await intake.enqueue(kind, payload, enqueueOptions);
      if (record.state === "waiting") await putUp(core, running(parts).tickets, record);
      return jobOf(record);
    },
    async get(id) {
      checkId(id);
      return get(parts, id);
    },
    list: (listOptions = {}) => list(parts, listOptions),
    async cancel(id) {
      checkId(id);
      const { tickets } = running(parts);
      const cancelled = await cancelJob(core, id);
      // The job is cancelled already; a ticket that stays comes to nothing.
      if (cancelled !== undefined) await tickets.remove([cancelled]).catch(core.fault);
      return cancelled !== undefined;
    },
    watch: (id, listener) => watchers.watch(id, listener),
    async schedule(schedule) {
      await running(parts).turns.add(schedule);
    },
    async unschedule(name) {
      await running(parts).turns.remove(name);
    },
    async close(graceMs = 5_000) {
      if (core.closing) return;
      core.closing = true;
      await close(parts, graceMs);
    },
  };
}

function createParts(options: BullmqJobQueueOptions): QueueParts {
  const { leaseMs = 30_000, keepFinishedMs = 7 * day, keepFinished = 1_000, owner = randomUUID() } = options;
  const clock = systemClock;
  const link = (): RedisLink => parts.link ?? running(parts).link;
  const documents = createRedisDocuments({ link, clock, keepFinishedMs, keepFinished, leaseMs });
  const core = createJobCore(documents, { ...options, clock, owner });
  const read = (id: string): Promise<Job | undefined> => get(parts, id);
  const watchers = createWatchers({ clock, read, everyMs: options.watchMs ?? 250, fault: core.fault });
  core.changed = ({ record }) => watchers.notify(record.id);
  core.endRun = (record) => endRunOf(parts.started?.workers?.get(record.id), record);
  core.withdrawn = async (records) => parts.started?.tickets.remove(records);
  core.progressed = (id) => watchers.notify(id);
  const parts: QueueParts = {
    options,
    core,
    intake: createIntake(core),
    watchers,
    link: undefined,
    started: undefined,
  };
  return parts;
}

/** @throws FedwayError `STORE_FAILED` before the start and after the end */
function running({ started }: QueueParts): Started {
  if (started === undefined) throw new FedwayError("STORE_FAILED", "The job queue is not started.");
  return started;
}

async function start(parts: QueueParts, work: boolean): Promise<Started> {
  const { core, intake, options, watchers } = parts;
  const { url, prefix, connectTimeoutMs = 5_000, commandTimeoutMs = 3_000 } = options;
  const link = await openRedisLink({ url, prefix, connectTimeoutMs, commandTimeoutMs, fault: core.fault });
  parts.link = link;
  try {
    const keys = keysOf(prefix);
    const tickets = createTickets(link, { now: () => core.clock.now(), kindKeys: keys.kinds });
    const turns = await openTurns({ core, link, intake, tickets });
    const { mostInterruptions: mostStalled, leaseMs: lockMs } = core;
    const settings: Omit<WorkerSettings, "prefix"> = {
      url,
      lockMs,
      stalledMs: options.stalledMs ?? 10_000,
      mostStalled,
    };
    const workers = work ? startTicketWorkers(core, { ...settings, prefix: keys.kinds }) : undefined;
    if (work) turns.work({ ...settings, prefix: keys.turns });
    const active = (): ReturnType<TicketWorkers["active"]> => workers?.active() ?? [];
    const look = createLook({ core, documents: core.documents, watched: () => watchers.watched(), active });
    const restoring = repeat(core, options.sweepMs ?? 30_000, async () => {
      await turns.restore();
      if (work) await sweep({ core, link, tickets, kindKeys: keys.kinds });
    });
    link.onReturn(() => restoring.now());
    return { link, tickets, turns, workers, repeated: [restoring, repeat(core, options.lookMs ?? 500, look)] };
  } catch (error) {
    parts.link = undefined;
    await link.close();
    throw error;
  }
}

async function close(parts: QueueParts, graceMs: number): Promise<void> {
  const { started, watchers } = parts;
  watchers.close();
  if (started === undefined) return;
  const { link, repeated, tickets, turns, workers } = started;
  const stopping = Promise.all(repeated.map((one) => one.stop()));
  await Promise.all([turns.stop(), workers?.stop(graceMs)]);
  await stopping;
  await tickets.close();
  await link.close();
  parts.link = undefined;
  parts.started = undefined;
}

async function get(parts: QueueParts, id: string): Promise<Job | undefined> {
  const { documents } = parts.core;
  const held = await documents.read(id);
  if (held === undefined) return undefined;
  const { resultKey } = held.record;
  const result = resultKey === undefined ? undefined : await documents.readResult(resultKey);
  return jobOf(latest(parts, held.record), result);
}

/** Without results: they can be large, and `get` has them. */
async function list(parts: QueueParts, options: NonNullable<Parameters<JobQueue["list"]>[0]>): Promise<readonly Job[]> {
  const records = await parts.core.documents.list({ ...options, limit: options.limit ?? defaultListed });
  return records.map((record) => jobOf(latest(parts, record)));
}

/** A stored job with what this process knows beyond Redis. */
function latest({ started }: QueueParts, record: JobRecord): JobRecord {
  const run = record.state === "running" ? started?.workers?.get(record.id) : undefined;
  return run === undefined ? record : withProgress(record, run);
}
