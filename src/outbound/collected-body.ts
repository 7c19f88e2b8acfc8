import type { FedwayError } from "../errors/fedway-error.ts";
import type { BodySink, Exchange } from "./exchange.ts";

/** Who takes a collected body. */
export interface CollectedBodyOptions {
  readonly exchange: Exchange;
  /** Bytes to collect; the exchange is ended there. */
  readonly maxBytes: number;
  /** The bytes, and the error when the body broke off before `maxBytes`. */
  done(body: Buffer, error: FedwayError | undefined): void;
}

const empty = Buffer.alloc(0);

/** Gathers a small body into one buffer. */
export class CollectedBody implements BodySink {
  readonly #options: CollectedBodyOptions;
  #first: Buffer | undefined;
  #more: Buffer[] | undefined;
  #bytes = 0;

  constructor(options: CollectedBodyOptions) {
    this.#options = options;
  }

  data(chunk: Buffer): boolean {
    if (this.#first === undefined) this.#first = chunk;
    else (this.#more ??= []).push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxBytes) {
      this.#options.exchange.discard();
      this.#finish(undefined);
    }
    return true;
  }

  end(): void {
    this.#finish(undefined);
  }

  fail(error: FedwayError): void {
    this.#finish(error);
  }

  #finish(error: FedwayError | undefined): void {
    const first = this.#first ?? empty;
    const body = this.#more === undefined ? first : Buffer.concat([first, ...this.#more]);
    this.#options.done(body, error);
  }
}
