import { type FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { resultText } from "../bounds.ts";
import { type ActiveRun, contextOf, loseRun, withProgress, writeRun } from "./active-run.ts";
import { endedRecord, failedRecord, type JobCore, waitingAgain } from "./job-core.ts";
import type { JobRecord } from "./job-record.ts";

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
