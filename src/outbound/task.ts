import { type Clock, longestTimerMs, type Timer } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Network } from "./network.ts";
import type { OutboundObserver, RequestEnd, RequestOutcome } from "./observer.ts";

/** For whom something is fetched, and until when. */
interface TaskOptions {
  readonly signal: AbortSignal;
  /** Moment on the network's clock, milliseconds. */
  readonly deadlineMs: number;
  /** Name of the endpoint in metrics; default "unlisted". */
  readonly endpoint?: string | undefined;
  /** Name of the endpoint in messages, where the task is a query. */
  readonly queried?: string | undefined;
  /** Trace context of the requests, passed to the observer unchanged. */
  readonly trace?: unknown;
  /** Notified of each HTTP request. */
  readonly observer?: Pick<OutboundObserver, "onRequest"> | undefined;
}

/**
 * Something that goes out, from its beginning to the last byte of its answer: its deadline, its cancellation, its turns
 * at hosts and the account of its HTTP requests. Queries (`Call`), documents and messages to webhooks are tasks.
 */
export class Task {
  readonly network: Network;
  readonly deadlineMs: number;
  readonly startedMs: number;
  /** The host whose rate the next request counts for; undefined when it has none. */
  host: string | undefined;
  /** Work to abort when the task is interrupted in its present phase: an exchange, or a wait. */
  underWay: { abort(error: FedwayError): void } | undefined;
  /** The network, the signal or the deadline has ended the task. */
  interrupted: FedwayError | undefined;
  /** HTTP requests sent. */
  requests = 0;
  /** Body bytes received, content-encoded. */
  wireBytes = 0;
  /** A request is sent and its response head has not arrived since this moment. */
  waitingSinceMs: number | undefined;
  readonly #options: TaskOptions;
  readonly #timer: Timer;
  #ended = false;
  /** HTTP status of the latest response. */
  #status: number | undefined;
  #requestOver: ((end: RequestEnd) => void) | undefined;
  #bytesBefore = 0;

  constructor(options: TaskOptions, network: Network) {
    this.#options = options;
    this.network = network;
    this.deadlineMs = options.deadlineMs;
    const { clock } = network;
    this.startedMs = clock.now();
    const leftMs = Math.max(0, Math.ceil(this.deadlineMs - this.startedMs));
    this.#timer = clock.setTimeout(() => this.#expire(), Math.min(longestTimerMs, leftMs));
    network.tasks.add(this);
    options.signal.addEventListener("abort", this);
    if (options.signal.aborted) this.handleEvent();
    else if (leftMs === 0) this.#expire();
  }

  get clock(): Clock {
    return this.network.clock;
  }

  get leftMs(): number {
    return this.deadlineMs - this.clock.now();
  }

  /** Body bytes of the latest request, content-encoded. */
  get requestBytes(): number {
    return this.wireBytes - this.#bytesBefore;
  }

  /** @throws FedwayError why the task was interrupted */
  check(): void {
    if (this.interrupted !== undefined) throw this.interrupted;
  }

  /** The signal fired. */
  handleEvent(): void {
    const cause: unknown = this.#options.signal.reason;
    this.interrupt(
      cause instanceof FedwayError ? cause : new FedwayError("CANCELLED", "The request was cancelled.", { cause }),
    );
  }

  /** Ends the task in whatever phase it is. */
  interrupt(error: FedwayError): void {
    if (this.#ended || this.interrupted !== undefined) return;
    this.interrupted = error;
    this.underWay?.abort(error);
  }

  /**
   * A promise that also rejects when the task is interrupted.
   * @param start begins the wait; the returned function ends it when the task is interrupted first
   */
  wait<T>(
    start: (resolve: (value: T) => void, reject: (error: FedwayError) => void) => (error: FedwayError) => void,
  ): Promise<T> {
    this.check();
    return new Promise((resolve, reject) => {
      const stop = start(resolve, reject);
      this.underWay = {
        abort(error) {
          stop(error);
          reject(error);
        },
      };
    });
  }

  pause(ms: number): Promise<void> {
    const { clock } = this;
    this.waitingSinceMs = undefined;
    return this.wait((resolve) => {
      const timer = clock.setTimeout(resolve, ms);
      return () => clock.clearTimeout(timer);
    });
  }

  /** Counts a request that is sent now. */
  sent(): void {
    this.requests += 1;
    this.waitingSinceMs = this.clock.now();
    this.#status = undefined;
    this.#bytesBefore = this.wireBytes;
    const { observer, endpoint = "unlisted", trace } = this.#options;
    this.#requestOver = observer?.onRequest?.({ endpoint, attempt: this.requests, trace });
  }

  /** The response head has arrived. */
  headed(status: number): void {
    this.#status = status;
    this.waitingSinceMs = undefined;
  }

  /** The request under way has ended; only the first end counts. */
  over(outcome: RequestOutcome): void {
    this.#requestOver?.({ outcome, status: this.#status, wireBytes: this.requestBytes });
    this.#requestOver = undefined;
  }

  /** The task is over; timer and listener go. False when it was so before. */
  end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    this.underWay = undefined;
    this.clock.clearTimeout(this.#timer);
    this.network.tasks.delete(this);
    this.#options.signal.removeEventListener("abort", this);
    return true;
  }

  #expire(): void {
    const { queried } = this.#options;
    this.interrupt(queried === undefined ? answerTooLate() : queryTooLate(queried));
  }
}

const answerTooLate = (): FedwayError =>
  new FedwayError("DEADLINE_EXCEEDED", "The answer did not arrive before its deadline.", { fault: "timeout" });

const queryTooLate = (endpoint: string): FedwayError =>
  new FedwayError("DEADLINE_EXCEEDED", "The endpoint did not finish its answer before the query's deadline.", {
    fault: "timeout",
    where: { endpoint },
    next: "Allow more time, or ask for less: add LIMIT or name more terms.",
  });
