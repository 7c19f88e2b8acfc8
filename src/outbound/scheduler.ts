import { type Clock, longestTimerMs, type Timer } from "../clock.ts";

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

class SlotScheduler implements Scheduler {
  readonly #options: SchedulerOptions;
  // No Set: tables that a Set has grown out of lead to their successors, and so keep waiters of long ago from the garbage
  // collector's first look. Hardly anybody leaves from the middle.
  #queue: Waiter[] = [];
  #running = 0;
  #held = 0;
  #timer: Timer | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  get idle(): boolean {
    return this.#running === 0 && this.#queue.length === 0 && this.heldMs() === 0;
  }

  waiting(): number {
    return this.#queue.length;
  }

  heldMs(): number {
    return this.#held === 0 ? 0 : Math.max(0, this.#held - this.#options.clock.now());
  }

  take(waiter: Waiter): "now" | "queued" | "full" {
    const { concurrency, queueLimit } = this.#options;
    const isHeld = this.heldMs() > 0;
    if (!isHeld && this.#running < concurrency && this.#queue.length === 0) {
      this.#running += 1;
      return "now";
    }
    if (this.#queue.length >= queueLimit) return "full";
    this.#queue.push(waiter);
    if (isHeld) this.#sleep();
    return "queued";
  }

  drop(waiter: Waiter): boolean {
    const at = this.#queue.indexOf(waiter);
    if (at >= 0) this.#queue.splice(at, 1);
    return at >= 0;
  }

  release(): void {
    this.#running -= 1;
    if (this.#queue.length > 0 && this.heldMs() === 0) this.#drain();
  }

  holdUntil(momentMs: number): void {
    this.#held = Math.max(this.#held, momentMs);
    const told = this.#queue.filter(({ deadlineMs }) => deadlineMs <= this.#held);
    this.#queue = this.#queue.filter(({ deadlineMs }) => deadlineMs > this.#held);
    for (const waiter of told) waiter.heldBack(this.heldMs());
    if (this.#queue.length > 0) this.#sleep();
  }

  close(): void {
    this.#queue = [];
    if (this.#timer !== undefined) this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #drain(): void {
    while (this.#running < this.#options.concurrency) {
      const waiter = this.#queue.shift();
      if (waiter === undefined) return;
      this.#running += 1;
      waiter.granted();
    }
  }

  #sleep(): void {
    const ms = Math.min(longestTimerMs, Math.ceil(this.heldMs()));
    this.#timer ??= this.#options.clock.setTimeout(() => this.#wake(), ms);
  }

  #wake(): void {
    this.#timer = undefined;
    if (this.heldMs() > 0) this.#sleep();
    else this.#drain();
  }
}

/** All slots are free. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  return new SlotScheduler(options);
}
