import { DelayedError, type Job as BullmqJob, Worker } from "bullmq";
import type { JobKind } from "../job-queue.ts";
import { admit } from "../life/admission.ts";
import { type ActiveRun, createRun, keepLease } from "../life/active-run.ts";
import { writeState } from "../life/endings.ts";
import { interruptedRecord, type JobCore, stopped } from "../life/job-core.ts";
import { isOpen, type JobRecord, type VersionedRecord } from "../life/job-record.ts";
import { putBack, runToOutcome, within } from "../life/outcome.ts";
import { connectionOptions, inTime, isConnectionError, jobsFailed } from "./redis-link.ts";
import { jobIdOf, ticketOf } from "./tickets.ts";

/** Runs jobs: one BullMQ worker for each kind. */
export interface TicketWorkers {
  get(id: string): ActiveRun | undefined;
  /** Runs under way in this process. */
  active(): readonly ActiveRun[];
  /** Ends all runs: they get `graceMs`, what has not ended by then is put back. */
  stop(graceMs: number): Promise<void>;
}

/** What BullMQ's workers are told. */
export interface WorkerSettings {
  readonly url: string;
  readonly prefix: string;
  readonly lockMs: number;
  readonly stalledMs: number;
  readonly mostStalled: number;
}

/** When a worker is to look at a ticket's job again: never, at a moment, or when the ticket's lock has ended. */
type Return = { readonly atMs: number } | "never" | "after the lock";

interface HeldTicket {
  readonly run: ActiveRun;
  readonly ticket: BullmqJob;
  readonly token: string;
  readonly ended: Promise<unknown>;
}

/** Wait before a job is looked at again that could not be claimed. */
const claimAgainMs = 500;
const closeMs = 2_000;

/** Workers that take tickets from now on. */
export function startTicketWorkers(core: JobCore, settings: WorkerSettings): TicketWorkers {
  const held = new Map<string, HeldTicket>();
  const take = async (kind: JobKind, ticket: BullmqJob, token: string): Promise<Return> => {
    const ticketId = ticket.id ?? "";
    const id = jobIdOf(ticketId);
    // The handler of a cancelled job of that id has not ended yet.
    if (held.has(id)) return { atMs: core.clock.now() + claimAgainMs };
    const run = createRun(id, kind);
    const work = attend(core, run, ticketId);
    held.set(id, { run, ticket, token, ended: work });
    return work.finally(() => held.delete(id));
  };
  const workers = Array.from(core.kinds.values(), (kind) =>
    openWorker(core, settings, {
      name: kind.name,
      concurrency: kind.concurrency ?? 1,
      take: (ticket, token) => take(kind, ticket, token),
    }),
  );
  return {
    get: (id) => held.get(id)?.run,
    active: () => Array.from(held.values(), ({ run }) => run),
    async stop(graceMs) {
      await Promise.all(workers.map((worker) => worker.pause(true)));
      for (const { run } of held.values()) run.controller.abort(stopped("The service is shutting down."));
      await within(
        core,
        graceMs,
        Array.from(held.values(), ({ ended }) => ended),
      );
      const stuck = new Set(Array.from(held.values(), ({ run }) => run.kind.name));
      await Promise.all(Array.from(held.values(), (ticket) => giveBack(core, ticket)));
      await Promise.all(workers.map((worker) => closeWorker(worker, stuck.has(worker.name))));
    },
  };
}

/** How one queue of tickets is worked on. */
interface WorkerPlan {
  readonly name: string;
  readonly concurrency: number;
  readonly take: (ticket: BullmqJob, token: string) => Promise<Return>;
}

/** A BullMQ worker that puts tickets back as it is told, and tells its errors to the queue. */
function openWorker(core: JobCore, settings: WorkerSettings, { name, concurrency, take }: WorkerPlan): Worker {
  const processor = async (ticket: BullmqJob, token = ""): Promise<void> => {
    const back = await take(ticket, token);
    if (back === "never") return;
    if (back !== "after the lock") await putOff(ticket, token, back.atMs).catch(core.fault);
    throw new DelayedError();
  };
  return createWorker(name, processor, { ...settings, concurrency, fault: core.fault });
}

/** A BullMQ worker with the settings that all have in common. */
export function createWorker(
  name: string,
  processor: (ticket: BullmqJob, token?: string) => Promise<void>,
  settings: WorkerSettings & { readonly concurrency: number; readonly fault: (error: unknown) => void },
): Worker {
  const { url, prefix, concurrency, lockMs, stalledMs, mostStalled, fault } = settings;
  const worker = new Worker(name, processor, {
    connection: connectionOptions(url),
    prefix,
    concurrency,
    lockDuration: lockMs,
    stalledInterval: stalledMs,
    maxStalledCount: mostStalled,
    runRetryDelay: 1_000,
  });
  worker.on("error", (error) => {
    // The link tells that Redis is away; ten workers that say so too are noise.
    if (!isConnectionError(error)) fault(jobsFailed(error));
  });
  return worker;
}

