import { FedwayError } from "../errors/fedway-error.ts";
import { gathered } from "../results/gathered-body.ts";
import type { AnswerScanner } from "../results/scanner.ts";
import { PromptBody, StreamedAnswer } from "./answer-body.ts";
import { AnswerMonitor, answerTooLarge, partialRefused, type PartialSigns, partialSigns } from "./answer-monitor.ts";
import type { Call } from "./call.ts";
import {
  acceptsCoding,
  codingError,
  codingOf,
  type ContentCoding,
  decodeWhole,
  errorText,
  maxErrorBytes,
  unknownCoding,
} from "./content-coding.ts";
import { type BodySink, CollectedBody, Exchange, type ExchangeListener } from "./exchange.ts";
import {
  answerMediaType,
  contentLength,
  type EngineQuirks,
  headerOf,
  isSound,
  quirksOf,
  type ResponseHeaders,
} from "./media-types.ts";
import type { Network } from "./network.ts";
import { outcomeName, refusalOutcome } from "./observer.ts";
import type { Refusal } from "./refusals.ts";
import type { EncodedRequest } from "./request-encoding.ts";
import type { AnswerEnd, SparqlAnswer } from "./sparql-client.ts";

/** What an attempt needs beside its request. */
export interface AttemptContext {
  readonly network: Network;
  readonly scanner: (mediaType: string) => AnswerScanner;
  readonly maxAnswerBytes: number;
}

/** How one HTTP request went that brought no answer. */
export type NoAnswer =
  | { readonly kind: "refusal"; readonly refusal: Refusal }
  | { readonly kind: "unsound"; readonly quirks: EngineQuirks; readonly mediaType: string }
  | { readonly kind: "fault"; readonly error: FedwayError };

/** Answers of a known length up to this are delivered whole (`SparqlAnswer.body`). */
const lookAheadBytes = 16_384;
/** Answers of a known length up to this are, too, when the whole body follows its head within moments. */
const promptBytes = 131_072;
/** Decoded bytes up to which a small encoded answer is decoded at once; a bomb goes the streaming way. */
const decodeAtOnceBytes = 262_144;
const decodeEncodings = "gzip, br, deflate";

const deaf: BodySink = { data: () => true, end: () => {}, fail: () => {} };
const ignore = (): void => {};

/** What the response head has said about an answer. */
interface Head {
  readonly status: number;
  readonly mediaType: string;
  readonly coding: ContentCoding;
  readonly signs: PartialSigns;
  readonly firstByteMs: number;
}

class Attempt implements ExchangeListener {
  readonly #call: Call;
  readonly #context: AttemptContext;
  readonly #settle: (reply: SparqlAnswer | NoAnswer) => void;
  readonly #sentMs: number;

  constructor(call: Call, context: AttemptContext, settle: (reply: SparqlAnswer | NoAnswer) => void) {
    this.#call = call;
    this.#context = context;
    this.#settle = settle;
    this.#sentMs = context.network.clock.now();
  }

  fault(error: FedwayError): void {
    this.#give({ kind: "fault", error });
  }

  head(status: number, headers: ResponseHeaders, exchange: Exchange): BodySink {
    this.#call.waitingSinceMs = undefined;
    this.#call.status = status;
    const { request, state } = this.#call;
    state.quirks = quirksOf(headers) ?? state.quirks;
    const contentType = headerOf(headers, "content-type");
    const mediaType = status === 200 || status === 206 ? answerMediaType(contentType, request.kind) : undefined;
    if (mediaType === undefined) return this.#collectRefusal({ status, headers, text: "" }, exchange);
    const signs = this.#signs(status, headers);
    if (signs.partial !== undefined && request.acceptPartial !== true) {
      return this.#stop(exchange, partialRefused(signs.partial, status));
    }
    const { quirks } = state;
    if (quirks !== undefined && !isSound(quirks, mediaType, request.kind)) {
      this.#give({ kind: "unsound", quirks, mediaType });
      exchange.discard();
      return deaf;
    }
    return this.#answerBody({ status, mediaType, signs }, headers, exchange);
  }

