import { randomUUID } from "node:crypto";
import { FedwayError } from "../../errors/fedway-error.ts";
import { nearest } from "../../errors/nearest.ts";
import { checkChildren, checkEnqueueOptions, isLargeFamily, payloadText } from "../bounds.ts";
import type { ChildJob, EnqueueOptions, JobKind } from "../job-queue.ts";
import { createChildren, isNeeded, type PlannedChild } from "./children.ts";
import { isOpen, type JobRecord, type VersionedRecord } from "./job-record.ts";
import type { JobCore } from "./job-core.ts";

/** How new jobs come in. */
export interface Intake {
  /** As `JobQueue.enqueue`. @throws FedwayError `REQUEST_INVALID`, `STORE_FAILED` */
  enqueue(kind: string, payload: unknown, options: EnqueueOptions): Promise<JobRecord>;
  /** Enqueues under an id that was never used, or does nothing. */
  once(kind: string, payload: unknown, id: string): Promise<void>;
  /** @throws FedwayError `REQUEST_INVALID` for an unknown kind or a payload that its kind does not take */
  check(kind: string, payload: unknown): void;
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
  const create = (kind: string, text: string, options: EnqueueOptions): JobRecord => {
    const { id = randomUUID(), priority = 0, delayMs = 0, children } = options;
    const now = core.clock.now();
    const times = { order: nextOrder(children?.length ?? 0), createdAtMs: now, runAtMs: now + Math.ceil(delayMs) };
    const counts = { attempts: 0, failures: 0, interruptions: 0 };
    const names = children && { children: children.map(({ name }) => name) };
    const payload: unknown = JSON.parse(text);
    return { id, kind, state: "waiting", payload, priority, ...times, ...counts, ...names };
  };

  return {
    check(kind, payload) {
      check(core, kind, payload);
    },
    async enqueue(kind, payload, options) {
      checkEnqueueOptions(options);
      const text = check(core, kind, payload);
      const { id = randomUUID(), children } = options;
      const plan = children && planOf(core, id, children);
      for (let turn = 0; turn < mostTurns; turn += 1) {
        const record = create(kind, text, { ...options, id });
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
      await write(core, create(kind, check(core, kind, payload), { id }), { ifVersion: 0 });
    },
  };
}

/** The text of a payload that its kind takes. @throws FedwayError `REQUEST_INVALID` */
function check(core: JobCore, name: string, payload: unknown): string {
  const text = payloadText(payload);
  kindOf(core, name).validate(JSON.parse(text));
  return text;
}

/** @throws FedwayError `REQUEST_INVALID` */
function planOf(core: JobCore, id: string, children: readonly ChildJob[]): readonly PlannedChild[] {
  checkChildren(id, children);
  const texts = children.map(({ kind, payload }) => check(core, kind, payload));
  if (isLargeFamily(texts.map((text) => Buffer.byteLength(text)))) {
    throw new FedwayError("REQUEST_INVALID", "The payloads of the job's children are larger than 16 MiB together.");
  }
  return children.map(({ kind }, index) => ({ kind, payload: JSON.parse(texts[index] ?? "null") }));
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

function kindOf(core: JobCore, name: string): JobKind {
  const kind = core.kinds.get(name);
  if (kind !== undefined) return kind;
  const known = nearest(name, core.kinds.keys());
  throw new FedwayError("REQUEST_INVALID", "There is no such kind of job.", {
    ...(known.length > 0 && { next: `Did you mean ${known.join(" or ")}?` }),
  });
}
