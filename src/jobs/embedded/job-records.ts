import type { Clock, Timer } from "../../clock.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { createCollection } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import { areTooLarge, childId } from "../bounds.ts";
import { isOpen, type JobRecord, recordSchema } from "./job-record.ts";

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
    this.#documents = createCollection({ store: options.store, prefix: "jobs/job/", schema: recordSchema });
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

  /** Adds a job that is in the store before it is in memory; the parent after its children, which mean nothing without. */
  async add(job: JobRecord, children: readonly JobRecord[]): Promise<void> {
    const all = [job, ...children];
    const former = all.flatMap(({ id }) => this.#jobs.get(id) ?? []);
    for (const { id } of all) this.#jobs.delete(id);
    try {
      await Promise.all(children.map((child) => this.write(child)));
      await this.write(job);
    } catch (error) {
      // Children that were written are forgotten at the next start.
      for (const record of former) this.#jobs.set(record.id, record);
      throw error;
    }
    for (const record of all) this.keep(record);
    // The new job may give no result.
    const results = former.flatMap(({ resultKey }) => resultKey ?? []);
    await Promise.allSettled(results.map((key) => this.#store.delete(key)));
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

  /** The job that waits, or waited, for this one. */
  parentOf({ parent }: JobRecord): JobRecord | undefined {
    const found = parent && this.#jobs.get(parent.id);
    return found?.order === parent?.order ? found : undefined;
  }

  /** A job's children in the order given; undefined for one that is gone. */
  childrenOf({ id, order, children = [] }: JobRecord): readonly (JobRecord | undefined)[] {
    return children.map((name) => {
      const child = this.#jobs.get(childId(id, name));
      return child?.parent?.id === id && child.parent.order === order ? child : undefined;
    });
  }

  /** True for a job that an open one waits for, which needs its result. */
  isNeeded(record: JobRecord): boolean {
    const parent = this.parentOf(record);
    return parent !== undefined && isOpen(parent);
  }

  /** Keeps a result for as long as its job, under one key for each id, so that none is left without a job. */
  async writeResult(id: string, text: string): Promise<Pick<JobRecord, "resultKey" | "resultBytes">> {
    const resultKey = `jobs/result/${id}`;
    await this.#store.put(resultKey, text);
    return { resultKey, resultBytes: Buffer.byteLength(text) };
  }

  async resultOf({ resultKey }: JobRecord): Promise<unknown> {
    const found = resultKey === undefined ? undefined : await this.#store.get(resultKey);
    return found && JSON.parse(found.value);
  }

  /** What the children of a job gave. @throws FedwayError also `INTERNAL` when a result is lost, or all are too large */
  async childResults(record: JobRecord): Promise<readonly unknown[]> {
    const children = this.childrenOf(record).filter((child) => child !== undefined);
    if (areTooLarge(children.map(({ resultBytes = 0 }) => resultBytes))) {
      throw new FedwayError("INTERNAL", "The results of the job's parts are larger than 16 MiB together.");
    }
    const results: unknown[] = [];
    for (const child of children) {
      const result = await this.resultOf(child);
      if (result === undefined && child.resultKey !== undefined) {
        throw new FedwayError("INTERNAL", `The result of the part ${child.id} was lost.`);
      }
      results.push(result);
    }
    return results;
  }

  /** Removes a job; its result first, as nothing would lead to it any more. */
  async forget({ id, resultKey = `jobs/result/${id}` }: JobRecord): Promise<void> {
    this.#jobs.delete(id);
    await this.#store.delete(resultKey);
    await this.#documents.delete(id);
  }
}
