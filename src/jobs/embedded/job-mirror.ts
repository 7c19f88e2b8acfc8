import { isOpen, isOver, type JobRecord, type ParentRef, type VersionedRecord } from "./job-record.ts";

/** What is known of a job without reading it again; payloads and progress stay in the store. */
export interface MirroredJob extends Pick<JobRecord, "id" | "kind" | "state" | "priority" | "order" | "runAtMs"> {
  readonly version: number;
  readonly finishedAtMs: number;
  /** Nothing comes of it any more. */
  readonly isOver: boolean;
  /** The job that waits for it, and how many it waits for itself. */
  readonly parent: string | undefined;
  readonly children: number;
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
  /**
   * The next job of a kind that may run now, with all of its children done: highest priority first, then in the order of
   * enqueuing.
   */
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
  const doneChildren = createDoneChildren();
  let finished = 0;

  const forget = (id: string): void => {
    const job = jobs.get(id);
    if (job === undefined) return;
    jobs.delete(id);
    openByKind.get(job.kind)?.delete(id);
    doneChildren.forget(job);
    if (job.isOver) finished -= 1;
  };
  const keep = (job: MirroredJob): void => {
    forget(job.id);
    jobs.set(job.id, job);
    doneChildren.keep(job);
    if (job.isOver) finished += 1;
    if (!isOpen(job.state)) return;
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
        if (job?.state !== "waiting" || job.runAtMs > nowMs || isTaken(id) || !doneChildren.isAll(job)) continue;
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

/** Which children are done, by their parent: choosing must not go through them. */
function createDoneChildren() {
  const byParent = new Map<string, Set<string>>();
  return {
    keep({ id, parent, state }: MirroredJob): void {
      if (parent !== undefined && state === "done") byParent.set(parent, (byParent.get(parent) ?? new Set()).add(id));
    },
    forget({ id, parent = "" }: MirroredJob): void {
      const done = byParent.get(parent);
      done?.delete(id);
      if (done?.size === 0) byParent.delete(parent);
    },
    /** Whether a job waits for none of its children any more. */
    isAll: (job: MirroredJob): boolean => job.children === 0 || byParent.get(refOf(job))?.size === job.children,
  };
}

/** Ids of the finished jobs, those that finished first first, and children before the parent of the same moment. */
function finishedFirst(jobs: Iterable<MirroredJob>): readonly string[] {
  const ended = Array.from(jobs).filter((job) => job.isOver);
  const byEnd = (left: MirroredJob, right: MirroredJob): number =>
    left.finishedAtMs - right.finishedAtMs || left.children - right.children;
  return ended.toSorted(byEnd).map(({ id }) => id);
}

function mirrored(record: JobRecord, version: number): MirroredJob {
  const { id, kind, state, priority, order, runAtMs, finishedAtMs = 0 } = record;
  const parent = record.parent && refOf(record.parent);
  const relatives = { isOver: isOver(record), parent, children: record.children?.length ?? 0 };
  return { id, kind, state, priority, order, runAtMs, version, finishedAtMs, ...relatives };
}

function refOf({ id, order }: ParentRef): string {
  return `${id} ${order}`;
}

function comesBefore(left: MirroredJob, right: MirroredJob): boolean {
  return left.priority === right.priority ? left.order < right.order : left.priority > right.priority;
}
