import { Type } from "typebox";
import type { Clock } from "../../clock.ts";
import { type Collection, createCollection } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";
import { checkSchedule } from "../bounds.ts";
import type { JobSchedule } from "../job-queue.ts";
import { isOpen } from "./job-record.ts";
import type { JobRecords } from "./job-records.ts";

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
  readonly jobs: JobRecords;
  readonly enqueue: (schedule: JobSchedule, id: string) => Promise<unknown>;
  readonly fault: (error: unknown) => void;
}

/** Wait before a turn is tried again that could not be enqueued. */
const againMs = 1_000;

/** Jobs that come again and again: in memory, written through to the store. */
export class Schedules {
  readonly #options: SchedulesOptions;
  readonly #documents: Collection<ScheduleRecord>;
  readonly #schedules = new Map<string, ScheduleRecord>();

  constructor(options: SchedulesOptions) {
    this.#options = options;
    this.#documents = createCollection({ store: options.store, prefix: "jobs/schedule/", schema });
  }

  /** When the next turn is due. */
  get nextMs(): number {
    return Math.min(...Array.from(this.#schedules.values(), ({ nextAtMs }) => nextAtMs));
  }

  async load(): Promise<void> {
    for await (const [name, schedule] of this.#documents.entries()) this.#schedules.set(name, schedule);
  }

  /** Adds or changes a schedule. Its first turn is now; a schedule that is there already keeps its next turn. */
  async add(schedule: JobSchedule): Promise<void> {
    checkSchedule(schedule);
    const { name, kind, payload, everyMs } = schedule;
    const now = this.#options.clock.now();
    const held = this.#schedules.get(name);
    const nextAtMs = Math.min(held?.nextAtMs ?? now, now + everyMs);
    await this.#save({ ...held, name, kind, payload: payload ?? null, everyMs, nextAtMs });
  }

  async remove(name: string): Promise<void> {
    this.#schedules.delete(name);
    await this.#documents.delete(name);
  }

  /** Enqueues what is due. */
  async tick(): Promise<void> {
    const { clock, fault } = this.#options;
    for (const schedule of Array.from(this.#schedules.values())) {
      if (schedule.nextAtMs > clock.now()) continue;
      try {
        await this.#takeTurn(schedule);
      } catch (error) {
        fault(error);
        const held = this.#schedules.get(schedule.name);
        if (held !== undefined) this.#schedules.set(held.name, { ...held, nextAtMs: clock.now() + againMs });
      }
    }
  }

  async #takeTurn(schedule: ScheduleRecord): Promise<void> {
    const { clock, enqueue, jobs } = this.#options;
    const { name, everyMs, nextAtMs, lastJob } = schedule;
    // Turns during which no process ran are made up for by one.
    const turnAtMs = nextAtMs + Math.floor((clock.now() - nextAtMs) / everyMs) * everyMs;
    // A turn that comes while the one before is not done is left out: jobs must not pile up.
    const former = lastJob === undefined ? undefined : jobs.get(lastJob);
    const job = former !== undefined && isOpen(former) ? former.id : `${name}.${turnAtMs}`;
    // There is one when the process ended before it could write down that this turn was taken.
    if (jobs.get(job) === undefined) await enqueue(schedule, job);
    const held = this.#schedules.get(name);
    if (held !== undefined) await this.#save({ ...held, nextAtMs: turnAtMs + held.everyMs, lastJob: job });
  }

  async #save(schedule: ScheduleRecord): Promise<void> {
    await this.#documents.put(schedule.name, schedule);
    this.#schedules.set(schedule.name, schedule);
  }
}
