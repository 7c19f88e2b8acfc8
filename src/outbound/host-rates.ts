import { type Clock, longestTimerMs, type Timer } from "../clock.ts";

/** How many requests may be sent to one host. */
export interface HostRate {
  /** Requests a second, in the long run. */
  readonly perSecond: number;
  /** Requests that may be sent at once after a rest. */
  readonly burst: number;
}

/** A request that waits for its turn at a host. */
export interface TurnWaiter {
  readonly deadlineMs: number;
  /** The request may be sent now. */
  granted(): void;
}

/** Bounds of the token buckets. */
export interface HostRateOptions extends HostRate {
  /** Requests that may wait per host. */
  readonly queueLimit: number;
  /** Buckets remembered; those with waiting requests are never dropped. */
  readonly maxHosts: number;
  readonly clock: Clock;
}

/** Rate shared by all buckets of one client. */
interface Pace {
  /** Milliseconds in which one token comes back. */
  readonly intervalMs: number;
  /** How far ahead a bucket's full moment may lie while there is still a token in it. */
  readonly slackMs: number;
  readonly queueLimit: number;
  readonly clock: Clock;
}

/** Fills continuously (generic cell rate algorithm): one number, and no timer unless somebody waits. */
class TokenBucket {
  readonly #pace: Pace;
  /** The moment at which the bucket is full again; what lies between now and then is the tokens that are missing. */
  #fullAtMs = 0;
  readonly #queue = new Set<TurnWaiter>();
  #timer: Timer | undefined;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  get busy(): boolean {
    return this.#queue.size > 0;
  }

  get full(): boolean {
    return this.#fullAtMs <= this.#pace.clock.now();
  }

  /** Milliseconds until the turn of a request behind `ahead` more than those that wait. */
  waitMs(ahead: number): number {
    return this.#turnMs(this.#queue.size + ahead);
  }

  take(waiter: TurnWaiter): "now" | "queued" | "refused" {
    const { queueLimit, clock } = this.#pace;
    const waitMs = this.waitMs(0);
    if (waitMs === 0 && !this.busy) {
      this.#spend();
      return "now";
    }
    if (this.#queue.size >= queueLimit || clock.now() + waitMs >= waiter.deadlineMs) return "refused";
    this.#queue.add(waiter);
    this.#sleep();
    return "queued";
  }

  drop(waiter: TurnWaiter): void {
    if (this.#queue.delete(waiter) && !this.busy) this.close();
  }

  close(): void {
    this.#pace.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#queue.clear();
  }

  /** Milliseconds until there is a token for the request at a place of the queue, the first being 0. */
  #turnMs(place: number): number {
    const { intervalMs, slackMs, clock } = this.#pace;
    const now = clock.now();
    return Math.max(0, Math.max(this.#fullAtMs, now) + place * intervalMs - slackMs - now);
  }

  #spend(): void {
    const { intervalMs, clock } = this.#pace;
    this.#fullAtMs = Math.max(this.#fullAtMs, clock.now()) + intervalMs;
  }

  #sleep(): void {
    const ms = Math.min(longestTimerMs, Math.max(1, Math.ceil(this.#turnMs(0))));
    this.#timer ??= this.#pace.clock.setTimeout(() => this.#wake(), ms);
  }

  #wake(): void {
    this.#timer = undefined;
    for (const waiter of this.#queue) {
      if (this.#turnMs(0) > 0) break;
      this.#queue.delete(waiter);
      this.#spend();
      waiter.granted();
    }
    if (this.busy) this.#sleep();
  }
}

/** A token bucket with a bounded first-in, first-out queue for every host; the longest unused one is forgotten. */
export class HostRates {
  readonly #pace: Pace;
  readonly #maxHosts: number;
  /** Insertion order is order of use: a bucket that is used moves to the end. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor({ perSecond, burst, queueLimit, maxHosts, clock }: HostRateOptions) {
    const intervalMs = 1000 / perSecond;
    // The hundredth absorbs rounding errors.
    const slackMs = (Math.max(1, burst) - 1) * intervalMs + 0.01;
    this.#pace = { intervalMs, slackMs, queueLimit, clock };
    this.#maxHosts = maxHosts;
  }

  /** Milliseconds until a request may be sent that joins the host's queue behind `ahead` more requests. */
  waitMs(host: string, ahead: number): number {
    return (this.#buckets.get(host) ?? new TokenBucket(this.#pace)).waitMs(ahead);
  }

  /**
   * "now": a token is taken. "queued": `granted` follows before the waiter's deadline. "refused": the queue is full
   * or the wait would last beyond the deadline.
   */
  take(host: string, waiter: TurnWaiter): "now" | "queued" | "refused" {
    const known = this.#buckets.get(host);
    if (known === undefined) this.#makeRoom();
    else this.#buckets.delete(host);
    const bucket = known ?? new TokenBucket(this.#pace);
    this.#buckets.set(host, bucket);
    return bucket.take(waiter);
  }

  /** Takes a waiter out of the queue. */
  drop(host: string, waiter: TurnWaiter): void {
    this.#buckets.get(host)?.drop(waiter);
  }

  /** Buckets remembered. */
  get size(): number {
    return this.#buckets.size;
  }

  close(): void {
    for (const bucket of this.#buckets.values()) bucket.close();
    this.#buckets.clear();
  }

  /** A full bucket is as good as none; the memory of an emptier one is given up only when there is no other. */
  #makeRoom(): void {
    if (this.#buckets.size < this.#maxHosts) return;
    if (!this.#forget(({ full }) => full)) this.#forget(() => true);
  }

  #forget(dispensable: (bucket: TokenBucket) => boolean): boolean {
    for (const [host, bucket] of this.#buckets) {
      if (bucket.busy || !dispensable(bucket)) continue;
      this.#buckets.delete(host);
      return true;
    }
    return false;
  }
}
