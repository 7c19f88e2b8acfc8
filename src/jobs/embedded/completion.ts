import { childId } from "../bounds.ts";
import { forAll } from "../for-all.ts";
import { endedRecord, failedRecord, type JobCore, type PublicError } from "./job-core.ts";
import { isChildOf, isOpen, type JobRecord, type ParentRef, type VersionedRecord } from "./job-record.ts";

/**
 * Writes the next state of a job that does not run here, or is to be ended whatever it does; undefined when the job has
 * changed meanwhile. @throws FedwayError `STORE_FAILED`
 */
export async function writeState(core: JobCore, record: JobRecord, ifVersion: number): Promise<number | undefined> {
  const version = await core.documents.write(record, ifVersion);
  if (version === undefined) return undefined;
  core.changed({ record, version });
  if (!isOpen(record.state)) core.endRun(record);
  await propagateEnd(core, record);
  return version;
}

/** Sees to what follows for its parent and its children from the state that a job has now. */
export async function propagateEnd(core: JobCore, record: JobRecord): Promise<void> {
  if (isOpen(record.state)) return;
  try {
    if (record.parent !== undefined && record.kept) await settleParent(core, record, record.parent);
    if (record.children !== undefined) await endChildren(core, record, record.children);
  } catch (error) {
    // Made up for by the next look at all open jobs.
    core.fault(error);
  }
}

async function settleParent(core: JobCore, record: JobRecord, parent: ParentRef): Promise<void> {
  if (!(await core.documents.isOpen(parent))) return settleLostChild(core, record.id);
  const error = brokenBy(record.id.slice(parent.id.length + 1), record);
  if (error !== undefined) await failParent(core, parent, error);
}

/** Fails a job whose children cannot all become done, and cancels those that are open. @throws FedwayError `STORE_FAILED` */
export async function failParent(core: JobCore, parent: ParentRef, error: PublicError): Promise<void> {
  for (;;) {
    const held = await core.documents.read(parent.id);
    if (held === undefined || held.record.order !== parent.order || !isOpen(held.record.state)) return;
    const record = failedRecord(held.record, error, core.clock.now());
    if ((await writeState(core, record, held.version)) !== undefined) return;
  }
}

/** Ends a child that is open, or lets go of one that is done, when nobody waits for it. @throws FedwayError `STORE_FAILED` */
export async function settleLostChild(core: JobCore, id: string): Promise<void> {
  const held = await core.documents.read(id);
  if (held?.record.parent === undefined || (await core.documents.isOpen(held.record.parent))) return;
  await endChild(core, id, held.record.parent);
}

/** Cancels the open children of a job that has ended, and lets the others go. @throws FedwayError `STORE_FAILED` */
export async function endChildren(core: JobCore, parent: JobRecord, names: readonly string[]): Promise<void> {
  await forAll(names, (name) => endChild(core, childId(parent.id, name), parent));
  if (parent.planKey !== undefined) await core.documents.removeResult(parent.planKey);
}

/** Cancels a child whose parent has ended, or lets it go. */
async function endChild(core: JobCore, id: string, parent: ParentRef): Promise<void> {
  for (;;) {
    const held = await core.documents.read(id);
    const released = held && isChildOf(held.record, parent) ? releasedRecord(core, held) : undefined;
    if (held === undefined || released === undefined) return;
    const version = await core.documents.write(released, held.version);
    if (version === undefined) continue;
    core.changed({ record: released, version });
    if (isOpen(held.record.state)) core.endRun(released);
    return;
  }
}

function releasedRecord(core: JobCore, { record }: VersionedRecord): JobRecord | undefined {
  if (!isOpen(record.state) && !record.kept) return undefined;
  const { kept: _, ...rest } = isOpen(record.state) ? endedRecord(record, "cancelled", core.clock.now()) : record;
  return rest;
}

/** Why a child with this record lets its parent fail. */
export function brokenBy(name: string, record: JobRecord | undefined): PublicError | undefined {
  if (record === undefined) return { code: "INTERNAL", message: `The part ${name} of the job was lost.` };
  if (record.state === "cancelled") return { code: "CANCELLED", message: `The part ${name} was cancelled.` };
  if (record.state !== "failed") return undefined;
  const { code, message } = record.error ?? { code: "INTERNAL", message: "Nothing is known of why." };
  return { code, message: `The part ${name} failed: ${message}` };
}