  /** Ends the request without an answer. */
  #give(reply: NoAnswer): void {
    const interrupted = this.#call.interrupted !== undefined;
    if (reply.kind === "unsound") this.#call.over("asked-again");
    else if (reply.kind === "fault") this.#call.over(outcomeName(reply.error, interrupted));
    else this.#call.over(refusalOutcome(reply.refusal.status));
    this.#settle(reply);
  }

  /** The signs in the head, and the row cap that is known of the endpoint; for a graph the one an earlier answer named. */
  #signs(status: number, headers: ResponseHeaders): PartialSigns {
    const signs = partialSigns(status, headers);
    const { request, state } = this.#call;
    if (signs.rowCap !== undefined) state.rowCap = signs.rowCap;
    const silentCap = request.kind === "quads" ? (state.rowCap ?? request.endpoint.rowCap) : request.endpoint.rowCap;
    if (signs.rowCap === undefined && silentCap !== undefined) return { ...signs, silentCap };
    return signs;
  }

  /** Where the body of an answer goes. */
  #answerBody(known: Omit<Head, "coding" | "firstByteMs">, headers: ResponseHeaders, exchange: Exchange): BodySink {
    const coding = codingOf(headers);
    if (coding === undefined) return this.#stop(exchange, unknownCoding(headers));
    const length = contentLength(headers);
    if (coding === "identity" && length !== undefined && length > this.#maxBytes) {
      return this.#stop(exchange, answerTooLarge(this.#maxBytes));
    }
    const firstByteMs = this.#context.network.clock.now() - this.#sentMs;
    const head: Head = { ...known, coding, firstByteMs };
    if (length === undefined || length > promptBytes) return this.#stream(head, exchange);
    return this.#gather(head, exchange, length > lookAheadBytes);
  }

  get #maxBytes(): number {
    return Math.min(this.#context.maxAnswerBytes, this.#call.request.maxBytes ?? Number.POSITIVE_INFINITY);
  }

  #stop(exchange: Exchange, error: FedwayError): BodySink {
    exchange.abort(error);
    return deaf;
  }

  #monitor({ status, mediaType, signs }: Head): AnswerMonitor {
    const { request } = this.#call;
    const scanner = this.#context.scanner(mediaType);
    return new AnswerMonitor({ scanner, request, signs, status, maxBytes: this.#maxBytes });
  }

  #delivery(coding: ContentCoding): "pass" | "decode" {
    const { encoding, acceptEncoding = "identity" } = this.#call.request;
    return encoding === "pass" && acceptsCoding(acceptEncoding, coding) ? "pass" : "decode";
  }

  #collectRefusal(refusal: Refusal, exchange: Exchange): BodySink {
    const done = (body: Buffer, error: FedwayError | undefined): void => {
      this.#call.wireBytes += exchange.wireBytes;
      // An interruption counts; an error body that merely breaks off has still said what it says.
      if (error !== undefined && this.#call.interrupted !== undefined) this.fault(error);
      else this.#give({ kind: "refusal", refusal: { ...refusal, text: errorText(body, refusal.headers) } });
    };
    return new CollectedBody({ exchange, maxBytes: maxErrorBytes, done });
  }

  /**
   * A body of at most middling length is judged before it goes out, which costs less than a stream; a middling one only
   * when it comes at once.
   */
  #gather(head: Head, exchange: Exchange, streamsLate: boolean): BodySink {
    return new PromptBody({
      clock: streamsLate ? this.#context.network.clock : undefined,
      whole: (pieces) => {
        this.#call.wireBytes += exchange.wireBytes;
        this.#judge(head, pieces, exchange);
      },
      stream: () => this.#stream(head, exchange),
      fail: (error) => {
        this.#call.wireBytes += exchange.wireBytes;
        this.fault(error);
      },
    });
  }

  /** Checks an answer that has arrived whole. */
  #judge(head: Head, received: readonly Buffer[], exchange: Exchange): void {
    const decoded = head.coding === "identity" ? received : this.#decode(head, received, exchange);
    if (decoded === undefined) return;
    const monitor = this.#monitor(head);
    const outcome = monitor.seeAll(decoded) ?? monitor.conclude(exchange.wireBytes);
    if (outcome instanceof FedwayError) {
      this.fault(outcome);
      return;
    }
    this.#call.finish(outcome);
    const isReceived = head.coding === "identity" && exchange.wireBytes > lookAheadBytes;
    const passed = this.#delivery(head.coding) === "pass";
    this.#answer(head, {
      body: gathered(passed ? received : decoded, isReceived),
      contentEncoding: passed ? head.coding : "identity",
      whole: outcome,
      end: Promise.resolve(outcome),
      partial: outcome.partial,
    });
  }

  /** Decodes an answer at once; undefined when it is judged elsewhere: it is broken, or too large not to be streamed. */
  #decode(head: Head, received: readonly Buffer[], exchange: Exchange): readonly Buffer[] | undefined {
    try {
      return [decodeWhole(head.coding, Buffer.concat(received), decodeAtOnceBytes)];
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE") {
        const stream = this.#stream(head, exchange);
        for (const piece of received) stream.data(piece);
        stream.end();
      } else this.fault(codingError(head.coding, cause));
      return undefined;
    }
  }

  #stream(head: Head, exchange: Exchange): StreamedAnswer {
    const call = this.#call;
    const delivery = this.#delivery(head.coding);
    const { promise: end, resolve, reject } = Promise.withResolvers<AnswerEnd>();
    // A reader of the body need not look at `end`.
    end.catch(ignore);
    const body = new StreamedAnswer({
      exchange,
      monitor: this.#monitor(head),
      coding: head.coding,
      delivery,
      located: (error) => call.located(error),
      concluded: (outcome) => {
        call.wireBytes += exchange.wireBytes;
        call.finish(outcome);
        if (outcome instanceof FedwayError) reject(outcome);
        else resolve(outcome);
      },
    });
    this.#answer(head, {
      body,
      contentEncoding: delivery === "pass" ? head.coding : "identity",
      whole: undefined,
      end,
      partial: head.signs.partial,
    });
    return body;
  }

  #answer(
    { status, mediaType, firstByteMs }: Head,
    delivered: Pick<SparqlAnswer, "body" | "contentEncoding" | "whole" | "end" | "partial">,
  ): void {
    const { body, contentEncoding, whole, end, partial } = delivered;
    const { requests } = this.#call;
    this.#settle({ status, mediaType, contentEncoding, body, partial, firstByteMs, requests, whole, end });
  }
}

/**
 * Sends one HTTP request of a call.
 * @throws FedwayError when the call was interrupted before; everything later is the answer, or why there is none
 */
export function attempt(
  call: Call,
  request: EncodedRequest,
  context: AttemptContext,
): Promise<SparqlAnswer | NoAnswer> {
  call.check();
  const { encoding, acceptEncoding } = call.request;
  const { network } = context;
  const { origin, path, method, body = null, contentType } = request;
  const headers = [
    "accept",
    call.accept,
    "accept-encoding",
    encoding === "decode" ? decodeEncodings : (acceptEncoding ?? "identity"),
    "user-agent",
    network.userAgent,
  ];
  if (contentType !== undefined) headers.push("content-type", contentType);
  call.sent();
  call.waitingSinceMs = network.clock.now();
  return new Promise((settle) => {
    const exchange = new Exchange(network, new Attempt(call, context, settle));
    call.underWay = exchange;
    exchange.send({ origin, path, method, body, headers });
  });
}
