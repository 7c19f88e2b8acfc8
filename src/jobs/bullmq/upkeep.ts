import type { ActiveRun } from "../life/active-run.ts";
import { checkRun } from "../life/cancelling.ts";
import { type JobCore, unknownKindRecord } from "../life/job-core.ts";
import { asArray, type RedisJobDocuments } from "./redis-documents.ts";
import type { RedisLink } from "./redis-link.ts";
import type { Tickets } from "./tickets.ts";

/** Work that is done now and then, never twice at once. */
export interface Repeated {
  /** Does the work soon, whatever its turn. */
  now(): void;
  /** Ends it; resolves when it is not under way. */
  stop(): Promise<void>;
}

/** Does `work` with pauses of `everyMs`; failures are told and tried again. */
export function repeat(core: JobCore, everyMs: number, work: () => Promise<void>): Repeated {
  let stopped = false;
  let busy: Promise<void> = Promise.resolve();
  let timer = core.clock.setTimeout(turn, everyMs);
  function turn(): void {
    core.clock.clearTimeout(timer);
    busy = busy.then(workNow);
  }
  async function workNow(): Promise<void> {
    if (stopped) return;
    await work().catch(core.fault);
    core.clock.clearTimeout(timer);
    if (!stopped) timer = core.clock.setTimeout(turn, everyMs);
  }
  return {
    now: turn,
    stop() {
      stopped = true;
      core.clock.clearTimeout(timer);
      return busy;
    },
  };
}

/** What is looked at for changes by other processes. */
export interface LookOptions {
  readonly core: JobCore;
  readonly documents: RedisJobDocuments;
  readonly watched: () => readonly string[];
  readonly active: () => readonly ActiveRun[];
}

/** A look at the jobs that are watched or run here: tells what other processes changed, ends runs they cancelled. */
export function createLook({ core, documents, watched, active }: LookOptions): () => Promise<void> {
  let seen = new Map<string, number>();
  return async () => {
    const runs = new Map(active().map((run) => [run.id, run]));
    const ids = Array.from(new Set([...runs.keys(), ...watched()]));
    const versions = ids.length === 0 ? [] : await documents.versions(ids);
    const before = seen;
    seen = new Map(ids.map((id, index) => [id, versions[index] ?? 0]));
    for (const [id, version] of seen) {
      const run = runs.get(id);
      if (before.get(id) === version || run?.held?.version === version) continue;
      const held = await documents.read(id);
      if (held !== undefined) core.changed(held);
      if (run !== undefined) await checkRun(core, run, held);
    }
  };
}

/** What a sweep needs. */
export interface SweepOptions {
  readonly core: JobCore;
  readonly link: RedisLink;
  readonly tickets: Tickets;
  /** Beginning of BullMQ's keys for the kinds' queues. */
  readonly kindKeys: string;
}

const pageSize = 200;
/** Time after which a job of a kind that this version does not have cannot be one of a rolling restart. */
const unknownKindMs = 3_600_000;

/** Looks through all open jobs for those that have lost their ticket, or that nothing can run. */
export async function sweep({ core, link, tickets, kindKeys }: SweepOptions): Promise<void> {
  for (let from = 0; !core.closing; from += pageSize) {
    const [count, ...found] = asArray(await link.run("open", from, pageSize, kindKeys));
    for (let index = 0; index < found.length; index += 3) {
      const [id, kind, hasTicket] = found.slice(index, index + 3);
      const known = core.kinds.has(String(kind));
      if (known && hasTicket === 1) continue;
      const held = await core.documents.read(String(id));
      if (held === undefined) continue;
      if (known) await tickets.add(held.record);
      else if (held.record.runAtMs < core.clock.now() - unknownKindMs) {
        const record = unknownKindRecord(core, held.record);
        const version = await core.documents.write(record, held.version);
        if (version !== undefined) core.changed({ record, version });
      }
    }
    if (Number(count) < pageSize) return;
  }
}
