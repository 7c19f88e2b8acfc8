import { type Clock, sleep } from "../../clock.ts";
import { toFedwayError } from "../../errors/fedway-error.ts";
import { boundedProgress, resultText, stopped } from "../bounds.ts";
import { Handover } from "../job-kind.ts";
import type { JobContext, JobKind } from "../job-queue.ts";
import type { JobRecord, JobRecords } from "./job-records.ts";

interface RunnerOptions {
  readonly records: JobRecords;
  readonly clock: Clock;
  /** Wait before the next run after this many failures. */
  readonly backoffMs: (failures: number) => number;
  /** Called when a run has ended and made room. */
  readonly onEnd: () => void;
  readonly onFault: (error: unknown) => void;
}

/** One run of one job. */
interface Run {
  readonly kind: JobKind;
  readonly controller: AbortController;
  /** Its job was ended or put back: what the handler gives does not count. */
  isLost: boolean;
  ended: Promise<void>;
}

/** Wait before the store is asked again that did not take a state. */
const againMs = 1_000;

/** Runs that are under way, by the ids of their jobs. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #runs = new Map<string, Run>();
  readonly #closing = new AbortController();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  has(id: string): boolean {
    return this.#runs.has(id);
  }

  hasRoom(kind: JobKind): boolean {
    const running = Array.from(this.#runs.values()).filter((run) => run.kind === kind);
    return running.length < (kind.concurrency ?? 1);
  }

  start(kind: JobKind, waiting: JobRecord): void {
    const { id } = waiting;
    const run: Run = { kind, controller: new AbortController(), isLost: false, ended: Promise.resolve() };
    this.#runs.set(id, run);
    run.ended = this.#work(run, waiting)
      .catch(this.#options.onFault)
      .finally(() => {
        if (this.#runs.get(id) === run) this.#runs.delete(id);
        this.#options.onEnd();
      });
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
    const { records, clock, onFault } = this.#options;
    this.#closing.abort();
    const runs = Array.from(this.#runs.values());
    for (const { controller } of runs) controller.abort(stopped("The service is shutting down."));
    const all = new AbortController();
    await Promise.race([Promise.all(runs.map(({ ended }) => ended)), sleep(graceMs, { clock, signal: all.signal })]);
    all.abort();
    for (const [id, run] of this.#runs) {
      const record = records.get(id);
      if (!run.isLost && record?.state === "running") await records.save(this.#again(record)).catch(onFault);
      run.isLost = true;
    }
  }

  async #work(run: Run, waiting: JobRecord): Promise<void> {
    const { records, clock } = this.#options;
    const { id } = waiting;
    const attempt = waiting.attempts + 1;
    let outcome: (record: JobRecord) => JobRecord | Promise<JobRecord>;
    // Only what the handler itself throws may pass.
    let mayPass = false;
    try {
      const running = { ...waiting, state: "running", attempts: attempt, startedAtMs: clock.now() } as const;
      await this.#stored(run, async () => {
        if (!run.controller.signal.aborted) await records.save(running);
      });
      if (run.controller.signal.aborted) return;
      run.kind.validate(waiting.payload);
      mayPass = true;
      const result = await this.#execute(run, waiting, { id, attempt });
      mayPass = false;
      const text = result instanceof Handover ? undefined : resultText(result);
      outcome = (record) => (result instanceof Handover ? this.#handedOver(record, result) : this.#done(record, text));
    } catch (thrown) {
      const isFinal = !mayPass;
      outcome = (record) => this.#failed(run, record, { thrown, isFinal });
    }
    await this.#stored(run, async () => {
      const record = records.get(id);
      if (record === undefined) return;
      const next = await outcome(record);
      await records.write(next);
      if (run.isLost) return;
      this.#runs.delete(id);
      records.keep(next);
    });
  }

  async #execute(
    run: Run,
    { payload }: JobRecord,
    about: { readonly id: string; readonly attempt: number },
  ): Promise<unknown> {
    const { records } = this.#options;
    let isEnded = false;
    const progress: JobContext["progress"] = (given) => {
      const record = records.get(about.id);
      if (!isEnded && !run.isLost && record) records.keepForNow({ ...record, progress: boundedProgress(given) });
    };
    try {
      return await run.kind.run(payload, { ...about, signal: run.controller.signal, progress });
    } finally {
      isEnded = true;
    }
  }

  /** Repeats a step while the store fails: an outcome must not be lost. Gives up when the run is lost, or the queue closes. */
  async #stored(run: Run, step: () => Promise<void>): Promise<void> {
    const { clock, onFault } = this.#options;
    const { signal } = this.#closing;
    while (!run.isLost) {
      try {
        return await step();
      } catch (error) {
        if (toFedwayError(error).code !== "STORE_FAILED") throw error;
        onFault(error);
        if (signal.aborted) return;
        await sleep(againMs, { clock, signal });
      }
    }
  }

  async #done(record: JobRecord, text: string | undefined): Promise<JobRecord> {
    const { records, clock } = this.#options;
    const resultKey = text === undefined ? record.resultKey : await records.writeResult(record.id, text);
    return { ...record, resultKey, state: "done", error: undefined, finishedAtMs: clock.now() };
  }

  #failed(
    run: Run,
    record: JobRecord,
    { thrown, isFinal }: { readonly thrown: unknown; readonly isFinal: boolean },
  ): JobRecord {
    // A handler that was stopped because the queue closes has not failed.
    if (this.#closing.signal.aborted && run.controller.signal.aborted) return this.#again(record);
    const { clock, backoffMs } = this.#options;
    const { code, message, kind, details } = toFedwayError(thrown);
    const failures = record.failures + 1;
    const failed = { ...record, failures, error: { code, message } };
    if (isFinal || !kind.retryable || failures >= (run.kind.maxAttempts ?? 3)) {
      return { ...failed, state: "failed", finishedAtMs: clock.now() };
    }
    const waitMs = Math.max(backoffMs(failures), details.retryAfterMs ?? 0);
    return { ...failed, state: "waiting", runAtMs: clock.now() + waitMs };
  }

  #handedOver(record: JobRecord, { kind, payload }: Handover): JobRecord {
    const counts = { attempts: 0, failures: 0, interruptions: 0 };
    const next = { kind, payload, startedAtMs: undefined, progress: undefined, error: undefined };
    return { ...this.#again(record), ...counts, ...next };
  }

  #again(record: JobRecord): JobRecord {
    return { ...record, state: "waiting", runAtMs: this.#options.clock.now() };
  }
}
