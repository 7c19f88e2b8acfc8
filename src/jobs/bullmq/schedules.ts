import { randomUUID } from "node:crypto";
import { checkedPayload, checkSchedule, knownKind } from "../bounds.ts";
import type { JobKind, JobSchedule } from "../job-queue.ts";
import { type JobData, type Keeping, kindOptions } from "./bullmq-job.ts";
import type { RedisLink } from "./redis-link.ts";

/** Jobs that come again and again: BullMQ's job schedulers. */
export type Schedules = Awaited<ReturnType<typeof openSchedules>>;

interface ScheduleOptions {
  readonly link: RedisLink;
  readonly kinds: ReadonlyMap<string, JobKind>;
  readonly keeping: Keeping;
  readonly prefix: string;
}

/** How late a turn may be before its schedule counts as stuck. */
const stuckMs = 60_000;

/** Schedules over a link. */
export async function openSchedules({ link, kinds, keeping, prefix }: ScheduleOptions) {
  const told = new Map<string, JobSchedule>();
  /** Another value after Redis has lost all data: missing schedules were lost, and not withdrawn. */
  const readEpoch = async (): Promise<unknown> => {
    const key = `${prefix}jobs:epoch`;
    await link.command("set", key, randomUUID(), "NX");
    return link.command("get", key);
  };
  let epoch = await readEpoch();
  const upsert = async ({ name, kind, payload, everyMs }: JobSchedule): Promise<void> => {
    const data: JobData = { payload: checkedPayload(kinds, kind, payload) };
    const template = { name: kind, data, opts: kindOptions(knownKind(kinds, kind), keeping) };
    await link.wait(link.queue(kind).upsertJobScheduler(name, { every: everyMs }, template));
  };
  return {
    async add(schedule: JobSchedule): Promise<void> {
      checkSchedule(schedule);
      await upsert(schedule);
      told.set(schedule.name, schedule);
    },
    async remove(name: string): Promise<void> {
      told.delete(name);
      await Promise.all(Array.from(kinds.keys(), (kind) => link.wait(link.queue(kind).removeJobScheduler(name))));
    },
    /** Adds again the schedules of this process that Redis has lost, or whose turns have stopped. */
    async restore(): Promise<void> {
      const now = await readEpoch();
      const lost = now !== epoch;
      for (const schedule of Array.from(told.values())) {
        const known = await link.wait(link.queue(schedule.kind).getJobScheduler(schedule.name));
        const stuck = known?.next !== undefined && known.next < Date.now() - schedule.everyMs - stuckMs;
        if (lost || stuck) await upsert(schedule);
        // Another process has taken it back; unless all was lost since the epoch was read.
        else if (known === undefined && (await readEpoch()) === now) told.delete(schedule.name);
      }
      epoch = now;
    },
  };
}
