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
export class Scheduler {
  readonly #options: SchedulerOptions;
  // In their order; one that gives up is taken out.
  readonly #queue = new Set<Waiter>();
  #running = 0;
  #held = 0;
  #timer: Timer | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Nothing runs, waits or is held back. */
  get idle(): boolean {
    return this.#running === 0 && this.#queue.size === 0 && this.heldMs() === 0;
  }

  /** Requests that wait. */
  waiting(): number {
    return this.#queue.size;
  }

  /** Milliseconds for which no request may start (Retry-After); 0 when none is held back. */
  heldMs(): number {
    return this.#held === 0 ? 0 : Math.max(0, this.#held - this.#options.clock.now());
  }

  /** "now": the slot is taken. "queued": `granted` or `heldBack` follows. "full": refused. */
  take(waiter: Waiter): "now" | "queued" | "full" {
    const { concurrency, queueLimit } = this.#options;
    const isHeld = this.heldMs() > 0;
    if (!isHeld && this.#running < concurrency && this.#queue.size === 0) {
      this.#running += 1;
      return "now";
    }
    if (this.#queue.size >= queueLimit) return "full";
    this.#queue.add(waiter);
    if (isHeld) this.#sleep();
    return "queued";
  }

  /** Takes a waiter out of the queue; false when it was not there. */
  drop(waiter: Waiter): boolean {
    return this.#queue.delete(waiter);
  }

  /** Gives one slot back. */
  release(): void {
    this.#running -= 1;
    if (this.#queue.size > 0 && this.heldMs() === 0) this.#drain();
  }

  /** Starts no request before this moment; waiters with earlier deadlines fail. */
  holdUntil(momentMs: number): void {
    this.#held = Math.max(this.#held, momentMs);
    for (const waiter of this.#queue) {
      if (waiter.deadlineMs > this.#held) continue;
      this.#queue.delete(waiter);
      waiter.heldBack(this.heldMs());
    }
    if (this.#queue.size > 0) this.#sleep();
  }

  close(): void {
    this.#queue.clear();
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #drain(): void {
    for (const waiter of this.#queue) {
      if (this.#running >= this.#options.concurrency) return;
      this.#queue.delete(waiter);
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