/** Ends a worker in a while that does not depend on Redis; a forced one does not wait for its handlers. */
export async function closeWorker(worker: Worker, force: boolean): Promise<void> {
  await inTime(worker.close(force), closeMs).catch(() => {
    // Not waited for: a connection that is away ends without saying so. BullMQ comes to the timer of its locks only
    // after that, and it would keep the process alive.
    worker.disconnect().catch(() => {});
    worker["lockManager"].close().catch(() => {});
  });
}

/** Claims the job of a ticket, runs it and writes down what became of it; never rejects. */
async function attend(core: JobCore, run: ActiveRun, ticketId: string): Promise<Return> {
  try {
    const back = await claim(core, run, ticketId);
    if (back !== undefined || run.held === undefined) return back ?? "never";
    keepLease(core, run);
    try {
      // Cancelled at the very moment it was claimed.
      if (!run.lost) await runToOutcome(core, run, run.held.record);
    } finally {
      run.endLease();
      await core.documents.release(run.id, core.owner);
    }
  } catch (error) {
    core.fault(error);
    if (run.held === undefined) return { atMs: core.clock.now() + claimAgainMs };
  }
  return returnAfter(core, run, ticketId);
}

/** Makes an open job this queue's own, or says when to look at it again. */
async function claim(core: JobCore, run: ActiveRun, ticketId: string): Promise<Return | undefined> {
  const found = await core.documents.read(run.id);
  if (found === undefined || !isOpen(found.record.state) || ticketOf(found.record) !== ticketId) return "never";
  const back = await mayRun(core, run, found);
  if (back !== undefined) return back;
  if (!(await core.documents.lease(run.id, core.owner))) return { atMs: core.clock.now() + claimAgainMs };
  const record = nextRun(core, found.record);
  const version = await writeState(core, record, found.version);
  if (version !== undefined && isOpen(record.state)) {
    run.held = { record, version };
    return undefined;
  }
  await core.documents.release(run.id, core.owner);
  return version === undefined ? { atMs: core.clock.now() } : "never";
}

/** When to look again at an open job that may not run now; the run of one that may gets what its children gave. */
async function mayRun(core: JobCore, run: ActiveRun, found: VersionedRecord): Promise<Return | undefined> {
  const { state, runAtMs } = found.record;
  const now = core.clock.now();
  if (core.closing) return { atMs: now };
  if (state === "waiting" && runAtMs > now) return { atMs: runAtMs };
  const admission = await admit(core, found);
  if (admission.kind === "never") return "never";
  if (admission.kind === "later") return { atMs: core.clock.now() + admission.ms };
  run.children = admission.children;
  return undefined;
}

/** The record of the next run of a job that nobody holds; or of its end, when its workers were lost too often. */
function nextRun(core: JobCore, found: JobRecord): JobRecord {
  // Nobody holds it, and yet it is running: its worker is gone.
  const record = found.state === "running" ? interruptedRecord(core, found) : found;
  if (!isOpen(record.state)) return record;
  const { attempts } = record;
  return { ...record, state: "running", attempts: attempts + 1, startedAtMs: core.clock.now(), owner: core.owner };
}

async function returnAfter(core: JobCore, run: ActiveRun, ticketId: string): Promise<Return> {
  try {
    const record = run.lost ? (await core.documents.read(run.id))?.record : run.held?.record;
    if (record === undefined || ticketOf(record) !== ticketId || !isOpen(record.state)) return "never";
    // Still running: taken over by another worker, or the outcome could not be written.
    return record.state === "waiting" ? { atMs: record.runAtMs } : "after the lock";
  } catch (error) {
    core.fault(error);
    return "after the lock";
  }
}

/** Gives a ticket back, for a worker that comes at that moment. @throws FedwayError `STORE_FAILED` */
async function putOff(ticket: BullmqJob, token: string, atMs: number): Promise<void> {
  try {
    await ticket.moveToDelayed(atMs, token);
  } catch (error) {
    throw jobsFailed(error);
  }
}

async function giveBack(core: JobCore, { run, ticket, token }: HeldTicket): Promise<void> {
  try {
    await putBack(core, run);
    await inTime(putOff(ticket, token, core.clock.now()), closeMs);
  } catch (error) {
    core.fault(error);
  }
}
