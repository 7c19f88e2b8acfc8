import { randomUUID } from "node:crypto";
import { FedwayError } from "../../errors/fedway-error.ts";
import { checkedChildren, checkedPayload, checkEnqueueOptions, childId } from "../bounds.ts";
import type { EnqueueOptions } from "../job-queue.ts";
import { isOpen, type JobRecord, type VersionedRecord, isChildOf } from "./job-record.ts";
import type { JobCore, PublicError } from "./job-core.ts";
import { endChildren, failParent } from "./completion.ts";
import { forAll } from "../for-all.ts";

/** How new jobs come in. */
export interface Intake {
  /** As `JobQueue.enqueue`. @throws FedwayError `REQUEST_INVALID`, `STORE_FAILED` */
  enqueue(kind: string, payload: unknown, options: EnqueueOptions): Promise<JobRecord>;
  /** Enqueues under an id that was never used, or does nothing. */
  once(kind: string, payload: unknown, id: string): Promise<void>;
}

/** Other processes that change the same job at the same time; more turns than there can be of them. */
const mostTurns = 100;

/** The intake of a queue. */
export function createIntake(core: JobCore): Intake {
  let lastOrder = 0;
  /** Grows within this process, and from one start to the next as the clock does; those of the children follow it. */
  const nextOrder = (children: number): number => {
    const order = Math.max(lastOrder + 1, core.clock.now() * 1_000);
    lastOrder = order + children;
    return order;
  };
  const create = (kind: string, payload: unknown, options: EnqueueOptions): JobRecord => {
    const { id = randomUUID(), priority = 0, delayMs = 0, children } = options;
    const now = core.clock.now();
    const times = { order: nextOrder(children?.length ?? 0), createdAtMs: now, runAtMs: now + Math.ceil(delayMs) };
    const counts = { attempts: 0, failures: 0, interruptions: 0 };
    const names = children && { children: children.map(({ name }) => name) };
    return { id, kind, state: "waiting", payload, priority, ...times, ...counts, ...names };
  };

  return {
    async enqueue(kind, payload, options) {
      checkEnqueueOptions(options);
      const checked = checkedPayload(core.kinds, kind, payload);
      const { id = randomUUID(), children } = options;
      const plan = children && checkedChildren(core.kinds, id, children);
      for (let turn = 0; turn < mostTurns; turn += 1) {
        const record = create(kind, checked, { ...options, id });
        const held = options.id === undefined ? undefined : await core.documents.read(id);
        if (held !== undefined && (await isTaken(core, held.record))) return complete(core, held);
        const written = await write(core, record, { ifVersion: held?.version ?? 0, plan });
        if (written === undefined) continue;
        const former = held?.record.resultKey;
        if (former !== undefined) await core.documents.removeResult(former);
        return complete(core, written);
      }
      throw new FedwayError("STORE_FAILED", "The job changes all the time and could not be enqueued.");
    },
    async once(kind, payload, id) {
      await write(core, create(kind, checkedPayload(core.kinds, kind, payload), { id }), { ifVersion: 0 });
    },
  };
}

interface NewJob {
  readonly ifVersion: number;
  readonly plan?: readonly PlannedChild[] | undefined;
}

/** Writes a new job; its plan is there before it, and goes when it does not come to be. */
async function write(core: JobCore, record: JobRecord, job: NewJob): Promise<VersionedRecord | undefined> {
  const { documents } = core;
  const planKey = job.plan && (await documents.writeResult(record, JSON.stringify(job.plan)));
  const planned: JobRecord = planKey === undefined ? record : { ...record, planKey };
  const version = await documents.write(planned, job.ifVersion);
  if (version !== undefined) {
    core.changed({ record: planned, version });
    return { record: planned, version };
  }
  if (planKey !== undefined) await documents.removeResult(planKey);
  return undefined;
}

/** An open job with all of its children. @throws FedwayError `REQUEST_INVALID` when the id of one is taken, `INTERNAL` */
async function complete(core: JobCore, { record }: VersionedRecord): Promise<JobRecord> {
  if (record.planKey === undefined) return record;
  const problem = await createChildren(core, record);
  if (problem !== undefined) {
    throw new FedwayError(problem.code === "REQUEST_INVALID" ? problem.code : "INTERNAL", problem.message);
  }
  return (await core.documents.read(record.id))?.record ?? record;
}

/** Whether an id stands for an open job. @throws FedwayError `REQUEST_INVALID` for a finished child of an open one */
async function isTaken(core: JobCore, record: JobRecord): Promise<boolean> {
  if (isOpen(record.state)) return true;
  if (!(await isNeeded(core, record))) return false;
  const message = `The job ${record.id} is a finished part of the job ${record.parent?.id}, which still needs it.`;
  throw new FedwayError("REQUEST_INVALID", message);
}

/** What a child is to be. All children of a job stand in one document, its plan, until each has its own. */
interface PlannedChild {
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
async function isNeeded(core: JobCore, { state, kept, parent }: JobRecord): Promise<boolean> {
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
