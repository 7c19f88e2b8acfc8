import { type ActiveRun, loseRun } from "./active-run.ts";
import { type JobCore, isRun, withoutOwner } from "./job-core.ts";
import { isOpen, type JobRecord, type VersionedRecord } from "./job-record.ts";

/**
 * Makes a job `cancelled`, whoever runs it, and ends its run in this process; resolves to the job, or to undefined when
 * there is none that is open. @throws FedwayError `STORE_FAILED`
 */
export async function cancelJob(
  core: JobCore,
  id: string,
  runOf: (id: string) => ActiveRun | undefined,
): Promise<JobRecord | undefined> {
  for (;;) {
    const held = await core.documents.read(id);
    if (held === undefined || !isOpen(held.record.state)) return undefined;
    const record: JobRecord = { ...withoutOwner(held.record), state: "cancelled", finishedAtMs: core.clock.now() };
    const version = await core.documents.write(record, held.version);
    if (version === undefined) continue;
    const run = runOf(id);
    // A run without a record is about to claim the job.
    if (run !== undefined && (run.held?.record.attempts ?? record.attempts) === record.attempts)
      loseRun(run, "The job was cancelled.");
    core.changed({ record, version });
    return record;
  }
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
