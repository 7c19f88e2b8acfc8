import type { JobCore, JobDocuments } from "../life/job-core.ts";
import type { VersionedRecord } from "../life/job-record.ts";
import type { JobMirror } from "./job-mirror.ts";

/** The documents of a queue that looks through all of them. */
export interface StoredJobDocuments extends JobDocuments {
  remove(held: VersionedRecord): Promise<boolean>;
  all(): Promise<readonly VersionedRecord[]>;
}

/** What the parts of one queue share. */
export interface QueueCore extends JobCore {
  readonly documents: StoredJobDocuments;
  readonly mirror: JobMirror;
  /** False: running jobs and the turns of schedules are left to other processes. Settled by the start. */
  working: boolean;
  /** Looks for jobs to run, now and when the next one is due. */
  pump: () => void;
}
