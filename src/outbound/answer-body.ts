import { Readable, type Transform } from "node:stream";
import { FedwayError } from "../errors/fedway-error.ts";
import type { AnswerMonitor } from "./answer-monitor.ts";
import { codingError, type ContentCoding, createDecoder } from "./content-coding.ts";
import type { BodySink, Exchange } from "./exchange.ts";
import type { AnswerEnd } from "./sparql-client.ts";
import type { Clock, Timer } from "../clock.ts";

/** What a streamed answer consists of. */
interface StreamedAnswerOptions {
  readonly exchange: Exchange;
  readonly monitor: AnswerMonitor;
  readonly coding: ContentCoding;
  /** Deliver the body as received ("pass") or decoded. */
  readonly delivery: "pass" | "decode";
  /** The error as the reader shall see it. */
  located(error: FedwayError): FedwayError;
  /** Called once, when the last byte has been judged or the answer has failed. */
  concluded(outcome: AnswerEnd | FedwayError): void;
}

/** Bytes kept for a slow reader before the endpoint is paused. */
const readAheadBytes = 256 * 1024;

const ignore = (): void => {};

/**
 * A body on its way from the exchange to the reader. Plain bodies pass without a copy; encoded ones go through a
 * decoder, in the way ("decode") or beside it ("pass"). The last bytes are followed by 'end' only when the monitor
 * finds the answer whole. What arrives in one packet with its end is judged before the reader gets any of it.
 */
export class StreamedAnswer extends Readable implements BodySink {
  readonly #options: StreamedAnswerOptions;
  #decoder: Transform | undefined;
  #readerWants = true;
  #decoderWants = true;
  #inputEnded = false;
  #concluded = false;
  /** The first pieces, which wait for a look at what came with them; undefined once they have passed. */
  #held: Buffer[] | undefined = [];
  #heldBytes = 0;

  constructor(options: StreamedAnswerOptions) {
    super({ highWaterMark: readAheadBytes });
    this.#options = options;
    // The body may fail before its reader has had a turn to listen; the failure stays visible on the stream.
    this.on("error", ignore);
  }

  /** See `isReceived`: a decoder beside the way would look at the chunks later. */
  get received(): boolean {
    return this.#options.coding === "identity";
  }

  data(chunk: Buffer): boolean {
    const { coding, delivery } = this.#options;
    if (coding === "identity") {
      if (!this.#see(chunk)) return true;
      return this.#deliver(chunk);
    }
    this.#decoder ??= this.#startDecoder(coding, chunk[0] ?? 0);
    if (!this.#decoder.destroyed) this.#decoderWants = this.#decoder.write(chunk, () => this.#decoded(chunk));
    return this.#decoderWants && (delivery === "decode" || this.#readerWants);
  }

  end(): void {
    this.#inputEnded = true;
    if (this.#decoder === undefined) this.#conclude();
    else this.#decoder.end();
  }

  fail(error: FedwayError): void {
    if (this.#concluded) return;
    this.#concluded = true;
    this.#decoder?.destroy();
    const located = this.#options.located(error);
    this.destroy(located);
    this.#options.concluded(located);
  }

  override _read(): void {
    if (this.#concluded) return;
    this.#readerWants = true;
    if (this.#decoder !== undefined && this.#options.delivery === "decode") this.#decoder.resume();
    else if (this.#decoderWants) this.#options.exchange.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#concluded) {
      // The reader has left.
      this.#concluded = true;
      this.#decoder?.destroy();
      const reason =
        error instanceof FedwayError ? error : new FedwayError("CANCELLED", "The answer was not wanted any more.");
      this.#options.exchange.abort(reason);
      this.#options.concluded(reason);
    }
    callback(error);
  }

  /** Beside the way, what has been decoded may pass. */
  #decoded(chunk: Buffer): void {
    if (this.#options.delivery === "pass" && !this.#concluded) this.#readerWants = this.#deliver(chunk);
  }

  /** Hands a piece to the reader; false when it wants no more for now. */
  #deliver(chunk: Buffer): boolean {
    if (this.#held === undefined) return this.push(chunk);
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes > readAheadBytes) return this.#release();
    if (this.#held.length === 1) {
      process.nextTick(() => {
        if (!this.#inputEnded) this.#release();
      });
    }
    return true;
  }

  #release(): boolean {
    const held = this.#held ?? [];
    this.#held = undefined;
    let wantsMore = true;
    for (const chunk of held) wantsMore = this.push(chunk);
    return wantsMore;
  }

  /** False when the answer has just failed. */
  #see(chunk: Buffer): boolean {
    if (this.#concluded) return false;
    const error = this.#options.monitor.see(chunk);
    if (error === undefined) return true;
    this.#stop(error);
    return false;
  }

  #stop(error: FedwayError): void {
    this.fail(error);
    this.#options.exchange.abort(error);
  }

  #startDecoder(coding: Exclude<ContentCoding, "identity">, firstByte: number): Transform {
    const decoder = createDecoder(coding, firstByte);
    const { exchange, delivery } = this.#options;
    decoder.on("data", (chunk: Buffer) => {
      if (this.#see(chunk) && delivery === "decode" && !this.#deliver(chunk)) decoder.pause();
    });
    decoder.on("drain", () => {
      this.#decoderWants = true;
      if (delivery === "decode" || this.#readerWants) exchange.resume();
    });
    decoder.on("end", () => {
      if (this.#inputEnded) this.#conclude();
      else this.#stop(codingError(coding, new Error("more bytes follow the end of the compressed stream")));
    });
    decoder.on("error", (cause) => this.#stop(codingError(coding, cause)));
    return decoder;
  }

  #conclude(): void {
    if (this.#concluded) return;
    const { monitor, exchange } = this.#options;
    const outcome = monitor.conclude(exchange.wireBytes);
    if (outcome instanceof FedwayError) {
      this.fail(outcome);
      return;
    }
    this.#concluded = true;
    this.#release();
    this.push(null);
    this.#options.concluded(outcome);
  }
}

/** How long the reader of a middling body can do without its first byte. */
const patienceMs = 5;

/** Who takes a body that may be gathered. */
interface PromptBodyOptions {
  /** Absent: the body is never streamed. */
  readonly clock: Clock | undefined;
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
  readonly #timer: Timer | undefined;
  #chunks: Buffer[] = [];
  #stream: BodySink | undefined;
  #over = false;

  constructor(options: PromptBodyOptions) {
    this.#options = options;
    this.#timer = options.clock?.setTimeout(() => this.#expire(), patienceMs);
  }

  data(chunk: Buffer): boolean {
    if (this.#stream !== undefined) return this.#stream.data(chunk);
    this.#chunks.push(chunk);
    return true;
  }

  end(): void {
    this.#finish();
    if (this.#stream === undefined) this.#options.whole(this.#chunks);
    else this.#stream.end();
  }

  fail(error: FedwayError): void {
    this.#finish();
    if (this.#stream === undefined) this.#options.fail(error);
    else this.#stream.fail(error);
  }

  #finish(): void {
    this.#over = true;
    this.#options.clock?.clearTimeout(this.#timer);
  }

  /** In a busy process the rest may have arrived long ago: timers come before sockets, so these are looked at once more. */
  #expire(): void {
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
