import type { FedwayError } from "../errors/fedway-error.ts";
import type { Clock, Timer } from "./clock.ts";
import type { BodySink } from "./exchange.ts";

/** Who takes a body that may be gathered. */
export interface PromptBodyOptions {
  readonly clock: Clock;
  /** How long the reader can do without its first byte, in milliseconds. */
  readonly patienceMs: number;
  /** The pieces of the whole body, when it has come in time. */
  readonly whole: (pieces: readonly Buffer[]) => void;
  /** Where the body goes when it has not; called at most once. */
  readonly stream: () => BodySink;
  /** The body broke off before either. */
  readonly fail: (error: FedwayError) => void;
}

/** Gathers a middling body that arrives at once, without a copy; one that dawdles is streamed from its first byte on. */
export class PromptBody implements BodySink {
  readonly #options: PromptBodyOptions;
  readonly #timer: Timer;
  #chunks: Buffer[] = [];
  #stream: BodySink | undefined;

  constructor(options: PromptBodyOptions) {
    this.#options = options;
    this.#timer = options.clock.setTimeout(() => this.#dawdles(), options.patienceMs);
  }

  data(chunk: Buffer): boolean {
    if (this.#stream !== undefined) return this.#stream.data(chunk);
    this.#chunks.push(chunk);
    return true;
  }

  end(): void {
    if (this.#stream !== undefined) {
      this.#stream.end();
      return;
    }
    this.#options.clock.clearTimeout(this.#timer);
    this.#options.whole(this.#chunks);
  }

  fail(error: FedwayError): void {
    this.#options.clock.clearTimeout(this.#timer);
    if (this.#stream === undefined) this.#options.fail(error);
    else this.#stream.fail(error);
  }

  #dawdles(): void {
    this.#stream = this.#options.stream();
    for (const chunk of this.#chunks) this.#stream.data(chunk);
    this.#chunks = [];
  }
}
