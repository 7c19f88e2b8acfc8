import { type FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { resultText, boundedProgress, stopped } from "../bounds.ts";
import { endedRecord, failedRecord, type JobCore, waitingAgain, isRun } from "./job-core.ts";
import type { JobRecord, VersionedRecord } from "./job-record.ts";
import type { Timer } from "../../clock.ts";
import type { JobContext, JobKind, JobProgress } from "../job-queue.ts";
import { propagateEnd } from "./completion.ts";

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

type Outcome =
  | { readonly kind: "done"; readonly text: string | undefined }
  | { readonly kind: "failed"; readonly error: FedwayError; readonly retryable: boolean };

const longestSettleMs = 30_000;

/** Runs a claimed job and writes down what became of it: done, failed, or waiting again. */
export async function runToOutcome(core: JobCore, run: ActiveRun, record: JobRecord): Promise<void> {
  await settle(core, run, await execute(core, run, record));
}

async function execute(core: JobCore, run: ActiveRun, record: JobRecord): Promise<Outcome> {
  try {
    run.kind.validate(record.payload);
  } catch (error) {
    return { kind: "failed", error: toFedwayError(error), retryable: false };
  }
  const context = contextOf(core, run, record.attempts);
  let result: unknown;
  try {
    result = await run.kind.run(record.payload, context);
  } catch (thrown) {
    const error = toFedwayError(thrown);
    return { kind: "failed", error, retryable: error.kind.retryable };
  } finally {
    context.end();
  }
  try {
    return { kind: "done", text: resultText(result) };
  } catch (error) {
    return { kind: "failed", error: toFedwayError(error), retryable: false };
  }
}

/** Writes the outcome, again and again while the store fails: the work is done and must not be lost. */
async function settle(core: JobCore, run: ActiveRun, outcome: Outcome): Promise<void> {
  for (let waitMs = 500; !run.lost; waitMs = Math.min(2 * waitMs, longestSettleMs)) {
    try {
      await writeOutcome(core, run, outcome);
      return;
    } catch (error) {
      core.fault(error);
      if (core.closing) return;
      await new Promise<void>((resolve) => void core.clock.setTimeout(resolve, waitMs));
    }
  }
}

async function writeOutcome(core: JobCore, run: ActiveRun, outcome: Outcome): Promise<void> {
  const { clock, documents } = core;
  if (outcome.kind === "failed") {
    // A handler that was told to end because the queue closes has not failed.
    const interrupted = core.closing && run.controller.signal.aborted;
    const put = (record: JobRecord): JobRecord => withProgress(record, run);
    await writeRun(core, run, (record) =>
      interrupted ? waitingAgain(put(record), clock.now()) : afterFailure(core, put(record), { ...outcome, run }),
    );
    return;
  }
  const { text } = outcome;
  const resultKey =
    text === undefined || run.held === undefined ? undefined : await documents.writeResult(run.held.record, text);
  const written = await writeRun(core, run, (record) => {
    const { error: _, ...rest } = endedRecord(withProgress(record, run), "done", clock.now());
    return { ...rest, ...(resultKey !== undefined && { resultKey }), ...sizeOf(record, text) };
  });
  if (written || resultKey === undefined) return;
  // A try that was reported as failed may have written the outcome: then the result is the job's.
  const found = await documents.read(run.id);
  if (found?.record.resultKey !== resultKey) await documents.removeResult(resultKey);
}

function afterFailure(
  core: JobCore,
  record: JobRecord,
  { error, retryable, run }: { readonly error: FedwayError; readonly retryable: boolean; readonly run: ActiveRun },
): JobRecord {
  const failures = record.failures + 1;
  const now = core.clock.now();
  const isLast = !retryable || failures >= (run.kind.maxAttempts ?? 3);
  if (isLast) return failedRecord({ ...record, failures }, error, now);
  const waitMs = Math.max(core.backoffMs(failures), error.details.retryAfterMs ?? 0);
  const { code, message } = error;
  return waitingAgain({ ...record, failures, error: { code, message } }, now + waitMs);
}

/** Only parents read results by their size. */
function sizeOf({ parent }: JobRecord, text: string | undefined): Pick<JobRecord, "resultBytes"> {
  return parent === undefined || text === undefined ? {} : { resultBytes: Buffer.byteLength(text) };
}

/** Gives up a run that does not end; its job waits for another worker or the next start. */
export async function putBack(core: JobCore, run: ActiveRun): Promise<void> {
  if (run.held === undefined) return;
  await writeRun(core, run, (record) =>
    record.state === "running" ? waitingAgain(withProgress(record, run), core.clock.now()) : record,
  );
  loseRun(run, "The service is shutting down.");
  run.endLease();
  await core.documents.release(run.id, core.owner);
}

/** Waits until all have ended, or until the time is over. */
export async function within(core: JobCore, ms: number, ends: Iterable<Promise<unknown>>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = core.clock.setTimeout(resolve, ms);
  await Promise.race([Promise.all(ends), promise]);
  core.clock.clearTimeout(timer);
}

/**
 * Writes the next state of a run's job; false when the job is no longer this run's.
 * @throws FedwayError `STORE_FAILED`
 */
function writeRun(core: JobCore, run: ActiveRun, change: (record: JobRecord) => JobRecord): Promise<boolean> {
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
      await propagateEnd(core, next);
      return true;
    }
    const found = await core.documents.read(run.id);
    if (found !== undefined) {
      core.changed(found);
      await propagateEnd(core, found.record);
    }
    if (found === undefined || !isRun(found.record, core.owner, record.attempts)) break;
    run.held = found;
  }
  loseRun(run, "The job was cancelled, or another worker has taken it over.");
  return false;
}

/** What the handler of a run gets beside the payload. */
function contextOf(core: JobCore, run: ActiveRun, attempt: number): JobContext & { end(): void } {
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
function withProgress(record: JobRecord, run: ActiveRun): JobRecord {
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
