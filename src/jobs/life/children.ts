import { endChildren, failParent } from "./endings.ts";
import { forAll } from "./family.ts";
import type { JobCore, PublicError } from "./job-core.ts";
import { childId, isChildOf, isOpen, type JobRecord } from "./job-record.ts";

/** What a child is to be. All children of a job stand in one document, its plan, until each has its own. */
export interface PlannedChild {
  readonly kind: string;
  readonly payload: unknown;
}

/**
 * Creates the children that a job does not have yet. The plan is there before the job and goes when all of its children
 * are there, so that this may be done by several processes at once, and again after a crash. Fails a job whose children
 * cannot be created, and resolves to why. @throws FedwayError `STORE_FAILED`
 */
export async function createChildren(core: JobCore, parent: JobRecord): Promise<PublicError | undefined> {
  if (parent.planKey === undefined || !isOpen(parent.state)) return undefined;
  const problem = await createAll(core, parent, parent.planKey);
  if (problem === undefined) await endPlan(core, parent, parent.planKey);
  else await failParent(core, parent, problem);
  return problem;
}

async function createAll(core: JobCore, parent: JobRecord, planKey: string): Promise<PublicError | undefined> {
  const plan = readPlan(await core.documents.readResult(planKey));
  if (plan === undefined) {
    const held = await core.documents.read(parent.id);
    // Otherwise somebody else has done it all.
    const lost = held?.record.order === parent.order && held.record.planKey !== undefined;
    return lost ? { code: "INTERNAL", message: "What the parts of the job are to be was lost." } : undefined;
  }
  const names = parent.children ?? [];
  const created = await forAll(names, async (name, index) => {
    const planned = plan[index];
    return planned === undefined || createChild(core, parent, childRecord(core, parent, { ...planned, name, index }));
  });
  const taken = names.find((_, index) => created[index] !== true);
  if (taken === undefined) return undefined;
  return { code: "REQUEST_INVALID", message: `The id ${childId(parent.id, taken)} stands for another job.` };
}

function childRecord(
  core: JobCore,
  parent: JobRecord,
  { name, index, kind, payload }: PlannedChild & { readonly name: string; readonly index: number },
): JobRecord {
  const { id, order, priority, runAtMs } = parent;
  return {
    id: childId(id, name),
    kind,
    state: "waiting",
    payload,
    priority,
    order: order + 1 + index,
    createdAtMs: core.clock.now(),
    runAtMs,
    attempts: 0,
    failures: 0,
    interruptions: 0,
    parent: { id, order },
  };
}

/** False when the id is taken by a job that somebody still waits for. */
async function createChild(core: JobCore, parent: JobRecord, record: JobRecord): Promise<boolean> {
  for (;;) {
    const held = await core.documents.read(record.id);
    if (held !== undefined && isChildOf(held.record, parent)) return true;
    if (held !== undefined && (await isNeeded(core, held.record))) return false;
    const version = await core.documents.write(record, held?.version ?? 0);
    if (version === undefined) continue;
    if (held !== undefined) core.endRun(held.record);
    core.changed({ record, version });
    if (held?.record.resultKey !== undefined) await core.documents.removeResult(held.record.resultKey);
    return true;
  }
}

/** Whether a job must not be replaced by another one of its id. @throws FedwayError `STORE_FAILED` */
export async function isNeeded(core: JobCore, { state, kept, parent }: JobRecord): Promise<boolean> {
  if (parent === undefined) return isOpen(state);
  return (isOpen(state) || kept === true) && core.documents.isOpen(parent);
}

/** Notes that all children are there. */
async function endPlan(core: JobCore, { id, order }: JobRecord, planKey: string): Promise<void> {
  for (;;) {
    const held = await core.documents.read(id);
    if (held === undefined || held.record.order !== order) return;
    // It ended while its children were created.
    if (!isOpen(held.record.state)) return endChildren(core, held.record, held.record.children ?? []);
    const { planKey: key, ...record } = held.record;
    if (key === undefined) return;
    const version = await core.documents.write(record, held.version);
    if (version === undefined) continue;
    core.changed({ record, version });
    await core.documents.removeResult(planKey);
    return;
  }
}

function readPlan(value: unknown): readonly PlannedChild[] | undefined {
  return Array.isArray(value) && value.every(isPlanned) ? value : undefined;
}

function isPlanned(value: unknown): value is PlannedChild {
  return typeof value === "object" && value !== null && "kind" in value && "payload" in value;
}
