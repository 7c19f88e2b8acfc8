import type { FedwayError } from "../errors/fedway-error.ts";
import type { Deadlines, Expiring } from "./deadlines.ts";
import type { BodySink } from "./exchange.ts";

/** Who takes a body that may be gathered. */
export interface PromptBodyOptions {
  /** Tells it when its time is over. */
  readonly waiting: Deadlines<PromptBody>;
  /** How long the reader can do without its first byte: a moment on the clock, in milliseconds. */
  readonly untilMs: number;
  /** The pieces of the whole body, when it has come in time. */
  readonly whole: (pieces: readonly Buffer[]) => void;
  /** Where the body goes when it has not; called at most once. */
  readonly stream: () => BodySink;
  /** The body broke off before either. */
  readonly fail: (error: FedwayError) => void;
}

/** Gathers a middling body that arrives at once, without a copy; one that dawdles is streamed from its first byte on. */
export class PromptBody implements BodySink, Expiring {
  readonly deadlineMs: number;
  place = -1;
  readonly #options: PromptBodyOptions;
  #chunks: Buffer[] = [];
  #stream: BodySink | undefined;
  #over = false;

  constructor(options: PromptBodyOptions) {
    this.#options = options;
    this.deadlineMs = options.untilMs;
    options.waiting.add(this);
  }

  data(chunk: Buffer): boolean {
    if (this.#stream !== undefined) return this.#stream.data(chunk);
    this.#chunks.push(chunk);
    return true;
  }

  end(): void {
    this.#over = true;
    if (this.#stream !== undefined) {
      this.#stream.end();
      return;
    }
    this.#options.waiting.delete(this);
    this.#options.whole(this.#chunks);
  }

  fail(error: FedwayError): void {
    this.#over = true;
    this.#options.waiting.delete(this);
    if (this.#stream === undefined) this.#options.fail(error);
    else this.#stream.fail(error);
  }

  /**
   * The time is over. In a busy process the rest may have arrived long ago: timers come before sockets, so these are
   * looked at once more.
   */
  expire(): void {
    setImmediate(() => {
      if (!this.#over) this.#startStream();
    });
  }

  #startStream(): void {
    this.#stream = this.#options.stream();
    for (const chunk of this.#chunks) this.#stream.data(chunk);
    this.#chunks = [];
  }
}
