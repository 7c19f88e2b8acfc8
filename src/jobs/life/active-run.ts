import { boundedProgress } from "../bounds.ts";
import type { Timer } from "../../clock.ts";
import type { JobContext, JobKind, JobProgress } from "../job-queue.ts";
import type { JobRecord, VersionedRecord } from "./job-record.ts";
import { settleFamily } from "./endings.ts";
import { isRun, type JobCore, stopped } from "./job-core.ts";

/** One run of one job in this process. */
export interface ActiveRun {
  readonly id: string;
  readonly kind: JobKind;
  readonly controller: AbortController;
  /** Undefined until the job is claimed. */
  held: VersionedRecord | undefined;
  /** What the job's children gave. */
  children: readonly unknown[];
  /** Latest progress, written or not. */
  progress: JobProgress | undefined;
  /** Nothing of this run counts any more: the job was cancelled, or belongs to another worker. */
  lost: boolean;
  /** Writes of this run, one after the other. */
  writes: Promise<unknown>;
  /** Stops renewing the lease. */
  endLease: () => void;
}

/** A run that is about to claim its job. */
export function createRun(id: string, kind: JobKind): ActiveRun {
  return {
    id,
    kind,
    controller: new AbortController(),
    held: undefined,
    children: [],
    progress: undefined,
    lost: false,
    writes: Promise.resolve(),
    endLease: () => {},
  };
}

/** Ends a run that no longer counts. */
export function loseRun(run: ActiveRun, why: string): void {
  run.lost = true;
  run.controller.abort(stopped(why));
}

/**
 * Writes the next state of a run's job; false when the job is no longer this run's.
 * @throws FedwayError `STORE_FAILED`
 */
export function writeRun(core: JobCore, run: ActiveRun, change: (record: JobRecord) => JobRecord): Promise<boolean> {
  const turn = run.writes.then(() => writeNow(core, run, change));
  run.writes = turn.catch(() => {});
  return turn;
}

async function writeNow(core: JobCore, run: ActiveRun, change: (record: JobRecord) => JobRecord): Promise<boolean> {
  // A second try: a write that was reported as failed may have taken effect and changed the version.
  for (let attempt = 1; attempt <= 2 && run.held !== undefined && !run.lost; attempt += 1) {
    const { record, version } = run.held;
    const next = change(record);
    const written = await core.documents.write(next, version);
    if (written !== undefined) {
      run.held = { record: next, version: written };
      core.changed(run.held);
      await settleFamily(core, next);
      return true;
    }
    const found = await core.documents.read(run.id);
    if (found !== undefined) {
      core.changed(found);
      await settleFamily(core, found.record);
    }
    if (found === undefined || !isRun(found.record, core.owner, record.attempts)) break;
    run.held = found;
  }
  loseRun(run, "The job was cancelled, or another worker has taken it over.");
  return false;
}

/** What the handler of a run gets beside the payload. */
export function contextOf(core: JobCore, run: ActiveRun, attempt: number): JobContext & { end(): void } {
  let timer: Timer | undefined;
  let ended = false;
  const flush = (): void => {
    timer = undefined;
    writeRun(core, run, (record) => withProgress(record, run)).catch(core.fault);
  };
  return {
    id: run.id,
    attempt,
    signal: run.controller.signal,
    children: run.children,
    progress(progress) {
      if (ended || run.lost) return;
      run.progress = boundedProgress(progress);
      core.progressed(run.id);
      timer ??= core.clock.setTimeout(flush, core.progressMs);
    },
    end() {
      ended = true;
      core.clock.clearTimeout(timer);
    },
  };
}

/** The record with the run's latest progress. */
export function withProgress(record: JobRecord, run: ActiveRun): JobRecord {
  return run.progress === undefined ? record : { ...record, progress: run.progress };
}

/**
 * Renews the lease of a run until `run.endLease` is called, also while a handler whose job was cancelled takes its time
 * to end: nobody else may start a job of that id meanwhile. A run that loses its lease is ended.
 */
export function keepLease(core: JobCore, run: ActiveRun): void {
  let renewedAtMs = core.clock.now();
  let timer: Timer | undefined;
  let ended = false;
  const lose = (why: string): void => {
    run.endLease();
    loseRun(run, why);
  };
  const renew = async (): Promise<void> => {
    try {
      if (await core.documents.lease(run.id, core.owner)) renewedAtMs = core.clock.now();
      else lose("Another worker has taken the job over.");
    } catch (error) {
      core.fault(error);
      if (core.clock.now() - renewedAtMs >= core.leaseMs) lose("The job's lease could not be renewed.");
    }
    plan();
  };
  const plan = (): void => {
    if (!ended) timer = core.clock.setTimeout(() => void renew(), Math.ceil(core.leaseMs / 3));
  };
  run.endLease = () => {
    ended = true;
    core.clock.clearTimeout(timer);
  };
  plan();
}
