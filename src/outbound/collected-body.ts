import type { Clock, Timer } from "../clock.ts";
import type { FedwayError } from "../errors/fedway-error.ts";
import type { BodySink, Exchange } from "./exchange.ts";

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
