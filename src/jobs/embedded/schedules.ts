import { FedwayError } from "../../errors/fedway-error.ts";
import type { Store } from "../../store/store.ts";
import { checkedPayload, checkSchedule } from "../bounds.ts";
import type { JobSchedule } from "../job-queue.ts";
import type { Intake } from "./intake.ts";
import { isOpen } from "./job-record.ts";
import type { JobCore } from "./job-core.ts";

/** Jobs that come again and again. */
export interface Schedules {
  /** Adds or changes a schedule. Its first turn is now; a schedule that is there already keeps its next turn. */
  add(schedule: JobSchedule): Promise<void>;
  remove(name: string): Promise<void>;
  /** Learns what other processes scheduled. */
  refresh(): Promise<void>;
  /** Enqueues what is due. */
  tick(): Promise<void>;
  nextTimeMs(): number;
}

interface ScheduleRecord extends JobSchedule {
  /** Moment of the next turn. */
  readonly nextAtMs: number;
  /** Id of the job of the last turn. */
  readonly lastJob?: string;
}

const prefix = "jobs/schedule/";
const leasePrefix = "jobs/schedule-turn/";
const turnLeaseMs = 30_000;
const againMs = 1_000;

interface ScheduleParts {
  readonly core: JobCore;
  readonly store: Store;
  readonly intake: Intake;
  /** Next turns by name, as far as this process knows. */
  readonly nextTimes: Map<string, number>;
}

/** The schedules in a store. */
export function createSchedules(core: JobCore, store: Store, intake: Intake): Schedules {
  const nextTimes = new Map<string, number>();
  const parts: ScheduleParts = { core, store, intake, nextTimes };
  return {
    add: (schedule) => add(parts, schedule),
    async remove(name) {
      nextTimes.delete(name);
      await store.delete(prefix + name);
    },
    async refresh() {
      nextTimes.clear();
      for (const { value } of await store.list(prefix, { limit: 1_000 })) {
        const record = readSchedule(value);
        if (record !== undefined) nextTimes.set(record.name, record.nextAtMs);
      }
    },
    async tick() {
      if (!core.working) return;
      for (const [name, nextAtMs] of nextTimes) {
        if (nextAtMs > core.clock.now() || core.closing) continue;
        // Whatever happens below, this process does not come back at once.
        nextTimes.set(name, core.clock.now() + againMs);
        if (!(await store.acquire(leasePrefix + name, core.owner, turnLeaseMs))) continue;
        try {
          await takeTurn(parts, name);
        } catch (error) {
          core.fault(error);
        } finally {
          await store.release(leasePrefix + name, core.owner);
        }
      }
    },
    nextTimeMs: () => (core.working ? Math.min(...nextTimes.values()) : Number.POSITIVE_INFINITY),
  };
}

async function read(
  store: Store,
  name: string,
): Promise<{ readonly record: ScheduleRecord; readonly version: number } | undefined> {
  const document = await store.get(prefix + name);
  const record = document && readSchedule(document.value);
  return document && record && { record, version: document.version };
}

async function add({ core, store, nextTimes }: ScheduleParts, schedule: JobSchedule): Promise<void> {
  checkSchedule(schedule);
  checkedPayload(core.kinds, schedule.kind, schedule.payload);
  const { name, kind, payload, everyMs } = schedule;
  const now = core.clock.now();
  for (let written: number | undefined; written === undefined; ) {
    const held = await read(store, name);
    const nextAtMs = Math.min(held?.record.nextAtMs ?? now, now + everyMs);
    const record = { ...held?.record, name, kind, payload: payload ?? null, everyMs, nextAtMs };
    written = await store.put(prefix + name, JSON.stringify(record), { ifVersion: held?.version ?? 0 });
    nextTimes.set(name, nextAtMs);
  }
  core.dispatch();
}

/** One turn, inside the lease that makes it the only one under way in the deployment. */
async function takeTurn({ core, store, intake, nextTimes }: ScheduleParts, name: string): Promise<void> {
  const held = await read(store, name);
  if (held === undefined) {
    nextTimes.delete(name);
    return;
  }
  const { record, version } = held;
  const now = core.clock.now();
  if (record.nextAtMs > now) {
    nextTimes.set(name, record.nextAtMs);
    return;
  }
  // Turns that nobody was there for are made up for by one.
  const missed = Math.floor((now - record.nextAtMs) / record.everyMs);
  const turnAtMs = record.nextAtMs + missed * record.everyMs;
  const former = record.lastJob === undefined ? undefined : await core.documents.read(record.lastJob);
  // A turn that comes while the one before is not done is left out: jobs must not pile up.
  const waits = former !== undefined && isOpen(former.record.state);
  const lastJob = waits ? former.record.id : `${name}.${turnAtMs}`;
  if (!waits) await intake.once(record.kind, record.payload, lastJob);
  const next: ScheduleRecord = { ...record, nextAtMs: turnAtMs + record.everyMs, lastJob };
  await store.put(prefix + name, JSON.stringify(next), { ifVersion: version });
  nextTimes.set(name, next.nextAtMs);
}

function readSchedule(text: string): ScheduleRecord | undefined {
  const value: unknown = JSON.parse(text);
  return isSchedule(value) ? value : undefined;
}

function isSchedule(value: unknown): value is ScheduleRecord {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map(Object.entries(value));
  const isText = (name: string): boolean => typeof fields.get(name) === "string";
  const isNumber = (name: string): boolean => typeof fields.get(name) === "number";
  if (!isText("name") || !isText("kind")) return false;
  if (!isNumber("everyMs") || !isNumber("nextAtMs")) throw new FedwayError("STORE_FAILED", "A schedule is damaged.");
  return true;
}
