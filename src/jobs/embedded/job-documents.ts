import type { PutOptions, Store, StoredDocument } from "../../store/store.ts";
import { isOpen, isOver, type JobRecord, type ParentRef, readRecord, type VersionedRecord } from "./job-record.ts";

/** The jobs of a queue as documents, and the leases on them. All reject with FedwayError `STORE_FAILED`. */
export interface JobDocuments {
  all(): Promise<readonly VersionedRecord[]>;
  read(id: string): Promise<VersionedRecord | undefined>;
  /** Whether this very job is open: for its children, since the document of a job with many children is large. */
  isOpen(job: ParentRef): Promise<boolean>;
  /**
   * Writes when the document still has this version (0: when there is none) and resolves to the new one. Finished jobs
   * go by themselves when their time is over.
   */
  write(record: JobRecord, ifVersion: number): Promise<number | undefined>;
  remove(held: VersionedRecord): Promise<boolean>;
  /** Keeps a result for as long as its job; resolves to its key. */
  writeResult(record: JobRecord, text: string): Promise<string>;
  readResult(key: string): Promise<unknown>;
  removeResult(key: string): Promise<void>;
  /** Holds a job for one queue; false while another one holds it. */
  lease(id: string, owner: string): Promise<boolean>;
  release(id: string, owner: string): Promise<void>;
}

/** Where and how long the documents are kept. */
export interface JobDocumentOptions {
  readonly store: Store;
  readonly keepFinishedMs: number;
  readonly leaseMs: number;
}

const jobPrefix = "jobs/job/";
const resultPrefix = "jobs/result/";
const leasePrefix = "jobs/lease/";
const pageSize = 500;

/** The documents of the queue that lives in this store. */
export function createJobDocuments({ store, keepFinishedMs, leaseMs }: JobDocumentOptions): JobDocuments {
  const keepResult = async (key: string | undefined, options: PutOptions): Promise<void> => {
    const held = key === undefined ? undefined : await store.get(key);
    if (held !== undefined) await store.put(held.key, held.value, options);
  };
  return {
    async read(id) {
      const document = await store.get(jobPrefix + id);
      return document && versioned(document);
    },
    async isOpen({ id, order }) {
      const document = await store.get(jobPrefix + id);
      const record = document && readRecord(document.value);
      return record?.order === order && isOpen(record.state);
    },
    async write(record, ifVersion) {
      const ttl = isOver(record) ? { ttlMs: keepFinishedMs } : {};
      // A result that has no end always has a job that has none: it gets its end before the job, and loses it after it.
      if (isOver(record) && record.parent !== undefined) await keepResult(record.resultKey, ttl);
      const version = await store.put(jobPrefix + record.id, JSON.stringify(record), { ifVersion, ...ttl });
      if (version !== undefined && record.kept) await keepResult(record.resultKey, {});
      return version;
    },
    async remove({ record, version }) {
      const removed = await store.delete(jobPrefix + record.id, { ifVersion: version });
      if (removed && record.resultKey !== undefined) await store.delete(record.resultKey);
      return removed;
    },
    async all() {
      const found: VersionedRecord[] = [];
      for (let after: string | undefined; ; ) {
        const page = await store.list(jobPrefix, { limit: pageSize, ...(after !== undefined && { after }) });
        for (const document of page) {
          const held = versioned(document);
          if (held !== undefined) found.push(held);
        }
        after = page.at(-1)?.key;
        if (page.length < pageSize) return found;
      }
    },
    async writeResult({ id, order, attempts }, text) {
      // Each run has its own key: a run that has lost its job cannot overwrite what its successor gave.
      const key = `${resultPrefix}${id}/${order}/${attempts}`;
      await store.put(key, text, { ttlMs: keepFinishedMs });
      return key;
    },
    async readResult(key) {
      const document = await store.get(key);
      return document === undefined ? undefined : JSON.parse(document.value);
    },
    async removeResult(key) {
      await store.delete(key);
    },
    lease: (id, owner) => store.acquire(leasePrefix + id, owner, leaseMs),
    release: (id, owner) => store.release(leasePrefix + id, owner),
  };
}

function versioned({ value, version }: StoredDocument): VersionedRecord | undefined {
  const record = readRecord(value);
  return record && { record, version };
}
