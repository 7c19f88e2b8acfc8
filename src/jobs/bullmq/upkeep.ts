import type { ActiveRun } from "../life/active-run.ts";
import { checkRun } from "../life/cancelling.ts";
import { settleOrphan, writeState } from "../life/endings.ts";
import { type JobCore, unknownKindRecord } from "../life/job-core.ts";
import { isOpen, type JobRecord, type VersionedRecord } from "../life/job-record.ts";
import { putUp, putUpAgain } from "./put-up.ts";
import type { RedisJobDocuments } from "./redis-documents.ts";
import { asArray, type RedisLink } from "./redis-link.ts";
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

/**
 * Looks through all open jobs for those that have lost their ticket or their parent, that wait for tickets which are
 * gone, or that nothing can run.
 */
export async function sweep(options: SweepOptions): Promise<void> {
  const { core, link, tickets, kindKeys } = options;
  // A flow is put up as a whole, whatever number of its tickets is lost.
  const flows = new Map<string, JobRecord>();
  for (let from = 0, count = pageSize; count === pageSize && !core.closing; from += pageSize) {
    const [looked, ...found] = asArray(await link.run("open", from, pageSize, kindKeys));
    count = Number(looked);
    for (let index = 0; index < found.length; index += 3) {
      const [id, kind, need] = found.slice(index, index + 3);
      if (core.kinds.has(String(kind)) && need === "nothing") continue;
      const held = await core.documents.read(String(id));
      if (held !== undefined) await attend(options, held, { need: String(need), flows });
    }
  }
  for (const parent of flows.values()) await putUp(core, tickets, parent);
  for (const kind of core.kinds.keys()) await tickets.removeStrays(kind);
}

interface Needs {
  readonly need: string;
  /** Parents whose flows are to be put up. */
  readonly flows: Map<string, JobRecord>;
}

async function attend({ core, tickets }: SweepOptions, held: VersionedRecord, { need, flows }: Needs): Promise<void> {
  const { record } = held;
  if (need === "orphan") return settleOrphan(core, record.id);
  if (!isOpen(record.state)) return;
  if (!core.kinds.has(record.kind)) {
    const isOld = record.runAtMs < core.clock.now() - unknownKindMs;
    if (isOld) await writeState(core, unknownKindRecord(core, record), held.version);
  } else if (need === "family") await putUpAgain(core, tickets, record);
  else if (need === "ticket") await addLost(core, tickets, { record, flows });
}

async function addLost(
  core: JobCore,
  tickets: Tickets,
  { record, flows }: { readonly record: JobRecord; readonly flows: Map<string, JobRecord> },
): Promise<void> {
  if (record.children !== undefined) flows.set(record.id, record);
  else if (record.parent === undefined) await tickets.add(record);
  else if (!flows.has(record.parent.id)) {
    const parent = await core.documents.read(record.parent.id);
    if (parent !== undefined) flows.set(record.parent.id, parent.record);
  }
}
