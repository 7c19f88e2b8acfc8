import { checkRun } from "../life/cancelling.ts";
import { interruptedRecord, unknownKindRecord } from "../life/job-core.ts";
import { isOpen, type JobRecord, type VersionedRecord } from "../life/job-record.ts";
import type { QueueCore } from "./queue-core.ts";
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
  if (run !== undefined) await checkRun(core, run, held);
  else if (core.working) await attendIdle(core, options, held);
}

/** Looks after a job that does not run in this process. */
async function attendIdle(core: QueueCore, options: SurveyOptions, held: VersionedRecord): Promise<void> {
  const { record } = held;
  if (record.state === "running") await takeBack(core, options, held);
  else if (record.state === "waiting" && !core.kinds.has(record.kind))
    await replace(core, held, unknownKindRecord(core, record));
}

/** Puts a job back whose worker is gone, which is known when its lease can be had. */
async function takeBack(core: QueueCore, { soleOwner }: SurveyOptions, held: VersionedRecord): Promise<void> {
  const { documents, owner } = core;
  const { record } = held;
  if (soleOwner && record.owner !== undefined) await documents.release(record.id, record.owner);
  if (!(await documents.lease(record.id, owner))) return;
  await replace(
    core,
    held,
    core.kinds.has(record.kind) ? interruptedRecord(core, record) : unknownKindRecord(core, record),
  );
  await documents.release(record.id, owner);
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
