import type { JobKind } from "../job-queue.ts";
import { admit } from "../life/admission.ts";
import { type ActiveRun, createRun, keepLease } from "../life/active-run.ts";
import { stopped } from "../life/job-core.ts";
import type { JobRecord, VersionedRecord } from "../life/job-record.ts";
import { putBack, runToOutcome, within } from "../life/outcome.ts";
import type { QueueCore } from "./queue-core.ts";

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
export function createWorker(core: QueueCore): Worker {
  const active = new Map<string, ActiveRun>();
  const ended = new Map<string, Promise<void>>();

  const start = (id: string, kind: JobKind): void => {
    const run = createRun(id, kind);
    active.set(id, run);
    const end = (): void => {
      active.delete(id);
      ended.delete(id);
      core.pump();
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
async function work(core: QueueCore, run: ActiveRun): Promise<void> {
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
async function claim(core: QueueCore, run: ActiveRun): Promise<VersionedRecord | undefined> {
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
