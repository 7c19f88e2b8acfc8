import { checkRun } from "../life/cancelling.ts";
import { reviewFamily } from "../life/admission.ts";
import { settleOrphan, writeState } from "../life/endings.ts";
import { brokenBy } from "../life/family.ts";
import { interruptedRecord, unknownKindRecord } from "../life/job-core.ts";
import { childId, isChildOf, isOpen, isOver, type JobRecord, type VersionedRecord } from "../life/job-record.ts";
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
  const byId = new Map(stored.map(({ record }) => [record.id, record]));
  for (const held of stored) {
    known.delete(held.record.id);
    const newest = core.mirror.get(held.record.id);
    // Changed since the list was read: this process knows better.
    if (newest !== undefined && newest.version > held.version) continue;
    if (newest?.version !== held.version) core.changed(held);
    await attend(core, options, held);
    if (core.working && needsReview(held.record, byId)) await review(core, held);
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
    await writeState(core, unknownKindRecord(core, record), held.version);
}

/** Whether a process that is gone may have left something undone between a job and its parent or children. */
function needsReview(record: JobRecord, byId: ReadonlyMap<string, JobRecord>): boolean {
  const parent = record.parent && byId.get(record.parent.id);
  if (record.parent !== undefined && !isOver(record))
    return parent?.order !== record.parent.order || !isOpen(parent.state);
  if (record.children === undefined || record.state !== "waiting") return false;
  if (record.planKey !== undefined) return true;
  return record.children.some((name) => {
    const child = byId.get(childId(record.id, name));
    return brokenBy(name, child && isChildOf(child, record) ? child : undefined) !== undefined;
  });
}

async function review(core: QueueCore, held: VersionedRecord): Promise<void> {
  if (held.record.parent !== undefined) await settleOrphan(core, held.record.id);
  else await reviewFamily(core, held);
}

/** Puts a job back whose worker is gone, which is known when its lease can be had. */
async function takeBack(core: QueueCore, { soleOwner }: SurveyOptions, held: VersionedRecord): Promise<void> {
  const { documents, owner } = core;
  const { record } = held;
  if (soleOwner && record.owner !== undefined) await documents.release(record.id, record.owner);
  if (!(await documents.lease(record.id, owner))) return;
  const next = core.kinds.has(record.kind) ? interruptedRecord(core, record) : unknownKindRecord(core, record);
  await writeState(core, next, held.version);
  await documents.release(record.id, owner);
}

/** Removes finished jobs beyond the number that is kept, those that finished first. */
export async function trim(core: QueueCore, most: number): Promise<void> {
  for (const id of core.mirror.beyond(most)) {
    const held = await core.documents.read(id);
    if (held === undefined) core.mirror.forget(id);
    else if (!isOver(held.record)) core.mirror.see(held);
    else if (await core.documents.remove(held)) core.mirror.forget(id);
  }
}
