import type { Clock } from "../../clock.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { type Collection, createCollection } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import { areTooLarge, childId, type PublicError } from "../bounds.ts";
import { brokenBy, isOpen, type JobRecord, recordSchema } from "./job-record.ts";

interface JobRecordsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly keepFinished: number;
  readonly keepFinishedMs: number;
  /** Called with each new state of a job. */
  readonly changed: (record: JobRecord) => void;
  readonly fault: (error: unknown) => void;
}

const resultKeyOf = (id: string): string => `jobs/result/${id}`;

/**
 * All jobs in memory, written through to the store, which is read at the start only: no other process changes it. Held
 * are all open jobs and the latest `keepFinished` finished ones, each with its payload of at most 256 KiB; results stay in
 * the store. All methods that give promises reject with FedwayError `STORE_FAILED`.
 */
export class JobRecords {
  readonly #options: JobRecordsOptions;
  readonly #documents: Collection<JobRecord>;
  readonly #open = new Map<string, JobRecord>();
  /** In the order of their ends. */
  readonly #finished = new Map<string, JobRecord>();
  /** Ids of jobs whose latest state could not be written. */
  readonly #unsaved = new Set<string>();

  constructor(options: JobRecordsOptions) {
    this.#options = options;
    this.#documents = createCollection({ store: options.store, prefix: "jobs/job/", schema: recordSchema });
  }

  get(id: string): JobRecord | undefined {
    return this.#open.get(id) ?? this.#finished.get(id);
  }

  values(): readonly JobRecord[] {
    return [...this.#open.values(), ...this.#finished.values()];
  }

  /** Those that are open, without a copy: every job that starts or ends goes through them. */
  open(): Iterable<JobRecord> {
    return this.#open.values();
  }

  async load(): Promise<void> {
    const found: JobRecord[] = [];
    for await (const [, record] of this.#documents.entries()) found.push(record);
    this.#open.clear();
    this.#finished.clear();
    const byEnd = found.toSorted((left, right) => (left.finishedAtMs ?? 0) - (right.finishedAtMs ?? 0));
    for (const record of byEnd) this.#set(record);
  }

  /** Adds a job that is in the store before it is in memory; the parent after its children, which mean nothing without. */
  async add(job: JobRecord, children: readonly JobRecord[]): Promise<void> {
    const all = [job, ...children];
    const former = all.flatMap(({ id }) => this.get(id) ?? []);
    for (const { id } of all) this.#delete(id);
    try {
      await Promise.all(children.map((child) => this.write(child)));
      await this.write(job);
    } catch (error) {
      await Promise.allSettled(children.map(({ id }) => this.#documents.delete(id)));
      for (const record of former) this.#set(record);
      throw error;
    }
    for (const record of all) this.keep(record);
    const results = former.flatMap(({ resultKey }) => resultKey ?? []);
    await Promise.all(results.map((key) => this.#options.store.delete(key))).catch(this.#options.fault);
  }

  /** Takes in a state, in memory only. */
  keep(record: JobRecord): void {
    this.#set(record);
    this.#options.changed(record);
  }

  #set(record: JobRecord): void {
    if (isOpen(record)) {
      this.#open.set(record.id, record);
      return;
    }
    this.#delete(record.id);
    this.#finished.set(record.id, record);
  }

  #delete(id: string): void {
    this.#open.delete(id);
    this.#finished.delete(id);
  }

  /** Writes a state, to the store only. */
  async write(record: JobRecord): Promise<void> {
    await this.#documents.put(record.id, record);
  }

  /** Takes in a state at once and writes it; a write that fails is repeated by `flush`. */
  async save(record: JobRecord): Promise<void> {
    this.keep(record);
    this.#unsaved.delete(record.id);
    try {
      await this.write(record);
    } catch (error) {
      this.#unsaved.add(record.id);
      throw error;
    }
  }

  get hasUnsaved(): boolean {
    return this.#unsaved.size > 0;
  }

  async flush(): Promise<void> {
    for (const id of Array.from(this.#unsaved)) {
      const record = this.get(id);
      if (record === undefined) this.#unsaved.delete(id);
      else await this.save(record);
    }
  }

  /** Ends an open job. */
  async end(record: JobRecord, state: "failed" | "cancelled", error?: PublicError): Promise<void> {
    const reason = error && { code: error.code, message: error.message };
    const ended: JobRecord = { ...record, state, error: reason, finishedAtMs: this.#options.clock.now() };
    await Promise.all([this.save(ended), this.follow(ended)]);
  }

  /** Does what follows from a job's end: cancels its open children and, unless it is done, fails its parent. */
  async follow(ended: JobRecord): Promise<void> {
    const ends = this.childrenOf(ended).flatMap((child) =>
      child !== undefined && isOpen(child) ? [this.end(child, "cancelled")] : [],
    );
    const parent = this.parentOf(ended);
    const name = ended.id.slice(childId(parent?.id ?? "", "").length);
    const error = brokenBy([name], [ended]);
    if (parent !== undefined && isOpen(parent) && error !== undefined) ends.push(this.end(parent, "failed", error));
    await Promise.all(ends);
  }

  /** The job that waits, or waited, for this one. */
  parentOf({ parent }: JobRecord): JobRecord | undefined {
    const found = parent && this.get(parent.id);
    return found?.order === parent?.order ? found : undefined;
  }

  /** A job's children in the order given; undefined for one that is gone. */
  childrenOf({ id, order, children = [] }: JobRecord): readonly (JobRecord | undefined)[] {
    return children.map((name) => {
      const child = this.get(childId(id, name));
      return child?.parent?.id === id && child.parent.order === order ? child : undefined;
    });
  }

  /** True for a job that an open one waits for, which needs its result. */
  isNeeded(record: JobRecord): boolean {
    const parent = this.parentOf(record);
    return parent !== undefined && isOpen(parent);
  }

  /** Keeps a result for as long as its job. */
  async writeResult(id: string, text: string): Promise<Pick<JobRecord, "resultKey" | "resultBytes">> {
    const resultKey = resultKeyOf(id);
    await this.#options.store.put(resultKey, text);
    return { resultKey, resultBytes: Buffer.byteLength(text) };
  }

  async resultOf({ resultKey }: JobRecord): Promise<unknown> {
    const found = resultKey === undefined ? undefined : await this.#options.store.get(resultKey);
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

  /** Forgets finished jobs that are too many or too old; gives when the next one will be too old. */
  prune(): number {
    const { clock, keepFinished, keepFinishedMs, fault } = this.#options;
    const now = clock.now();
    const over = Array.from(this.#finished.values()).filter((record) => !this.isNeeded(record));
    const isOld = ({ finishedAtMs = 0 }: JobRecord): boolean => finishedAtMs + keepFinishedMs <= now;
    const old = over.filter((record, index) => index < over.length - keepFinished || isOld(record));
    for (const record of old) void this.forget(record).catch(fault);
    const next = over.find((record) => !isOld(record));
    return (next?.finishedAtMs ?? Number.POSITIVE_INFINITY) + keepFinishedMs;
  }

  /** Removes a job; its result first, as nothing would lead to it any more. */
  async forget({ id, resultKey = resultKeyOf(id) }: JobRecord): Promise<void> {
    this.#delete(id);
    await this.#options.store.delete(resultKey);
    await this.#documents.delete(id);
  }
}
