import { type ActiveRun, loseRun } from "./active-run.ts";
import { writeState } from "./endings.ts";
import { endedRecord, type JobCore, isRun } from "./job-core.ts";
import { isOpen, type JobRecord, type VersionedRecord } from "./job-record.ts";

/**
 * Makes a job `cancelled`, whoever runs it, and ends its run in this process; resolves to the job, or to undefined when
 * there is none that is open. @throws FedwayError `STORE_FAILED`
 */
export async function cancelJob(core: JobCore, id: string): Promise<JobRecord | undefined> {
  for (;;) {
    const held = await core.documents.read(id);
    if (held === undefined || !isOpen(held.record.state)) return undefined;
    const record = endedRecord(held.record, "cancelled", core.clock.now());
    if ((await writeState(core, record, held.version)) !== undefined) return record;
  }
}

/** Ends the run of a job that has just been ended. */
export function endRunOf(run: ActiveRun | undefined, { attempts }: JobRecord): void {
  // A run without a record is about to claim the job.
  if (run !== undefined && (run.held?.record.attempts ?? attempts) === attempts) loseRun(run, "The job was cancelled.");
}

/** Ends a run of this process when the store shows that its job is no longer this run's. */
export async function checkRun(core: JobCore, run: ActiveRun, seen: VersionedRecord | undefined): Promise<void> {
  const claimed = run.held?.record.attempts;
  if (claimed === undefined || run.held?.version === seen?.version) return;
  if (seen !== undefined && isRun(seen.record, core.owner, claimed)) return;
  // Cancelled, or taken over, by another process; unless the run itself has just moved on.
  const now = await core.documents.read(run.id);
  if (now === undefined || !isRun(now.record, core.owner, claimed)) loseRun(run, "The job was cancelled.");
}
