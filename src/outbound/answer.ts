import { isUtf8 } from "node:buffer";
import { Readable, type Transform } from "node:stream";
import { FedwayError } from "../errors/fedway-error.ts";
import type { AnswerScanner } from "../results/answer-reader.ts";
import { createAnswerScanner } from "../results/parse.ts";
import { XmlEncoding } from "../results/xml-encoding.ts";
import type { QueryTask } from "./task.ts";
import { codingError, type ContentCoding, createDecoder, trailingBytes } from "./content-coding.ts";
import { lastWords, quoted } from "./excerpt.ts";
import type { BodySink, Exchange } from "./exchange.ts";
import type { ResponseHeaders } from "./media-types.ts";
import {
  failureIn,
  lackOf,
  checkForSilentCut,
  noSigns,
  partialRefused,
  partialSigns,
  type PartialSigns,
} from "./partial-answers.ts";
import { brokeOff } from "./refusals.ts";
import type { AnswerEnd, SparqlRequest } from "./sparql-request.ts";

/** Known facts about an answer before its first byte. */
interface MonitorOptions {
  readonly mediaType: string;
  /** The request, and how a partial answer ends: well with a mark, or in `ENDPOINT_PARTIAL`. */
  readonly request: SparqlRequest;
  readonly signs: PartialSigns;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Decoded bytes allowed. */
  readonly maxBytes: number;
}

/** The error of an answer beyond its byte cap. */
export function answerTooLarge(maxBytes: number): FedwayError {
  return new FedwayError("ANSWER_TOO_LARGE", `The endpoint's answer is larger than the ${maxBytes} bytes allowed.`, {
    fault: "too-large",
    next: "Ask for less with LIMIT or fewer variables.",
  });
}

/** The error of an answer that is whole but not what was asked for. */
const notAsAsked = (message: string): FedwayError =>
  new FedwayError("ENDPOINT_MALFORMED", message, {
    fault: "malformed",
    next: "Ask the endpoint's operator, or use another endpoint.",
  });

const notUtf8 = "The endpoint's answer is not UTF-8 text.";

/** Bytes behind the last whole item that are kept for the message of an error. */
const keptBytes = 4_096;

/** Looks at the decoded bytes of one answer beside their way to the reader: counts, caps and checks them. */
export class AnswerMonitor {
  readonly #options: MonitorOptions;
  readonly #scanner;
  /** XML may be in other encodings than UTF-8. */
  readonly #xml: XmlEncoding | undefined;
  readonly #encoding = new EncodingCheck();
  #bytes = 0;
  /** The head has been compared with the request. */
  #fits = false;
  /** Bytes after the last whole item, as far as they are kept. */
  #kept: Buffer[] = [];
  #room = keptBytes;
  #trailing = noSigns;

  constructor(options: MonitorOptions) {
    this.#options = options;
    this.#scanner = createAnswerScanner(options.mediaType);
    this.#xml = options.mediaType.endsWith("xml") ? new XmlEncoding() : undefined;
  }

  /** The next decoded bytes; an error when they exceed the cap or cannot be an answer to the request. */
  see(chunk: Buffer): FedwayError | undefined {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxBytes) return answerTooLarge(this.#options.maxBytes);
    return this.#check(this.#xml?.toUtf8(chunk) ?? chunk);
  }

  #check(chunk: Uint8Array): FedwayError | undefined {
    this.#scanner.push(chunk);
    this.#keep(chunk, this.#scanner.soundTo ?? 0);
    if (!this.#encoding.push(chunk)) return notAsAsked(notUtf8);
    return this.#fits ? undefined : this.#misfit();
  }

  /** Signs behind the last byte. */
  trailed(trailers: ResponseHeaders): void {
    this.#trailing = partialSigns(200, trailers);
  }

  /** The verdict on an answer that is there as a whole. */
  judge(pieces: readonly Buffer[], wireBytes: number): AnswerEnd | FedwayError {
    for (const piece of pieces) {
      const error = this.see(piece);
      if (error !== undefined) return error;
    }
    return this.conclude(wireBytes);
  }

