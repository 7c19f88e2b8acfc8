import { randomUUID } from "node:crypto";
import { FedwayError } from "../../errors/fedway-error.ts";
import { nearest } from "../../errors/nearest.ts";
import { checkEnqueueOptions, payloadText } from "../bounds.ts";
import type { EnqueueOptions, JobKind } from "../job-queue.ts";
import { isOpen, type JobRecord } from "./job-record.ts";
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
  /** Grows within this process, and from one start to the next as the clock does. */
  const nextOrder = (): number => {
    lastOrder = Math.max(lastOrder + 1, core.clock.now() * 1_000);
    return lastOrder;
  };
  const check = (name: string, payload: unknown): string => {
    const text = payloadText(payload);
    kindOf(core, name).validate(JSON.parse(text));
    return text;
  };
  const create = (kind: string, text: string, { id, priority, delayMs }: EnqueueOptions): JobRecord => {
    const now = core.clock.now();
    const counts = { attempts: 0, failures: 0, interruptions: 0 };
    const times = { order: nextOrder(), createdAtMs: now, runAtMs: now + Math.ceil(delayMs ?? 0) };
    const payload: unknown = JSON.parse(text);
    return { id: id ?? randomUUID(), kind, state: "waiting", payload, priority: priority ?? 0, ...times, ...counts };
  };
  const write = async (record: JobRecord, ifVersion: number): Promise<boolean> => {
    const version = await core.documents.write(record, ifVersion);
    if (version === undefined) return false;
    core.changed({ record, version });
    return true;
  };

  return {
    check(kind, payload) {
      check(kind, payload);
    },
    async enqueue(kind, payload, options) {
      checkEnqueueOptions(options);
      const text = check(kind, payload);
      for (let turn = 0; turn < mostTurns; turn += 1) {
        const record = create(kind, text, options);
        const held = options.id === undefined ? undefined : await core.documents.read(options.id);
        if (held !== undefined && isOpen(held.record.state)) return held.record;
        if (await write(record, held?.version ?? 0)) {
          const former = held?.record.resultKey;
          if (former !== undefined) await core.documents.removeResult(former);
          return record;
        }
      }
      throw new FedwayError("STORE_FAILED", "The job changes all the time and could not be enqueued.");
    },
    async once(kind, payload, id) {
      await write(create(kind, check(kind, payload), { id }), 0);
    },
  };
}

function kindOf(core: JobCore, name: string): JobKind {
  const kind = core.kinds.get(name);
  if (kind !== undefined) return kind;
  const known = nearest(name, core.kinds.keys());
  throw new FedwayError("REQUEST_INVALID", "There is no such kind of job.", {
    ...(known.length > 0 && { next: `Did you mean ${known.join(" or ")}?` }),
  });
}
