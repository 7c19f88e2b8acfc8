import { type Clock, longestTimerMs, type Timer } from "./clock.ts";

/** A request that waits for a slot. */
export interface Waiter {
  readonly deadlineMs: number;
  /** The slot is taken for this request; it must be given back with `release`. */
  granted(): void;
  /** The endpoint is held back beyond the request's deadline; the waiter has left the queue. */
  heldBack(retryAfterMs: number): void;
}

/** Bounds of one endpoint's scheduler. */
export interface SchedulerOptions {
  /** Requests under way at once. */
  readonly concurrency: number;
  /** Requests that may wait. */
  readonly queueLimit: number;
  readonly clock: Clock;
}

/** Slots of one endpoint with a bounded first-in, first-out queue. */
export interface Scheduler {
  /** Nothing runs, waits or is held back. */
  readonly idle: boolean;
  /** Requests that wait. */
  waiting(): number;
  /** Milliseconds for which no request may start (Retry-After); 0 when none is held back. */
  heldMs(): number;
  /** "now": the slot is taken. "queued": `granted` or `heldBack` follows. "full": refused. */
  take(waiter: Waiter): "now" | "queued" | "full";
  /** Takes a waiter out of the queue; false when it was not there. */
  drop(waiter: Waiter): boolean;
  /** Gives one slot back. */
  release(): void;
  /** Starts no request before this moment; waiters that cannot wait so long are told. */
  holdUntil(momentMs: number): void;
  close(): void;
}

export function createScheduler({ concurrency, queueLimit, clock }: SchedulerOptions): Scheduler {
  // A Set keeps insertion order and drops from the middle in constant time.
  const queue = new Set<Waiter>();
  let running = 0;
  let held = 0;
  let timer: Timer | undefined;

  const heldMs = (): number => (held === 0 ? 0 : Math.max(0, held - clock.now()));

  const drain = (): void => {
    for (const waiter of queue) {
      if (running >= concurrency) return;
      queue.delete(waiter);
      running += 1;
      waiter.granted();
    }
  };
  const wake = (): void => {
    timer = undefined;
    if (heldMs() > 0) sleep();
    else drain();
  };
  const sleep = (): void => {
    timer ??= clock.setTimeout(wake, Math.min(longestTimerMs, Math.ceil(heldMs())));
  };

  return {
    get idle() {
      return running === 0 && queue.size === 0 && heldMs() === 0;
    },
    waiting: () => queue.size,
    heldMs,
    take(waiter) {
      if (heldMs() === 0 && running < concurrency && queue.size === 0) {
        running += 1;
        return "now";
      }
      if (queue.size >= queueLimit) return "full";
      queue.add(waiter);
      if (heldMs() > 0) sleep();
      return "queued";
    },
    drop: (waiter) => queue.delete(waiter),
    release() {
      running -= 1;
      if (queue.size > 0 && heldMs() === 0) drain();
    },
    holdUntil(momentMs) {
      held = Math.max(held, momentMs);
      for (const waiter of queue) {
        if (waiter.deadlineMs > held) continue;
        queue.delete(waiter);
        waiter.heldBack(heldMs());
      }
      if (queue.size > 0) sleep();
    },
    close() {
      queue.clear();
      if (timer !== undefined) clock.clearTimeout(timer);
      timer = undefined;
    },
  };
}
