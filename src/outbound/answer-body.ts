import { Readable, type Transform } from "node:stream";
import { FedwayError } from "../errors/fedway-error.ts";
import type { AnswerMonitor } from "./answer-monitor.ts";
import type { Call } from "./call.ts";
import { codingError, type ContentCoding, createDecoder } from "./content-coding.ts";
import type { BodySink, Exchange } from "./exchange.ts";
import type { ResponseHeaders } from "./media-types.ts";
import { lookedInto } from "./row-caps.ts";
import type { AnswerEnd } from "./sparql-client.ts";

/** Parts of a streamed answer. */
interface StreamedAnswerOptions {
  readonly call: Call;
  readonly exchange: Exchange;
  readonly monitor: AnswerMonitor;
  readonly coding: ContentCoding;
  /** Deliver the body as received; else decoded. */
  readonly passes: boolean;
  /** HTTP status of the answer. */
  readonly status: number;
}

/** Bytes kept for a slow reader before the endpoint is paused. */
const readAheadBytes = 256 * 1024;

const ignore = (): void => {};

/**
 * A body on its way from the exchange to the reader. Plain bodies pass without a copy; encoded ones go through a
 * decoder, in the way or, when they are passed on as they came, beside it. The last bytes are followed by 'end' only when the monitor
 * finds the answer whole. What arrives in one packet with its end is judged before the reader gets any of it.
 */
export class StreamedAnswer extends Readable implements BodySink {
  /** Settles when the last byte has been judged or the answer has failed. */
  readonly over: Promise<AnswerEnd>;
  readonly #options: StreamedAnswerOptions;
  readonly #settled = Promise.withResolvers<AnswerEnd>();
  #decoder: Transform | undefined;
  #readerWants = true;
  #decoderWants = true;
  #inputEnded = false;
  #concluded = false;
  /** The first pieces, which wait for a check; undefined once they have passed. */
  #held: Buffer[] | undefined = [];

  constructor(options: StreamedAnswerOptions) {
    super({ highWaterMark: readAheadBytes });
    this.#options = options;
    // The body may fail before its reader has had a turn to listen; the failure stays visible on the stream.
    this.on("error", ignore);
    this.over = this.#settled.promise;
    this.over.catch(ignore);
  }

  /** See `isReceived`: a decoder beside the way would look at the chunks later. */
  get received(): boolean {
    return this.#options.coding === "identity";
  }

  data(chunk: Buffer): boolean {
    const { coding, passes } = this.#options;
    if (coding === "identity") {
      if (!this.#see(chunk)) return true;
      return this.#deliver(chunk);
    }
    this.#decoder ??= this.#startDecoder(coding, chunk[0] ?? 0);
    // Beside the way, what has been decoded may pass.
    const decoded = (): void => {
      if (passes && !this.#concluded) this.#readerWants = this.#deliver(chunk);
    };
    if (!this.#decoder.destroyed) this.#decoderWants = this.#decoder.write(chunk, decoded);
    return this.#decoderWants && (!passes || this.#readerWants);
  }

  end(trailers: ResponseHeaders = {}): void {
    this.#inputEnded = true;
    const { monitor, call } = this.#options;
    monitor.trailed(call.signer?.headersWithoutSecrets(trailers) ?? trailers);
    if (this.#decoder === undefined) this.#conclude();
    else this.#decoder.end();
  }

  fail(error: FedwayError): void {
    if (this.#concluded) return;
    this.#concluded = true;
    this.#decoder?.destroy();
    const located = this.#options.call.located(error);
    this.destroy(located);
    this.#settle(located);
  }

  override _read(): void {
    if (this.#concluded) return;
    this.#readerWants = true;
    if (this.#decoder !== undefined && !this.#options.passes) this.#decoder.resume();
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
      this.#settle(reason);
    }
    callback(error);
  }

  /** Hands a piece to the reader; false when it wants no more for now. */
  #deliver(chunk: Buffer): boolean {
    if (this.#held === undefined) return this.push(chunk);
    this.#held.push(chunk);
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
    const { exchange, passes } = this.#options;
    decoder.on("data", (chunk: Buffer) => {
      if (this.#see(chunk) && !passes && !this.#deliver(chunk)) decoder.pause();
    });
    decoder.on("drain", () => {
      this.#decoderWants = true;
      if (!passes || this.#readerWants) exchange.resume();
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
    const { monitor, call, status } = this.#options;
    const outcome = monitor.conclude(call.requestBytes);
    const looked = outcome instanceof FedwayError ? undefined : lookedInto(call, outcome, status);
    if (looked === undefined) {
      this.#close(outcome);
      return;
    }
    // The request is over; further questions take turns of their own.
    call.finish(outcome);
    void looked.then((end) => this.#close(end));
  }

  #close(outcome: AnswerEnd | FedwayError): void {
    if (outcome instanceof FedwayError) {
      this.fail(outcome);
      return;
    }
    if (this.#concluded) return;
    this.#concluded = true;
    this.#release();
    this.push(null);
    this.#settle(outcome);
  }

  #settle(outcome: AnswerEnd | FedwayError): void {
    this.#options.call.finish(outcome);
    if (outcome instanceof FedwayError) this.#settled.reject(outcome);
    else this.#settled.resolve(outcome);
  }
}
