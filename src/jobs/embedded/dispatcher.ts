import { checkRun, type Worker } from "./worker.ts";
import { reviewChildren } from "./admission.ts";
import { settleLostChild, writeState, brokenBy } from "./completion.ts";
import { interruptedRecord, unknownKindRecord, type JobCore } from "./job-core.ts";
import { childId } from "../bounds.ts";
import { isChildOf, isOpen, isOver, type JobRecord, type VersionedRecord } from "./job-record.ts";
import type { Timer } from "../../clock.ts";
import type { Schedules } from "./schedules.ts";

/** What a sweep needs beside the core. */
interface SweepOptions {
  readonly worker: Worker;
  /** No other process works on this store: whoever else holds a job is dead. */
  readonly soleOwner: boolean;
}

/**
 * Looks at all jobs of the store: learns what other processes did, takes back jobs whose worker is gone, and fails jobs
 * that nothing here can run.
 */
async function sweep(core: JobCore, options: SweepOptions): Promise<void> {
  const known = new Map(core.mirror.ids().map((id) => [id, core.mirror.get(id)?.version]));
  const stored = await core.documents.all();
  const byId = new Map(stored.map(({ record }) => [record.id, record]));
  for (const held of stored) {
    known.delete(held.record.id);
    const newest = core.mirror.get(held.record.id);
    // Changed since the list was read: this process knows better.
    if (newest !== undefined && newest.version > held.version) continue;
    if (newest?.version !== held.version) core.changed(held);
    await attend(core, options, held);
    if (core.working && needsReview(held.record, byId)) await review(core, held);
  }
  // Gone from the store, unless it came in while the list was read.
  for (const [id, version] of known) if (core.mirror.get(id)?.version === version) core.mirror.forget(id);
}

async function attend(core: JobCore, options: SweepOptions, held: VersionedRecord): Promise<void> {
  const { record } = held;
  const run = options.worker.get(record.id);
  if (run !== undefined) await checkRun(core, run, held);
  else if (core.working) await attendIdle(core, options, held);
}

/** Looks after a job that does not run in this process. */
async function attendIdle(core: JobCore, options: SweepOptions, held: VersionedRecord): Promise<void> {
  const { record } = held;
  if (record.state === "running") await takeBack(core, options, held);
  else if (record.state === "waiting" && !core.kinds.has(record.kind))
    await writeState(core, unknownKindRecord(core, record), held.version);
}

/** Whether a process that is gone may have left something undone between a job and its parent or children. */
function needsReview(record: JobRecord, byId: ReadonlyMap<string, JobRecord>): boolean {
  const parent = record.parent && byId.get(record.parent.id);
  if (record.parent !== undefined && !isOver(record))
    return parent?.order !== record.parent.order || !isOpen(parent.state);
  if (record.children === undefined || record.state !== "waiting") return false;
  if (record.planKey !== undefined) return true;
  return record.children.some((name) => {
    const child = byId.get(childId(record.id, name));
    return brokenBy(name, child && isChildOf(child, record) ? child : undefined) !== undefined;
  });
}

async function review(core: JobCore, held: VersionedRecord): Promise<void> {
  if (held.record.parent !== undefined) await settleLostChild(core, held.record.id);
  else await reviewChildren(core, held);
}

/** Puts a job back whose worker is gone, which is known when its lease can be had. */
async function takeBack(core: JobCore, { soleOwner }: SweepOptions, held: VersionedRecord): Promise<void> {
  const { documents, owner } = core;
  const { record } = held;
  if (soleOwner && record.owner !== undefined) await documents.release(record.id, record.owner);
  if (!(await documents.lease(record.id, owner))) return;
  const next = core.kinds.has(record.kind) ? interruptedRecord(core, record) : unknownKindRecord(core, record);
  await writeState(core, next, held.version);
  await documents.release(record.id, owner);
}

/** Removes finished jobs beyond the number that is kept, those that finished first. */
async function trim(core: JobCore, most: number): Promise<void> {
  for (const id of core.mirror.beyond(most)) {
    const held = await core.documents.read(id);
    if (held === undefined) core.mirror.forget(id);
    else if (!isOver(held.record)) core.mirror.see(held);
    else if (await core.documents.remove(held)) core.mirror.forget(id);
  }
}

/** What makes a queue go. */
export interface Dispatcher {
  /** Starts what can be started, and plans the next look. */
  readonly run: () => void;
  /** Looks through the whole store. */
  readonly sweep: () => Promise<void>;
  /** Ends all looks; resolves when none is under way. */
  readonly stop: () => Promise<void>;
}

/** What is made to go. */
interface DispatcherOptions {
  readonly core: JobCore;
  readonly worker: Worker;
  readonly schedules: Schedules;
  readonly soleOwner: boolean;
  readonly sweepEveryMs: number;
  readonly keepFinished: number;
}

const longestWaitMs = 3_600_000;

/** Fills the worker whenever something has changed, and wakes up for what is due later. Stands still until swept. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { core, worker, schedules, soleOwner, sweepEveryMs, keepFinished } = options;
  const { clock } = core;
  let nextSweepMs = Number.POSITIVE_INFINITY;
  let timer: Timer | undefined;
  let stopped = true;
  let busy: Promise<void> = Promise.resolve();

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    busy = busy.then(work).catch(core.fault);
    return busy;
  };
  const run = (): void => {
    if (stopped) return;
    // Read before the worker looks: what becomes due after its look must still be ahead here.
    const now = clock.now();
    worker.fill();
    void inTurn(() => trim(core, keepFinished));
    const next = Math.min(nextSweepMs, core.mirror.nextTimeMs(now), schedules.nextTimeMs());
    clock.clearTimeout(timer);
    timer = clock.setTimeout(wake, Math.min(Math.max(1, next - now), longestWaitMs));
  };
  const look = async (): Promise<void> => {
    nextSweepMs = clock.now() + sweepEveryMs;
    await schedules.refresh();
    await sweep(core, { worker, soleOwner });
  };
  const wake = (): void => {
    void inTurn(async () => {
      if (stopped) return;
      await schedules.tick();
      if (clock.now() >= nextSweepMs) await look();
    }).then(run);
  };
  return {
    run,
    async sweep() {
      await look();
      stopped = false;
      run();
    },
    stop() {
      stopped = true;
      clock.clearTimeout(timer);
      return busy;
    },
  };
}
