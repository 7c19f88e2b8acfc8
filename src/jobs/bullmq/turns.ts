import { randomUUID } from "node:crypto";
import type { Job as BullmqJob } from "bullmq";
import { checkSchedule } from "../bounds.ts";
import type { JobSchedule } from "../job-queue.ts";
import type { Intake } from "../life/intake.ts";
import type { JobCore } from "../life/job-core.ts";
import { isOpen } from "../life/job-record.ts";
import type { RedisLink } from "./redis-link.ts";
import { closeWorker, createWorker, type WorkerSettings } from "./ticket-worker.ts";
import type { Tickets } from "./tickets.ts";

/** Jobs that come again and again: BullMQ's job schedulers, whose turns enqueue jobs. */
export interface Turns {
  /** Adds or changes a schedule. Its first turn is now; a schedule that is there already keeps its next turn. */
  add(schedule: JobSchedule): Promise<void>;
  remove(name: string): Promise<void>;
  /** Takes turns in this process, too. */
  work(settings: WorkerSettings): void;
  /** Puts up again what this process was told and Redis has lost, or whose turns have stopped. */
  restore(): Promise<void>;
  stop(): Promise<void>;
}

interface TurnsOptions {
  readonly core: JobCore;
  readonly link: RedisLink;
  readonly intake: Intake;
  readonly tickets: Tickets;
}

/** How late a turn may be before its schedule counts as stuck. */
const stuckMs = 60_000;
const turnsAtOnce = 4;

/** Schedules over a link. */
export async function openTurns(options: TurnsOptions): Promise<Turns> {
  const { core, link, intake } = options;
  const told = new Map<string, JobSchedule>();
  let life = await link.run("life", randomUUID());
  let worker: ReturnType<typeof createWorker> | undefined;
  return {
    async add(schedule) {
      checkSchedule(schedule);
      intake.check(schedule.kind, schedule.payload);
      await putUp(link, schedule);
      told.set(schedule.name, schedule);
    },
    async remove(name) {
      told.delete(name);
      await link.wait(link.turns.removeJobScheduler(name));
      await link.run("tookTurn", name, "");
    },
    work(settings) {
      worker = createWorker("turns", (ticket) => takeTurn(options, ticket), {
        ...settings,
        concurrency: turnsAtOnce,
        fault: core.fault,
      });
    },
    async restore() {
      const now = await link.run("life", randomUUID());
      const lost = now !== life;
      for (const schedule of Array.from(told.values())) {
        const known = await link.wait(link.turns.getJobScheduler(schedule.name));
        const stuck = known?.next !== undefined && known.next < core.clock.now() - schedule.everyMs - stuckMs;
        if (lost || stuck) await putUp(link, schedule);
        // Another process has taken it back; unless all was lost since the life was asked for.
        else if (known === undefined && (await link.run("life", randomUUID())) === now) told.delete(schedule.name);
      }
      life = now;
    },
    async stop() {
      if (worker === undefined) return;
      await worker.pause(true);
      await closeWorker(worker, false);
    },
  };
}

async function putUp(link: RedisLink, { name, kind, payload, everyMs }: JobSchedule): Promise<void> {
  const opts = { removeOnComplete: true, removeOnFail: true, attempts: 10, backoff: { type: "fixed", delay: 1_000 } };
  const template = { name: "turn", data: { kind, payload: payload ?? null }, opts };
  await link.wait(link.turns.upsertJobScheduler(name, { every: everyMs }, template));
}

/** One turn; BullMQ gives it to one worker, and again only when that one is lost. */
async function takeTurn({ core, link, intake, tickets }: TurnsOptions, ticket: BullmqJob): Promise<void> {
  // `repeat:<name>:<ms>`
  const [, name = "", turnAt = ""] = (ticket.id ?? "").split(":");
  const id = `${name}.${turnAt}`;
  const last = await link.run("lastTurn", name);
  const former = typeof last === "string" && last !== id ? await core.documents.read(last) : undefined;
  // A turn that comes while the one before is not done is left out: jobs must not pile up.
  if (former !== undefined && isOpen(former.record.state)) return;
  await link.run("tookTurn", name, id);
  const { kind, payload } = readTurn(ticket.data);
  await intake.once(kind, payload, id);
  const held = await core.documents.read(id);
  if (held !== undefined) await tickets.add(held.record);
}

function readTurn(data: unknown): { readonly kind: string; readonly payload: unknown } {
  const fields = new Map(Object.entries(typeof data === "object" && data !== null ? data : {}));
  return { kind: String(fields.get("kind")), payload: fields.get("payload") };
}
