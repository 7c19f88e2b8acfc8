import { type FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { resultText } from "../bounds.ts";
import type { JobKind } from "../job-queue.ts";
import { type ActiveRun, contextOf, createRun, keepLease, loseRun, withProgress, writeRun } from "./active-run.ts";
import type { JobRecord, VersionedRecord } from "./job-record.ts";
import { failedRecord, type QueueCore, stopped, waitingAgain, withoutOwner } from "./queue-core.ts";

/** Runs jobs, as many of each kind at once as the kind allows. */
export interface Worker {
  /** Starts what can be started now. */
  fill(): void;
  get(id: string): ActiveRun | undefined;
  /** Ends all runs: they get `graceMs`, what has not ended by then is put back. */
  stop(graceMs: number): Promise<void>;
}

type Outcome =
  | { readonly kind: "done"; readonly text: string | undefined }
  | { readonly kind: "failed"; readonly error: FedwayError; readonly retryable: boolean };

/** Wait of this process before it tries again to claim a job that it could not claim. */
const claimAgainMs = 1_000;
const longestSettleMs = 30_000;

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
    run.held = await claim(core, run.id);
    if (run.held === undefined) return;
    keepLease(core, run);
    try {
      // Cancelled at the very moment it was claimed.
      if (!run.lost) await settle(core, run, await execute(core, run, run.held.record));
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
async function claim(core: QueueCore, id: string): Promise<VersionedRecord | undefined> {
  const { clock, documents, mirror, owner } = core;
  const found = await documents.read(id);
  if (found === undefined) {
    mirror.forget(id);
    return undefined;
  }
  core.mirror.see(found);
  const now = clock.now();
  if (core.closing || found.record.state !== "waiting" || found.record.runAtMs > now) return undefined;
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

async function execute(core: QueueCore, run: ActiveRun, record: JobRecord): Promise<Outcome> {
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
async function settle(core: QueueCore, run: ActiveRun, outcome: Outcome): Promise<void> {
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

async function writeOutcome(core: QueueCore, run: ActiveRun, outcome: Outcome): Promise<void> {
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
    const { error: _, ...rest } = withoutOwner(withProgress(record, run));
    return { ...rest, state: "done", finishedAtMs: clock.now(), ...(resultKey !== undefined && { resultKey }) };
  });
  if (!written && resultKey !== undefined) await documents.removeResult(resultKey);
}

function afterFailure(
  core: QueueCore,
  record: JobRecord,
  { error, retryable, run }: { readonly error: FedwayError; readonly retryable: boolean; readonly run: ActiveRun },
): JobRecord {
  const failures = record.failures + 1;
  const now = core.clock.now();
  const failed = failedRecord({ ...record, failures }, error, now);
  if (!retryable || failures >= (run.kind.maxAttempts ?? 3)) return failed;
  const waitMs = Math.max(core.backoffMs(failures), error.details.retryAfterMs ?? 0);
  const { finishedAtMs: _, ...rest } = failed;
  return waitingAgain(rest, now + waitMs);
}

/** Gives up a run that does not end; its job waits for another worker or the next start. */
async function putBack(core: QueueCore, run: ActiveRun): Promise<void> {
  if (run.held === undefined) return;
  await writeRun(core, run, (record) =>
    record.state === "running" ? waitingAgain(withProgress(record, run), core.clock.now()) : record,
  );
  loseRun(run, "The service is shutting down.");
  run.endLease();
  await core.documents.release(run.id, core.owner);
}

/** Waits until all have ended, or until the time is over. */
async function within(core: QueueCore, ms: number, ends: Iterable<Promise<void>>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = core.clock.setTimeout(resolve, ms);
  await Promise.race([Promise.all(ends), promise]);
  core.clock.clearTimeout(timer);
}
