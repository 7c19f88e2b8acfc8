import { longestTimerMs } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { ExecutionBounds } from "./execution-bounds.ts";

// Where an answer without the member is an answer, the others need time to give it.
const TOLERATED_SHARE = 0.8;
// Elsewhere enough is left to say which member it was.
const RESERVE_SHARE = 0.1;
const LONGEST_RESERVE_MS = 1_000;

/**
 * How long a request to a member may make its execution wait, in milliseconds: a share of the time that is left, so that
 * one member that hangs after the other still leaves some.
 * @param tolerated an answer without the member is wanted when it fails: with `partial`, and for SILENT
 */
export function memberTimeMs({ deadlineMs }: ExecutionBounds, nowMs: number, tolerated: boolean) {
  const leftMs = Math.max(0, deadlineMs - nowMs);
  return tolerated ? leftMs * TOLERATED_SHARE : leftMs - Math.min(LONGEST_RESERVE_MS, leftMs * RESERVE_SHARE);
}

/** Latest moment to wait for a member: a little before the deadline of its execution. */
export const latestWaitMs = (bounds: ExecutionBounds, nowMs: number): number =>
  nowMs + memberTimeMs(bounds, nowMs, false);

/** Time bounds of one request. */
interface MemberTimeOptions {
  /** The execution's own; it ends the request too. */
  readonly signal: AbortSignal;
  readonly timeMs: number;
  /** Moment on the clock after which the member is not waited for: enough time is left to name it in the error. */
  readonly latestMs: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

/**
 * The time that one request may make its execution wait. Only waiting counts: a reader that is slow to take the rows uses
 * up none of the member's time.
 */
export class MemberTime {
  readonly #options: MemberTimeOptions;
  readonly #controller = new AbortController();
  readonly #follow = (): void => this.#controller.abort(this.#options.signal.reason);
  #leftMs: number;

  constructor(options: MemberTimeOptions) {
    this.#options = options;
    this.#leftMs = options.timeMs;
    const { signal } = options;
    if (signal.aborted) this.#follow();
    else signal.addEventListener("abort", this.#follow, { once: true });
  }

  /** Aborted with the execution, and when the time is up. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The promise, whose time counts. @throws FedwayError `DEADLINE_EXCEEDED`, which `asMemberFailure` makes the member's */
  async waitFor<T>(work: Promise<T>): Promise<T> {
    const { now, latestMs } = this.#options;
    const since = now();
    const leftMs = Math.min(this.#leftMs, latestMs - since);
    const expired = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => {
        const error = tooLate(this.#options.timeMs);
        this.#controller.abort(error);
        expired.reject(error);
      },
      Math.min(longestTimerMs, Math.max(0, Math.ceil(leftMs))),
    );
    try {
      return await Promise.race([work, expired.promise]);
    } finally {
      clearTimeout(timer);
      this.#leftMs -= now() - since;
    }
  }

  /** The items of a stream that comes from the member. */
  async *waitForEach<T>(items: AsyncIterable<T>): AsyncIterable<T> {
    const iterator = items[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.waitFor(iterator.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      // It may hang there for ever.
      void iterator.return?.().catch(() => {});
    }
  }

  /** The request is over. */
  stop(): void {
    this.#options.signal.removeEventListener("abort", this.#follow);
  }
}

const tooLate = (timeMs: number): FedwayError =>
  new FedwayError(
    "DEADLINE_EXCEEDED",
    `The endpoint did not answer within ${Math.round(timeMs)} ms, its share of the query's time.`,
    { fault: "timeout" },
  );

/** A failure as the member's own: its deadline has passed, and not the query's. */
export function asMemberFailure(error: FedwayError, endpoint: string, { signal }: ExecutionBounds): FedwayError {
  if (error.code !== "DEADLINE_EXCEEDED" || signal.aborted) return error;
  return new FedwayError("ENDPOINT_TIMEOUT", error.message, {
    ...error.details,
    fault: "timeout",
    where: { endpoint },
    next: "Allow more time, or ask it for less.",
  });
}
