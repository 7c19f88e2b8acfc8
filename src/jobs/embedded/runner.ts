import { type Clock, sleep, type Timer } from "../../clock.ts";
import { type FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { boundedProgress, resultText, stopped } from "../bounds.ts";
import type { JobContext, JobKind } from "../job-queue.ts";
import type { JobRecord } from "./job-record.ts";
import type { JobRecords } from "./job-records.ts";

interface RunnerOptions {
  readonly records: JobRecords;
  readonly kinds: ReadonlyMap<string, JobKind>;
  readonly clock: Clock;
  /** How often progress is written. */
  readonly progressMs: number;
  /** Wait before the next run after this many failures. */
  readonly backoffMs: (failures: number) => number;
  /** Called when a run has ended and made room. */
  readonly onEnd: () => void;
  readonly fault: (error: unknown) => void;
}

/** One run of one job. */
interface Run {
  readonly id: string;
  readonly kind: JobKind;
  readonly controller: AbortController;
  /** Its job was ended or put back: what the handler gives does not count. */
  isLost: boolean;
  ended: Promise<void>;
}

/** What a handler gave, as JSON text, or why it failed. */
type Outcome = { readonly text: string | undefined } | { readonly error: FedwayError; readonly isRetryable: boolean };

/** Wait before a job is tried again whose start could not be written. */
const againMs = 1_000;
const firstSettleMs = 500;
const longestSettleMs = 30_000;

/** Runs jobs, as many of each kind at once as the kind allows. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #runs = new Map<string, Run>();
  readonly #closing = new AbortController();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Starts the jobs that may run now, by priority and then in the order of enqueuing; gives when the next one may. */
  fill(): number {
    for (;;) {
      const { firsts, dueMs } = this.#look();
      if (firsts.size === 0) return dueMs;
      for (const [kind, record] of firsts) this.#start(kind, record);
    }
  }

  /** The first job of each kind that there is room for, and when the next one of all is due that waits for its time. */
  #look() {
    const { records, kinds, clock } = this.#options;
    const now = clock.now();
    const firsts = new Map<JobKind, JobRecord>();
    const full = this.#fullKinds();
    let dueMs = Number.POSITIVE_INFINITY;
    for (const record of records.open()) {
      if (record.state !== "waiting" || this.#runs.has(record.id)) continue;
      if (record.runAtMs > now) dueMs = Math.min(dueMs, record.runAtMs);
      else {
        const kind = kinds.get(record.kind);
        if (kind === undefined || full.has(kind) || !comesBefore(record, firsts.get(kind))) continue;
        if (records.childrenOf(record).every((child) => child?.state === "done")) firsts.set(kind, record);
      }
    }
    return { firsts, dueMs };
  }

  #fullKinds(): ReadonlySet<JobKind> {
    const running = Map.groupBy(this.#runs.values(), ({ kind }) => kind);
    return new Set(
      Array.from(running.keys()).filter((kind) => (running.get(kind)?.length ?? 0) >= (kind.concurrency ?? 1)),
    );
  }

  /** Ends the run of a job that has been ended; the handler may take its time. */
  drop(id: string): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    run.isLost = true;
    run.controller.abort(stopped("The job was cancelled."));
  }

  /** Ends all runs: they get `graceMs`, the jobs of those that have not ended by then wait again. */
  async stop(graceMs: number): Promise<void> {
    const { records, clock, fault } = this.#options;
    this.#closing.abort();
    const runs = Array.from(this.#runs.values());
    for (const { controller } of runs) controller.abort(stopped("The service is shutting down."));
    const all = new AbortController();
    const ends = Promise.all(runs.map(({ ended }) => ended));
    await Promise.race([ends, sleep(graceMs, { clock, signal: all.signal })]);
    all.abort();
    for (const run of this.#runs.values()) {
      const record = records.get(run.id);
      if (!run.isLost && record?.state === "running") await records.save(this.#again(record)).catch(fault);
      run.isLost = true;
    }
  }

  #start(kind: JobKind, record: JobRecord): void {
    const { id } = record;
    const run: Run = { id, kind, controller: new AbortController(), isLost: false, ended: Promise.resolve() };
    this.#runs.set(id, run);
    run.ended = this.#work(run, record)
      .catch(this.#options.fault)
      .finally(() => this.#end(run));
  }

  #end(run: Run): void {
    if (this.#runs.get(run.id) === run) this.#runs.delete(run.id);
    this.#options.onEnd();
  }

  async #work(run: Run, waiting: JobRecord): Promise<void> {
    const { records, clock, fault } = this.#options;
    let children: readonly unknown[];
    try {
      children = await records.childResults(waiting);
      if (run.controller.signal.aborted) return;
      const attempts = waiting.attempts + 1;
      await records.save({ ...waiting, state: "running", attempts, startedAtMs: clock.now() });
    } catch (thrown) {
      if (run.isLost) return;
      const error = toFedwayError(thrown);
      if (error.code !== "STORE_FAILED") return records.end(waiting, "failed", error);
      fault(error);
      // Fails as well, for now.
      return records.save({ ...waiting, runAtMs: clock.now() + againMs }).catch(() => {});
    }
    if (!run.isLost) await this.#settle(run, await this.#execute(run, { attempt: waiting.attempts + 1, children }));
  }

  async #execute(run: Run, about: Pick<JobContext, "attempt" | "children">): Promise<Outcome> {
    const payload = this.#options.records.get(run.id)?.payload;
    try {
      run.kind.validate(payload);
    } catch (error) {
      return { error: toFedwayError(error), isRetryable: false };
    }
    const progress = this.#progressOf(run);
    let result: unknown;
    try {
      const { signal } = run.controller;
      result = await run.kind.run(payload, { ...about, id: run.id, signal, progress: progress.report });
    } catch (thrown) {
      const error = toFedwayError(thrown);
      return { error, isRetryable: error.kind.retryable };
    } finally {
      progress.end();
    }
    try {
      return { text: resultText(result) };
    } catch (error) {
      return { error: toFedwayError(error), isRetryable: false };
    }
  }

  /** Progress shows at once and is written now and then. */
  #progressOf(run: Run) {
    const { records, clock, progressMs, fault } = this.#options;
    let timer: Timer | undefined;
    let isEnded = false;
    const write = (): void => {
      timer = undefined;
      const record = records.get(run.id);
      if (!run.isLost && record !== undefined) records.write(record).catch(fault);
    };
    return {
      report: (progress: Parameters<JobContext["progress"]>[0]): void => {
        const record = records.get(run.id);
        if (isEnded || run.isLost || record === undefined) return;
        records.keep({ ...record, progress: boundedProgress(progress) });
        timer ??= clock.setTimeout(write, progressMs);
      },
      end(): void {
        isEnded = true;
        clock.clearTimeout(timer);
      },
    };
  }

  /** Writes the outcome, again and again while the store fails: the work is done and must not be lost. */
  async #settle(run: Run, outcome: Outcome): Promise<void> {
    const { records, clock, fault } = this.#options;
    const { signal } = this.#closing;
    for (let waitMs = firstSettleMs; !run.isLost; waitMs = Math.min(2 * waitMs, longestSettleMs)) {
      const record = records.get(run.id);
      if (record === undefined) return;
      try {
        const next = "error" in outcome ? this.#afterFailure(run, record, outcome) : await this.#done(record, outcome);
        await records.write(next);
        if (run.isLost) return;
        this.#runs.delete(run.id);
        records.keep(next);
        await records.follow(next).catch(fault);
        return;
      } catch (error) {
        fault(error);
        if (signal.aborted) return;
        await sleep(waitMs, { clock, signal });
      }
    }
  }

  async #done(record: JobRecord, { text }: { readonly text: string | undefined }): Promise<JobRecord> {
    const { records, clock } = this.#options;
    const result = text === undefined ? {} : await records.writeResult(record.id, text);
    return { ...record, ...result, state: "done", error: undefined, finishedAtMs: clock.now() };
  }

  #afterFailure(run: Run, record: JobRecord, { error, isRetryable }: Extract<Outcome, { error: unknown }>): JobRecord {
    // A handler that was stopped because the queue closes has not failed.
    if (this.#closing.signal.aborted && run.controller.signal.aborted) return this.#again(record);
    const { clock, backoffMs } = this.#options;
    const failures = record.failures + 1;
    const failed = { ...record, failures, error: { code: error.code, message: error.message } };
    if (!isRetryable || failures >= (run.kind.maxAttempts ?? 3)) {
      return { ...failed, state: "failed", finishedAtMs: clock.now() };
    }
    const waitMs = Math.max(backoffMs(failures), error.details.retryAfterMs ?? 0);
    return { ...failed, state: "waiting", runAtMs: clock.now() + waitMs };
  }

  #again(record: JobRecord): JobRecord {
    return { ...record, state: "waiting", runAtMs: this.#options.clock.now() };
  }
}

const comesBefore = (left: JobRecord, right: JobRecord | undefined): boolean =>
  right === undefined ||
  left.priority > right.priority ||
  (left.priority === right.priority && left.order < right.order);
