import { isOpen, type JobRecord, type VersionedRecord } from "../life/job-record.ts";

/** What is known of a job without reading it again; payloads and progress stay in the store. */
export interface MirroredJob extends Pick<JobRecord, "id" | "kind" | "state" | "priority" | "order" | "runAtMs"> {
  readonly version: number;
  readonly finishedAtMs: number;
}

/**
 * The jobs of the store as this process last saw them, to choose from without asking the store. It may be behind: what
 * it offers is claimed on the version of the document, so that being behind costs a vain attempt and nothing else.
 */
export interface JobMirror {
  /** Takes in what is newer than what is known; true when it was. */
  see(held: VersionedRecord): boolean;
  forget(id: string): void;
  get(id: string): MirroredJob | undefined;
  ids(): readonly string[];
  /** The next job of a kind that may run now: highest priority first, then in the order of enqueuing. */
  next(kind: string, nowMs: number, isTaken: (id: string) => boolean): MirroredJob | undefined;
  /** When the next job that waits for its time may run. */
  nextTimeMs(nowMs: number): number;
  /** Puts off a job that could not be claimed, in this process only. */
  putOff(id: string, untilMs: number): void;
  /** Finished jobs beyond a number, those that finished first. */
  beyond(most: number): readonly string[];
}

/** Nothing is known yet. */
export function createJobMirror(): JobMirror {
  const jobs = new Map<string, MirroredJob>();
  /** Open jobs by kind: choosing must not go through what is finished. */
  const openByKind = new Map<string, Set<string>>();
  let finished = 0;

  const forget = (id: string): void => {
    const job = jobs.get(id);
    if (job === undefined) return;
    jobs.delete(id);
    openByKind.get(job.kind)?.delete(id);
    if (!isOpen(job.state)) finished -= 1;
  };
  const keep = (job: MirroredJob): void => {
    forget(job.id);
    jobs.set(job.id, job);
    if (!isOpen(job.state)) {
      finished += 1;
      return;
    }
    const open = openByKind.get(job.kind) ?? new Set();
    openByKind.set(job.kind, open.add(job.id));
  };

  return {
    see({ record, version }) {
      const known = jobs.get(record.id);
      if (known !== undefined && known.version >= version) return false;
      keep(mirrored(record, version));
      return true;
    },
    forget,
    get: (id) => jobs.get(id),
    ids: () => Array.from(jobs.keys()),
    next(kind, nowMs, isTaken) {
      let best: MirroredJob | undefined;
      for (const id of openByKind.get(kind) ?? []) {
        const job = jobs.get(id);
        if (job?.state !== "waiting" || job.runAtMs > nowMs || isTaken(id)) continue;
        if (best === undefined || comesBefore(job, best)) best = job;
      }
      return best;
    },
    nextTimeMs(nowMs) {
      let next = Number.POSITIVE_INFINITY;
      for (const open of openByKind.values()) {
        for (const id of open) {
          const job = jobs.get(id);
          if (job?.state === "waiting" && job.runAtMs > nowMs) next = Math.min(next, job.runAtMs);
        }
      }
      return next;
    },
    putOff(id, untilMs) {
      const job = jobs.get(id);
      if (job !== undefined) jobs.set(id, { ...job, runAtMs: Math.max(job.runAtMs, untilMs) });
    },
    beyond: (most) => (finished > most ? finishedFirst(jobs.values()).slice(0, finished - most) : []),
  };
}

/** Ids of the finished jobs, those that finished first first. */
function finishedFirst(jobs: Iterable<MirroredJob>): readonly string[] {
  const ended = Array.from(jobs).filter(({ state }) => !isOpen(state));
  return ended.toSorted((left, right) => left.finishedAtMs - right.finishedAtMs).map(({ id }) => id);
}

function mirrored(record: JobRecord, version: number): MirroredJob {
  const { id, kind, state, priority, order, runAtMs, finishedAtMs = 0 } = record;
  return { id, kind, state, priority, order, runAtMs, version, finishedAtMs };
}

function comesBefore(left: MirroredJob, right: MirroredJob): boolean {
  return left.priority === right.priority ? left.order < right.order : left.priority > right.priority;
}
