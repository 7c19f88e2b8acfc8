import { brokenBy, isOpen, type JobRecord } from "./job-record.ts";
import type { JobRecords } from "./job-records.ts";

interface RecoverOptions {
  readonly kinds: ReadonlyMap<string, unknown>;
  readonly nowMs: number;
  /** Ends of the process in the middle of a job after which that is given up. */
  readonly mostInterruptions: number;
}

/** Puts right what the end of the last process has left. @throws FedwayError `STORE_FAILED` */
export async function recover(records: JobRecords, options: RecoverOptions): Promise<void> {
  await forgetUnacknowledged(records);
  for (const { id } of records.values()) {
    const record = records.get(id);
    if (record !== undefined && isOpen(record)) await recoverJob(records, record, options);
  }
  for (const record of records.values().filter(isOpen)) {
    const error = record.children && brokenBy(record.children, records.childrenOf(record));
    if (error !== undefined) await records.end(record, "failed", error);
  }
}

/** A process that ends while it enqueues leaves children without their parent. */
async function forgetUnacknowledged(records: JobRecords): Promise<void> {
  for (const record of records.values()) {
    const isAlone = record.parent !== undefined && records.parentOf(record) === undefined;
    if (isOpen(record) && isAlone) await records.forget(record);
  }
}

async function recoverJob(records: JobRecords, record: JobRecord, options: RecoverOptions): Promise<void> {
  const { kinds, nowMs, mostInterruptions } = options;
  const fail = (code: string, message: string): Promise<void> => records.end(record, "failed", { code, message });
  const parent = records.parentOf(record);
  if (parent !== undefined && !isOpen(parent)) return records.end(record, "cancelled");
  if (!kinds.has(record.kind)) {
    return fail("REQUEST_INVALID", `This version of the service has no jobs of the kind ${record.kind}.`);
  }
  if (record.state !== "running") return;
  const interruptions = record.interruptions + 1;
  if (interruptions < mostInterruptions) {
    return records.save({ ...record, interruptions, state: "waiting", runAtMs: nowMs });
  }
  return fail("INTERNAL", `The job was given up: its worker ended ${interruptions} times while it ran.`);
}