  /** The verdict after the last byte; call once. */
  conclude(wireBytes: number): AnswerEnd | FedwayError {
    const { signs, request, status } = this.#options;
    const last = this.#xml && this.#check(this.#xml.end());
    if (last !== undefined) return last;
    const verdict = this.#scanner.end();
    const { complete, rows, detail = "" } = verdict;
    if (!complete) {
      const words = quoted(verdict.words ?? lastWords(Buffer.concat(this.#kept).toString()));
      const said = words === "" ? detail : `${detail.replace(/\.$/u, "")}${words}.`;
      return brokeOff(`The endpoint's answer is cut off or followed by foreign text. ${said}`.trim(), {
        fault: "malformed",
      });
    }
    if (!this.#encoding.end()) return notAsAsked(notUtf8);
    const error = this.#misfit() ?? failureIn(this.#trailing);
    if (error !== undefined) return error;
    const partial = lackOf({ signs: [signs, this.#trailing], verdict, request });
    if (partial !== undefined && request.acceptPartial !== true) return partialRefused(partial, status);
    return { decodedBytes: this.#bytes, wireBytes, rows, atMost: verdict.atMost, partial };
  }

  #misfit(): FedwayError | undefined {
    const { signs, request } = this.#options;
    const { form, variables } = this.#scanner;
    // Virtuoso's anytime answers name no column when nothing was found in time.
    const isUntold = signs.partial !== undefined && variables?.length === 0;
    const message = misfit(form, isUntold ? undefined : variables, request);
    this.#fits = form !== undefined && (form === "boolean" || variables !== undefined);
    return message === undefined ? undefined : notAsAsked(message);
  }

  #keep(chunk: Uint8Array, soundTo: number): void {
    if (soundTo > 0) {
      this.#kept = [];
      this.#room = keptBytes;
    }
    if (this.#room === 0) return;
    const part = Buffer.from(chunk.subarray(soundTo, soundTo + this.#room));
    this.#room -= part.length;
    this.#kept.push(part);
  }
}

/** Parts of a streamed answer. */
interface StreamedAnswerOptions {
  readonly task: QueryTask;
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

  /** See `isReceived` (`http/send-answer.ts`): a decoder beside the way would look at the chunks later. */
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
    const { monitor, task } = this.#options;
    monitor.trailed(task.signer?.headersWithoutSecrets(trailers) ?? trailers);
    if (this.#decoder === undefined) this.#conclude();
    else this.#decoder.end();
  }

  fail(error: FedwayError): void {
    if (this.#concluded) return;
    this.#concluded = true;
    this.#decoder?.destroy();
    const located = this.#options.task.located(error);
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
    const { task, exchange, passes } = this.#options;
    decoder.on("data", (chunk: Buffer) => {
      if (this.#see(chunk) && !passes && !this.#deliver(chunk)) decoder.pause();
    });
    decoder.on("drain", () => {
      this.#decoderWants = true;
      if (!passes || this.#readerWants) exchange.resume();
    });
    decoder.on("end", () => {
      // Most decoders drop what follows the end of their stream.
      if (this.#inputEnded && decoder.bytesWritten === task.requestBytes) this.#conclude();
      else this.#stop(codingError(coding, trailingBytes()));
    });
    decoder.on("error", (cause) => this.#stop(codingError(coding, cause)));
    return decoder;
  }

  #conclude(): void {
    if (this.#concluded) return;
    const { monitor, task, status } = this.#options;
    const outcome = monitor.conclude(task.requestBytes);
    const checked = outcome instanceof FedwayError ? undefined : checkForSilentCut(task, outcome, status);
    if (checked === undefined) {
      this.#close(outcome);
      return;
    }
    // The request is over; further questions take turns of their own.
    task.finish(outcome);
    void checked.then((end) => this.#close(end));
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
    this.#options.task.finish(outcome);
    if (outcome instanceof FedwayError) this.#settled.reject(outcome);
    else this.#settled.resolve(outcome);
  }
}

const endings: Readonly<Record<SparqlRequest["kind"], string>> = {
  bindings: "rows were expected",
  boolean: "a boolean was expected",
  quads: "triples were expected",
};

/** Unrequested form or columns of an answer; undefined while nothing is wrong. */
function misfit(
  form: AnswerScanner["form"],
  variables: AnswerScanner["variables"],
  { kind, columns }: SparqlRequest,
): string | undefined {
  if (form !== undefined && form !== kind) {
    return `The endpoint answered with ${form === "boolean" ? "a boolean" : "rows"} where ${endings[kind]}.`;
  }
  if (columns === undefined || variables === undefined) return undefined;
  const { asked, allowed = [] } = columns;
  const missing = without(asked, variables);
  const other = without(variables, [...asked, ...allowed]);
  if (missing.length + other.length === 0) return undefined;
  const lacks = missing.length > 0 ? [`it lacks ${named(missing)}`] : [];
  const adds = other.length > 0 ? [`it has ${named(other)}, which the query does not ask for`] : [];
  return `The endpoint's answer has other columns than the query: ${[...lacks, ...adds].join(", and ")}.`;
}

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Set(others);
  return names.filter((name) => !left.has(name));
}

const mostNamed = 5;
const longestName = 80;

/** Foreign names, fit for a message. */
function named(names: readonly string[]): string {
  const shown = names.slice(0, mostNamed).map((name) => {
    const plain = name.slice(0, longestName).replaceAll(/[\p{C}\s]+/gu, " ");
    return /^[\p{L}\p{N}_]+$/u.test(plain) ? `?${plain}` : `"${plain}"`;
  });
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
  return `${shown.join(", ")}${more}`;
}

const nothing = Buffer.alloc(0);

/** Checks that bytes that pass in pieces are UTF-8; a piece may end inside a character. */
class EncodingCheck {
  #rest: Uint8Array = nothing;

  /** False as soon as they are not. */
  push(chunk: Uint8Array): boolean {
    return (this.#rest.length === 0 && isUtf8(chunk)) || this.#pushSplit(chunk);
  }

  #pushSplit(chunk: Uint8Array): boolean {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const whole = wholeCharacters(bytes);
    if (whole === bytes.length) {
      this.#rest = nothing;
      return isUtf8(bytes);
    }
    this.#rest = Buffer.from(bytes.subarray(whole));
    return isUtf8(bytes.subarray(0, whole));
  }

  /** False when the last character is not whole. */
  end(): boolean {
    return this.#rest.length === 0;
  }
}

/** Index behind the last character that is whole; where bytes are no UTF-8 any index will do. */
function wholeCharacters(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(3, length); back += 1) {
    const byte = bytes[length - back]!;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? length - back : length;
    }
  }
  return length;
}
