import { FedwayError } from "../../errors/fedway-error.ts";
import { loseRun } from "./active-run.ts";
import { isOpen, type JobRecord, type VersionedRecord } from "./job-record.ts";
import { failedRecord, isRun, type QueueCore, waitingAgain } from "./queue-core.ts";
import type { Worker } from "./worker.ts";

/** What a survey needs beside the core. */
export interface SurveyOptions {
  readonly worker: Worker;
  /** No other process works on this store: whoever else holds a job is dead. */
  readonly soleOwner: boolean;
}

/**
 * Looks at all jobs of the store: learns what other processes did, takes back jobs whose worker is gone, and fails jobs
 * that nothing here can run.
 */
export async function survey(core: QueueCore, options: SurveyOptions): Promise<void> {
  const known = new Map(core.mirror.ids().map((id) => [id, core.mirror.get(id)?.version]));
  const stored = await core.documents.all();
  for (const held of stored) {
    known.delete(held.record.id);
    const newest = core.mirror.get(held.record.id);
    // Changed since the list was read: this process knows better.
    if (newest !== undefined && newest.version > held.version) continue;
    if (newest?.version !== held.version) core.changed(held);
    await attend(core, options, held);
  }
  // Gone from the store, unless it came in while the list was read.
  for (const [id, version] of known) if (core.mirror.get(id)?.version === version) core.mirror.forget(id);
}

async function attend(core: QueueCore, options: SurveyOptions, held: VersionedRecord): Promise<void> {
  const { record } = held;
  const run = options.worker.get(record.id);
  if (run !== undefined) {
    const claimed = run.held?.record.attempts;
    if (claimed !== undefined && !isRun(record, core.owner, claimed) && run.held?.version !== held.version) {
      // Cancelled, or taken over, by another process; unless the run itself has just moved on.
      const now = await core.documents.read(record.id);
      if (now === undefined || !isRun(now.record, core.owner, claimed)) loseRun(run, "The job was cancelled.");
    }
    return;
  }
  if (record.state === "running") await takeBack(core, options, held);
  else if (record.state === "waiting" && !core.kinds.has(record.kind))
    await replace(core, held, unknownKind(core, record));
}

/** Puts a job back whose worker is gone, which is known when its lease can be had. */
async function takeBack(core: QueueCore, { soleOwner }: SurveyOptions, held: VersionedRecord): Promise<void> {
  const { documents, owner } = core;
  const { record } = held;
  if (soleOwner && record.owner !== undefined) await documents.release(record.id, record.owner);
  if (!(await documents.lease(record.id, owner))) return;
  await replace(core, held, interrupted(core, record));
  await documents.release(record.id, owner);
}

function interrupted(core: QueueCore, record: JobRecord): JobRecord {
  if (!core.kinds.has(record.kind)) return unknownKind(core, record);
  const interruptions = record.interruptions + 1;
  const now = core.clock.now();
  if (interruptions < core.mostInterruptions) return waitingAgain({ ...record, interruptions }, now);
  const message = `The job was given up: its worker ended ${interruptions} times while it ran.`;
  return failedRecord({ ...record, interruptions }, new FedwayError("INTERNAL", message), now);
}

function unknownKind(core: QueueCore, record: JobRecord): JobRecord {
  const message = `This version of the service has no jobs of the kind ${record.kind}.`;
  return failedRecord(record, new FedwayError("REQUEST_INVALID", message), core.clock.now());
}

async function replace(core: QueueCore, held: VersionedRecord, record: JobRecord): Promise<void> {
  const version = await core.documents.write(record, held.version);
  if (version !== undefined) core.changed({ record, version });
}

/** Removes finished jobs beyond the number that is kept, those that finished first. */
export async function trim(core: QueueCore, most: number): Promise<void> {
  for (const id of core.mirror.beyond(most)) {
    const held = await core.documents.read(id);
    if (held === undefined) core.mirror.forget(id);
    else if (isOpen(held.record.state)) core.mirror.see(held);
    else if (await core.documents.remove(held)) core.mirror.forget(id);
  }
}
