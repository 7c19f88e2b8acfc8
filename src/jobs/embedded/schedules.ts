import { Type } from "typebox";
import type { Clock } from "../../clock.ts";
import { createCollection } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import { checkSchedule } from "../bounds.ts";
import type { JobSchedule } from "../job-queue.ts";

interface ScheduleRecord extends JobSchedule {
  /** Moment of the next turn. */
  readonly nextAtMs: number;
  /** Id of the job of the last turn. */
  readonly lastJob?: string;
}

const schema = Type.Unsafe<ScheduleRecord>(
  Type.Object({ name: Type.String(), kind: Type.String(), everyMs: Type.Number(), nextAtMs: Type.Number() }),
);

interface SchedulesOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Enqueues the job of a turn, unless there is one. */
  readonly enqueue: (schedule: JobSchedule, id: string) => Promise<unknown>;
  readonly isOpen: (id: string) => boolean;
  readonly onFault: (error: unknown) => void;
}

/** Wait before a turn is tried again that could not be enqueued. */
const againMs = 1_000;

/** Jobs that come again and again: in memory, written through to the store. */
export function createSchedules({ store, clock, enqueue, isOpen, onFault }: SchedulesOptions) {
  const documents = createCollection({ store, prefix: "jobs/schedule/", schema, lost: "The schedule begins anew." });
  const schedules = new Map<string, ScheduleRecord>();
  const save = async (schedule: ScheduleRecord): Promise<void> => {
    await documents.put(schedule.name, schedule);
    schedules.set(schedule.name, schedule);
  };
  const takeTurn = async (schedule: ScheduleRecord): Promise<void> => {
    const { name, everyMs, nextAtMs, lastJob } = schedule;
    // Turns during which no process ran are made up for by one.
    const turnAtMs = nextAtMs + Math.floor((clock.now() - nextAtMs) / everyMs) * everyMs;
    // A turn that comes while the one before is not done is left out: jobs must not pile up.
    const job = lastJob !== undefined && isOpen(lastJob) ? lastJob : `${name}.${turnAtMs}`;
    await enqueue(schedule, job);
    const held = schedules.get(name);
    if (held !== undefined) await save({ ...held, nextAtMs: turnAtMs + held.everyMs, lastJob: job });
  };
  return {
    /** When the next turn is due. */
    nextMs: (): number => Math.min(...Array.from(schedules.values(), ({ nextAtMs }) => nextAtMs)),
    async load(): Promise<void> {
      for await (const [name, schedule] of documents.entries()) schedules.set(name, schedule);
    },
    /** Adds or changes a schedule. Its first turn is now; a schedule that is there already keeps its next turn. */
    async add(schedule: JobSchedule): Promise<void> {
      checkSchedule(schedule);
      const { name, kind, payload, everyMs } = schedule;
      const now = clock.now();
      const held = schedules.get(name);
      const nextAtMs = Math.min(held?.nextAtMs ?? now, now + everyMs);
      await save({ ...held, name, kind, payload: payload ?? null, everyMs, nextAtMs });
    },
    async remove(name: string): Promise<void> {
      schedules.delete(name);
      await documents.delete(name);
    },
    /** Enqueues what is due. */
    async tick(): Promise<void> {
      for (const schedule of Array.from(schedules.values())) {
        if (schedule.nextAtMs > clock.now()) continue;
        await takeTurn(schedule).catch((error: unknown) => {
          onFault(error);
          const held = schedules.get(schedule.name);
          if (held !== undefined) schedules.set(held.name, { ...held, nextAtMs: clock.now() + againMs });
        });
      }
    },
  };
}
