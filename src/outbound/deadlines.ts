import { Bag, type Placed } from "./bag.ts";
import { type Clock, longestTimerMs, type Timer } from "../clock.ts";

/** Something that must be over at a moment. */
export interface Expiring extends Placed {
  readonly deadlineMs: number;
  expire(): void;
}

/** Watches any number of deadlines with one timer: adding and removing one costs no timer of its own. */
export interface Deadlines<T extends Expiring> {
  add(entry: T): void;
  delete(entry: T): void;
  /** Those that were added and neither deleted nor expired. */
  pending(): readonly T[];
  close(): void;
}

/** Entries are expired at their moment, never before; those added after `close` are never expired. */
export function createDeadlines<T extends Expiring>(clock: Clock): Deadlines<T> {
  const entries = new Bag<T>();
  let timer: Timer | undefined;
  let armedFor = Number.POSITIVE_INFINITY;
  let closed = false;

  const arm = (momentMs: number): void => {
    if (timer !== undefined) clock.clearTimeout(timer);
    armedFor = momentMs;
    timer = clock.setTimeout(fire, Math.min(longestTimerMs, Math.max(0, Math.ceil(momentMs - clock.now()))));
    // The sockets and queues that wait keep the process alive; a deadline alone must not.
    timer.unref();
  };

  const fire = (): void => {
    timer = undefined;
    armedFor = Number.POSITIVE_INFINITY;
    const now = clock.now();
    let next = Number.POSITIVE_INFINITY;
    const expired: T[] = [];
    for (const entry of entries.members()) {
      if (entry.deadlineMs <= now) expired.push(entry);
      else if (entry.deadlineMs < next) next = entry.deadlineMs;
    }
    for (const entry of expired) {
      entries.delete(entry);
      entry.expire();
    }
    if (next < armedFor && !closed) arm(next);
  };

  return {
    add(entry) {
      entries.add(entry);
      if (!closed && entry.deadlineMs < armedFor) arm(entry.deadlineMs);
    },
    delete(entry) {
      entries.delete(entry);
    },
    pending: () => entries.members(),
    close() {
      closed = true;
      entries.clear();
      if (timer !== undefined) clock.clearTimeout(timer);
      timer = undefined;
    },
  };
}
