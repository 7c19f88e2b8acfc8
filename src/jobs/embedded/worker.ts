import type { JobKind } from "../job-queue.ts";
import { admit } from "./admission.ts";
import { writeState } from "./completion.ts";
import { type ActiveRun, createRun, keepLease, putBack, runToOutcome, within, loseRun } from "./run.ts";
import { stopped } from "../bounds.ts";
import { type JobRecord, type VersionedRecord, isOpen } from "./job-record.ts";
import { type JobCore, endedRecord, isRun } from "./job-core.ts";

/** Runs jobs, as many of each kind at once as the kind allows. */
export interface Worker {
  /** Starts what can be started now. */
  fill(): void;
  get(id: string): ActiveRun | undefined;
  /** Ends all runs: they get `graceMs`, what has not ended by then is put back. */
  stop(graceMs: number): Promise<void>;
}

/** Wait of this process before it tries again to claim a job that it could not claim. */
const claimAgainMs = 1_000;

/** A worker that has nothing to do yet. */
export function createWorker(core: JobCore): Worker {
  const active = new Map<string, ActiveRun>();
  const ended = new Map<string, Promise<void>>();

  const start = (id: string, kind: JobKind): void => {
    const run = createRun(id, kind);
    active.set(id, run);
    const end = (): void => {
      active.delete(id);
      ended.delete(id);
      core.dispatch();
    };
    ended.set(id, work(core, run).then(end));
  };

  return {
    get: (id) => active.get(id),
    fill() {
      if (!core.working) return;
      const running = new Map<string, number>();
      for (const { kind } of active.values()) running.set(kind.name, (running.get(kind.name) ?? 0) + 1);
      for (const kind of core.kinds.values()) {
        const free = (kind.concurrency ?? 1) - (running.get(kind.name) ?? 0);
        for (let slot = 0; slot < free; slot += 1) {
          const job = core.mirror.next(kind.name, core.clock.now(), (id) => active.has(id));
          if (job === undefined) break;
          start(job.id, kind);
        }
      }
    },
    async stop(graceMs) {
      for (const run of active.values()) run.controller.abort(stopped("The service is shutting down."));
      await within(core, graceMs, ended.values());
      await Promise.all(Array.from(active.values(), (run) => putBack(core, run).catch(core.fault)));
    },
  };
}

/** Claims a job, runs it and writes down what became of it; never rejects. */
async function work(core: JobCore, run: ActiveRun): Promise<void> {
  try {
    run.held = await claim(core, run);
    if (run.held === undefined) return;
    keepLease(core, run);
    try {
      // Cancelled at the very moment it was claimed.
      if (!run.lost) await runToOutcome(core, run, run.held.record);
    } finally {
      run.endLease();
      await core.documents.release(run.id, core.owner);
    }
  } catch (error) {
    core.mirror.putOff(run.id, core.clock.now() + claimAgainMs);
    core.fault(error);
  }
}

/** Makes a waiting job this queue's own; undefined when it cannot be had now. */
async function claim(core: JobCore, run: ActiveRun): Promise<VersionedRecord | undefined> {
  const { clock, documents, mirror, owner } = core;
  const { id } = run;
  const found = await documents.read(id);
  if (found === undefined) {
    mirror.forget(id);
    return undefined;
  }
  core.mirror.see(found);
  const now = clock.now();
  if (core.closing || found.record.state !== "waiting" || found.record.runAtMs > now) return undefined;
  const admission = await admit(core, found);
  if (admission.kind !== "run") {
    mirror.putOff(id, now + (admission.kind === "later" ? admission.ms : claimAgainMs));
    return undefined;
  }
  run.children = admission.children;
  if (!(await documents.lease(id, owner))) {
    mirror.putOff(id, now + claimAgainMs);
    return undefined;
  }
  const attempts = found.record.attempts + 1;
  const record: JobRecord = { ...found.record, state: "running", attempts, startedAtMs: now, owner };
  const version = await documents.write(record, found.version);
  if (version === undefined) {
    await documents.release(id, owner);
    mirror.putOff(id, now + claimAgainMs);
    return undefined;
  }
  core.changed({ record, version });
  return { record, version };
}

/**
 * Makes a job `cancelled`, whoever runs it, and ends its run in this process; resolves to the job, or to undefined when
 * there is none that is open. @throws FedwayError `STORE_FAILED`
 */
export async function cancelJob(core: JobCore, id: string): Promise<JobRecord | undefined> {
  for (;;) {
    const held = await core.documents.read(id);
    if (held === undefined || !isOpen(held.record.state)) return undefined;
    const record = endedRecord(held.record, "cancelled", core.clock.now());
    if ((await writeState(core, record, held.version)) !== undefined) return record;
  }
}

/** Ends the run of a job that has just been ended. */
export function endRunOf(run: ActiveRun | undefined, { attempts }: JobRecord): void {
  // A run without a record is about to claim the job.
  if (run !== undefined && (run.held?.record.attempts ?? attempts) === attempts) loseRun(run, "The job was cancelled.");
}

/** Ends a run of this process when the store shows that its job is no longer this run's. */
export async function checkRun(core: JobCore, run: ActiveRun, seen: VersionedRecord | undefined): Promise<void> {
  const claimed = run.held?.record.attempts;
  if (claimed === undefined || run.held?.version === seen?.version) return;
  if (seen !== undefined && isRun(seen.record, core.owner, claimed)) return;
  // Cancelled, or taken over, by another process; unless the run itself has just moved on.
  const now = await core.documents.read(run.id);
  if (now === undefined || !isRun(now.record, core.owner, claimed)) loseRun(run, "The job was cancelled.");
}
