import { type Static, Type } from "typebox";
import type { Clock, Timer } from "../../clock.ts";
import { createCollection } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import type { PublicError } from "../bounds.ts";
import type { Job, JobProgress } from "../job-queue.ts";

const fields = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  state: Type.Enum(["waiting", "running", "done", "failed", "cancelled"]),
  priority: Type.Number(),
  /** Grows from job to job: the order of enqueuing. */
  order: Type.Number(),
  createdAtMs: Type.Number(),
  /** Not to be run before. */
  runAtMs: Type.Number(),
  /** Runs started; of these, ended with an error, and ended with the process. */
  attempts: Type.Number(),
  failures: Type.Number(),
  interruptions: Type.Number(),
});

/** A job, one document each; its result has another. Moments are milliseconds since the epoch. */
export interface JobRecord extends Readonly<Static<typeof fields>> {
  readonly payload: unknown;
  readonly startedAtMs?: number | undefined;
  readonly finishedAtMs?: number | undefined;
  readonly progress?: JobProgress | undefined;
  /** Key of the document with the result. */
  readonly resultKey?: string | undefined;
  readonly error?: PublicError | undefined;
}

/** Fields that it does not name are kept. */
const recordSchema = Type.Unsafe<JobRecord>(fields);

/** True when the job can still come to run or to an end. */
export const isOpen = ({ state }: JobRecord): boolean => state === "waiting" || state === "running";

/** A job as the port shows it. */
export function jobOf(record: JobRecord, result?: unknown): Job {
  const { id, kind, state, payload, attempts, createdAtMs, startedAtMs, finishedAtMs, progress, error } = record;
  const [createdAt = "", startedAt, finishedAt] = [createdAtMs, startedAtMs, finishedAtMs].map((ms) =>
    ms === undefined ? undefined : new Date(ms).toISOString(),
  );
  return { id, kind, state, payload, attempts, createdAt, startedAt, finishedAt, progress, result, error };
}

interface JobRecordsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Time between two writes of what is not written at once. */
  readonly progressMs: number;
  /** Called with each new state of a job. */
  readonly changed: (record: JobRecord) => void;
  readonly onFault: (error: unknown) => void;
}

/**
 * All jobs in memory, written through to the store, which is read at the start only: no other process changes it. Results
 * stay in the store. All methods that give promises reject with FedwayError `STORE_FAILED`.
 */
export class JobRecords {
  readonly #options: JobRecordsOptions;
  readonly #store: Store;
  readonly #documents;
  readonly #jobs = new Map<string, JobRecord>();
  /** Ids of jobs whose latest state is not written. */
  readonly #unsaved = new Set<string>();
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: JobRecordsOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#documents = createCollection({
      store: options.store,
      prefix: "jobs/job/",
      schema: recordSchema,
      lost: "The job is gone; ask for it again.",
    });
  }

  get(id: string): JobRecord | undefined {
    return this.#jobs.get(id);
  }

  /** Those that are finished in the order of their ends. */
  values(): readonly JobRecord[] {
    return [...this.#jobs.values()];
  }

  async load(): Promise<void> {
    const found: JobRecord[] = [];
    for await (const [, record] of this.#documents.entries()) found.push(record);
    const byEnd = found.toSorted((left, right) => (left.finishedAtMs ?? 0) - (right.finishedAtMs ?? 0));
    for (const record of byEnd) this.#jobs.set(record.id, record);
  }

  /** Adds a job that is in the store before it is in memory. */
  async add(job: JobRecord): Promise<void> {
    const former = this.#jobs.get(job.id);
    // Not to be forgotten while the new one is written.
    this.#jobs.delete(job.id);
    try {
      await this.write(job);
    } catch (error) {
      if (former !== undefined) this.#jobs.set(job.id, former);
      throw error;
    }
    this.keep(job);
    // The new job may give no result.
    if (former?.resultKey !== undefined) await this.#store.delete(former.resultKey).catch(this.#options.onFault);
  }

  /** Takes in a state, in memory only. */
  keep(record: JobRecord): void {
    if (!isOpen(record)) this.#jobs.delete(record.id);
    this.#jobs.set(record.id, record);
    this.#options.changed(record);
  }

  /** Takes in a state that is written in a while, if no other one is before. */
  keepForNow(record: JobRecord): void {
    this.keep(record);
    this.#saveLater(record.id);
  }

  /** Writes a state, to the store only. */
  async write(record: JobRecord): Promise<void> {
    this.#unsaved.delete(record.id);
    await this.#documents.put(record.id, record);
  }

  /** Takes in a state at once and writes it; a write that fails is repeated. */
  async save(record: JobRecord): Promise<void> {
    this.keep(record);
    try {
      await this.write(record);
    } catch (error) {
      this.#saveLater(record.id);
      throw error;
    }
  }

  #saveLater(id: string): void {
    const { clock, progressMs } = this.#options;
    this.#unsaved.add(id);
    if (!this.#isClosed) this.#timer ??= clock.setTimeout(() => void this.#flush(), progressMs);
  }

  /** Writes what waits to be written, a last time. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#flush();
  }

  async #flush(): Promise<void> {
    const { clock, onFault } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const records = Array.from(this.#unsaved, (id) => this.#jobs.get(id)).filter((record) => record !== undefined);
    await Promise.all(records.map((record) => this.save(record))).catch(onFault);
  }

  /** Keeps a result for as long as its job; gives its key, one for each id, so that none is left without a job. */
  async writeResult(id: string, text: string): Promise<string> {
    const resultKey = `jobs/result/${id}`;
    await this.#store.put(resultKey, text);
    return resultKey;
  }

  async resultOf({ resultKey }: JobRecord): Promise<unknown> {
    const found = resultKey === undefined ? undefined : await this.#store.get(resultKey);
    return found && JSON.parse(found.value);
  }

  /** Removes a job; its result first, as nothing would lead to it any more. */
  async forget({ id, resultKey = `jobs/result/${id}` }: JobRecord): Promise<void> {
    this.#jobs.delete(id);
    await this.#store.delete(resultKey);
    await this.#documents.delete(id);
  }
}
