import type { Dispatcher } from "undici";
import type { Clock, Timer } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { ResponseHeaders } from "./media-types.ts";
import type { UpstreamHandler } from "./network.ts";
import { brokenConnection, toNetworkError } from "./refusals.ts";
import type { Task } from "./task.ts";

/** Takes the body of one response. */
export interface BodySink {
  /** The next bytes; false asks for a pause until `Exchange.resume`. */
  data(chunk: Buffer): boolean;
  /** The body is complete as far as HTTP can tell; only a body without a known length has trailers. */
  end(trailers?: ResponseHeaders): void;
  /** No more bytes will come. Called at most once, never after `end`. */
  fail(error: FedwayError): void;
}

/** The two things an exchange reports. */
export interface ExchangeListener {
  /** The response head; must say at once where the body goes. */
  head(status: number, headers: ResponseHeaders): BodySink;
  /** The exchange failed before a head arrived. */
  fault(error: FedwayError): void;
}

/** Interim responses (1xx) that are tolerated. */
const maxInterim = 16;

/** One HTTP request of a task, and its response. A class, because one is made for every request and its methods are shared. */
export class Exchange implements UpstreamHandler {
  readonly #task: Task;
  readonly #listener: ExchangeListener;
  #controller: Dispatcher.DispatchController | undefined;
  #abortDial: ((reason: Error) => void) | undefined;
  #sink: BodySink | undefined;
  #interim = 0;
  #over = false;

  constructor(task: Task, listener: ExchangeListener) {
    this.#task = task;
    this.#listener = listener;
  }

  /** Sends the request; all else is reported to the listener. */
  send(request: Dispatcher.DispatchOptions): void {
    this.#task.sent();
    this.#task.route.dispatch(request, this);
  }

  /** Goes on after a pause. */
  resume(): void {
    // Never within another socket's parser run, which undici does not survive.
    if (this.#controller?.paused === true) queueMicrotask(() => this.#controller?.resume());
  }

  /** Ends the exchange and its connection; sink or listener hear `error`. */
  abort(error: FedwayError): void {
    if (this.#over) return;
    this.#deliver(error);
    if (this.#controller === undefined) this.#abortDial?.(error);
    else this.#controller.abort(error);
  }

  /** Ends the exchange silently: the needed part has arrived. */
  discard(): void {
    if (this.#over) return;
    this.#over = true;
    this.#controller?.abort(new Error("discarded"));
  }

  dialling(abort: (reason: Error) => void): void {
    this.#abortDial = abort;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown, not aborted: the connection is untouched and stays usable.
    if (this.#over) throw new Error("ended before it was sent");
    this.#controller = controller;
    this.#abortDial = undefined;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (this.#over) return;
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim <= maxInterim) return;
      const message = "The endpoint sends interim responses without end.";
      this.abort(new FedwayError("ENDPOINT_MALFORMED", message, { fault: "malformed" }));
      return;
    }
    this.#task.headed(status);
    this.#sink = this.#listener.head(status, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#task.wireBytes += chunk.length;
    if (this.#sink?.data(chunk) === false) controller.pause();
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: ResponseHeaders): void {
    if (this.#over) return;
    if (this.#task.network.failing) {
      this.#deliver(brokenConnection("body"));
      return;
    }
    this.#over = true;
    this.#sink?.end(trailers);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#over) return;
    this.#deliver(toNetworkError(error, this.#sink === undefined ? "head" : "body"));
  }

  #deliver(error: FedwayError): void {
    this.#over = true;
    if (this.#sink === undefined) this.#listener.fault(error);
    else this.#sink.fail(error);
  }
}

/** Receiver of a collected body. */
interface CollectedBodyOptions {
  /** Bytes to collect, and the exchange that is ended there; absent: the length is known. */
  readonly limit?: { readonly bytes: number; readonly exchange: Exchange } | undefined;
  /** The pieces, and the error when the body broke off before the limit. */
  done(pieces: readonly Buffer[], error: FedwayError | undefined): void;
}

/** Collects a small body, without a copy. */
export class CollectedBody implements BodySink {
  readonly #options: CollectedBodyOptions;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(options: CollectedBodyOptions) {
    this.#options = options;
  }

  data(chunk: Buffer): boolean {
    const { limit } = this.#options;
    this.#pieces.push(chunk);
    this.#bytes += chunk.length;
    if (limit !== undefined && this.#bytes > limit.bytes) {
      limit.exchange.discard();
      this.end();
    }
    return true;
  }

  end(): void {
    this.#options.done(this.#pieces, undefined);
  }

  fail(error: FedwayError): void {
    this.#options.done(this.#pieces, error);
  }

  /** Passes on the bytes collected so far, in place of `done`. */
  protected moveTo(sink: BodySink): void {
    for (const chunk of this.#pieces.splice(0)) sink.data(chunk);
  }
}

/** How long the reader of a middling body can do without its first byte. */
const patienceMs = 5;

/** Further options of a prompt body. */
interface PromptBodyOptions extends CollectedBodyOptions {
  readonly clock: Clock;
  /** Where the body goes when it has not come in time; called at most once. */
  readonly stream: () => BodySink;
}

/** Collects a middling body that arrives at once; one that dawdles is streamed from its first byte on. */
export class PromptBody extends CollectedBody {
  readonly #clock: Clock;
  readonly #timer: Timer;
  #stream: BodySink | undefined;
  #over = false;

  constructor(options: PromptBodyOptions) {
    super(options);
    this.#clock = options.clock;
    // In a busy process the rest may have arrived long ago: timers come before sockets, so these are looked at once more.
    const expire = (): void => {
      if (this.#over) return;
      this.#stream = options.stream();
      this.moveTo(this.#stream);
    };
    this.#timer = options.clock.setTimeout(() => setImmediate(expire), patienceMs);
  }

  override data(chunk: Buffer): boolean {
    return this.#stream === undefined ? super.data(chunk) : this.#stream.data(chunk);
  }

  override end(): void {
    this.#finish();
    if (this.#stream === undefined) super.end();
    else this.#stream.end();
  }

  override fail(error: FedwayError): void {
    this.#finish();
    if (this.#stream === undefined) super.fail(error);
    else this.#stream.fail(error);
  }

  #finish(): void {
    this.#over = true;
    this.#clock.clearTimeout(this.#timer);
  }
}
