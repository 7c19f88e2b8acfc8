import { FedwayError } from "../errors/fedway-error.ts";
import { gathered } from "../results/gathered-body.ts";
import { AnswerMonitor, answerTooLarge, StreamedAnswer } from "./answer.ts";
import { awaitTurn, type QueryTask, outcomeName, refusalOutcome } from "./task.ts";
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
import { type BodySink, CollectedBody, Exchange, type ExchangeListener, PromptBody } from "./exchange.ts";
import {
  answerMediaType,
  contentLength,
  freshMsOf,
  headerOf,
  isUntold,
  shownMediaType,
  type ResponseHeaders,
} from "./media-types.ts";
import { failureIn, checkForSilentCut, partialRefused, type PartialSigns, signsFor } from "./partial-answers.ts";
import type { Refusal } from "./refusals.ts";
import type { EncodedRequest, AnswerEnd, SparqlAnswer } from "./sparql-request.ts";

/** How one HTTP request went that brought no answer. */
export type NoAnswer =
  | { readonly kind: "refusal"; readonly refusal: Refusal }
  | { readonly kind: "fault"; readonly error: FedwayError };

/** Answers of a known length up to this are delivered whole (`SparqlAnswer.body`). */
const lookAheadBytes = 16_384;
/** Answers of a known length up to this are, too, when the whole body follows its head within moments. */
const promptBytes = 131_072;
/** Decoded bytes up to which a small encoded answer is decoded at once; a bomb goes the streaming way. */
const decodeAtOnceBytes = 262_144;
const decodeEncodings = "gzip, br, deflate";

const unsigned: readonly string[] = [];

/**
 * Sends one HTTP request of a query, at its host's turn.
 * @throws FedwayError when the query was interrupted before; everything later is the answer, or why there is none
 */
export async function attempt(task: QueryTask, request: EncodedRequest): Promise<SparqlAnswer | NoAnswer> {
  const signature = task.signer ? await task.signer.headers(task, request) : unsigned;
  if (task.host !== undefined) await awaitTurn(task);
  task.check();
  return new Promise((settle) => new Attempt(task, settle).send(request, signature));
}

/** Facts from the head of a response. */
interface Head {
  readonly status: number;
  readonly mediaType: string;
  readonly coding: ContentCoding;
  /** The body goes on as the endpoint has encoded it. */
  readonly passes: boolean;
  readonly signs: PartialSigns;
  readonly freshMs: number | undefined;
}

const serviceNamespace = "http://www.w3.org/ns/sparql-service-description#";

/** A body whose first bytes decide where it goes. */
class ShownBody implements BodySink {
  readonly #choose: (first: Buffer) => BodySink;
  #sink: BodySink | undefined;

  constructor(choose: (first: Buffer) => BodySink) {
    this.#choose = choose;
  }

  #of(first: Buffer): BodySink {
    this.#sink ??= this.#choose(first);
    return this.#sink;
  }

  data(chunk: Buffer): boolean {
    return this.#of(chunk).data(chunk);
  }

  end(trailers?: ResponseHeaders): void {
    this.#of(Buffer.alloc(0)).end(trailers);
  }

  fail(error: FedwayError): void {
    this.#of(Buffer.alloc(0)).fail(error);
  }
}

const deaf: BodySink = { data: () => true, end: () => {}, fail: () => {} };

class Attempt implements ExchangeListener {
  readonly #task: QueryTask;
  readonly #exchange: Exchange;
  readonly #settle: (reply: SparqlAnswer | NoAnswer) => void;

  constructor(task: QueryTask, settle: (reply: SparqlAnswer | NoAnswer) => void) {
    this.#task = task;
    this.#settle = settle;
    this.#exchange = new Exchange(task, this);
  }

  send({ origin, path, method, body, contentType }: EncodedRequest, signature: readonly string[]): void {
    const { request, accept, network } = this.#task;
    const { encoding, acceptEncoding = "identity" } = request;
    const codings = encoding === "decode" ? decodeEncodings : acceptEncoding;
    const headers = ["accept", accept, "accept-encoding", codings, "te", "trailers", "user-agent", network.userAgent];
    headers.push(...signature);
    if (contentType !== undefined) headers.push("content-type", contentType);
    this.#task.underWay = this.#exchange;
    this.#exchange.send({ origin, path, method, body: body ?? null, headers });
  }

  fault(error: FedwayError): void {
    this.#give({ kind: "fault", error });
  }

  head(status: number, received: ResponseHeaders): BodySink {
    const { request, signer } = this.#task;
    const headers = signer?.headersWithoutSecrets(received) ?? received;
    const contentType = headerOf(headers, "content-type");
    const isAnswer = status === 200 || status === 206;
    if (isAnswer && isUntold(contentType, request.kind) && codingOf(headers) === "identity") {
      return new ShownBody((first) => this.#typed(status, headers, shownMediaType(first, request.kind)));
    }
    return this.#typed(status, headers, isAnswer ? answerMediaType(contentType, request.kind) : undefined);
  }

  #typed(status: number, headers: ResponseHeaders, mediaType: string | undefined): BodySink {
    const { request } = this.#task;
    if (mediaType === undefined) return this.#collectRefusal({ status, headers, text: "" });
    const signs = signsFor(this.#task, status, headers);
    const failure = failureIn(signs);
    if (failure !== undefined) return this.#stop(failure);
    if (signs.partial !== undefined && request.acceptPartial !== true) {
      return this.#stop(partialRefused(signs.partial, status));
    }
    const coding = headers["content-encoding"] === undefined ? "identity" : codingOf(headers);
    if (coding === undefined) return this.#stop(unknownCoding(headers));
    const { encoding, acceptEncoding = "identity" } = request;
    const passes = coding !== "identity" && encoding === "pass" && acceptsCoding(acceptEncoding, coding);
    const head = { status, mediaType, coding, passes, signs, freshMs: freshMsOf(headers) };
    return this.#answerBody(head, contentLength(headers));
  }

  /** Ends the request without an answer. */
  #give(reply: NoAnswer): void {
    const interrupted = this.#task.interrupted !== undefined;
    if (reply.kind === "fault") this.#task.over(outcomeName(reply.error, interrupted));
    else this.#task.over(refusalOutcome(reply.refusal.status));
    this.#settle(reply);
  }

  #stop(error: FedwayError): BodySink {
    this.#exchange.abort(error);
    return deaf;
  }

  #collectRefusal(refusal: Refusal): BodySink {
    return new CollectedBody({
      limit: { bytes: maxErrorBytes, exchange: this.#exchange },
      done: (pieces, error) => {
        // An interruption counts; an error body that merely breaks off is still readable.
        if (error !== undefined && this.#task.interrupted !== undefined) this.fault(error);
        else {
          const { signer } = this.#task;
          const text = errorText(Buffer.concat(pieces), refusal.headers);
          this.#give({ kind: "refusal", refusal: { ...refusal, ...(signer?.noted(text) ?? { text }) } });
        }
      },
    });
  }

  /** Where the body of an answer goes: a short one is judged before it goes out, which costs less than a stream. */
  #answerBody(head: Head, length: number | undefined): BodySink {
    const { maxBytes, network } = this.#task;
    if (head.coding === "identity" && length !== undefined && length > maxBytes)
      return this.#stop(answerTooLarge(maxBytes));
    if (length === undefined || length > promptBytes) return this.#stream(head);
    const done = (pieces: readonly Buffer[], error: FedwayError | undefined): void => {
      if (error === undefined) this.#judge(head, pieces);
      else this.fault(error);
    };
    if (length <= lookAheadBytes) return new CollectedBody({ done });
    return new PromptBody({ done, clock: network.clock, stream: () => this.#stream(head) });
  }

  /** Checks an answer that has arrived whole. */
  #judge(head: Head, received: readonly Buffer[]): void {
    const task = this.#task;
    const decoded = head.coding === "identity" ? received : this.#decode(head, received);
    if (decoded === undefined) return;
    if (this.#isDescription(decoded)) {
      const text = "It sent a description of the service.";
      this.#give({
        kind: "refusal",
        refusal: { status: head.status, headers: { "content-type": head.mediaType }, text },
      });
      return;
    }
    const outcome = this.#monitor(head).judge(decoded, task.requestBytes);
    if (outcome instanceof FedwayError) {
      this.fault(outcome);
      return;
    }
    const isReceived = head.coding === "identity" && task.requestBytes > lookAheadBytes;
    const body = gathered(head.passes ? received : decoded, isReceived);
    const answer = (end: AnswerEnd | FedwayError): void => {
      if (end instanceof FedwayError) this.fault(end);
      else this.#answer(head, body, end);
    };
    task.finish(outcome);
    const checked = checkForSilentCut(task, outcome, head.status);
    if (checked === undefined) answer(outcome);
    else void checked.then(answer);
  }

  /** A graph that describes the service may be the endpoint's answer to every request of this method. */
  #isDescription(decoded: readonly Buffer[]): boolean {
    const { request, state } = this.#task;
    if (request.kind !== "quads" || state.isVerified || request.query.includes(serviceNamespace)) return false;
    return decoded.some((piece) => piece.includes(serviceNamespace));
  }

  /** Decodes an answer at once; undefined when it is judged elsewhere: it is broken, or too large not to be streamed. */
  #decode(head: Head, received: readonly Buffer[]): readonly Buffer[] | undefined {
    try {
      return [decodeWhole(head.coding, Buffer.concat(received), decodeAtOnceBytes)];
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE") {
        const stream = this.#stream(head);
        for (const piece of received) stream.data(piece);
        stream.end();
      } else this.fault(codingError(head.coding, cause));
      return undefined;
    }
  }

  #stream(head: Head): StreamedAnswer {
    const body = new StreamedAnswer({
      task: this.#task,
      exchange: this.#exchange,
      monitor: this.#monitor(head),
      coding: head.coding,
      passes: head.passes,
      status: head.status,
    });
    this.#answer(head, body, body.over);
    return body;
  }

  #monitor({ status, mediaType, signs }: Head): AnswerMonitor {
    const { request, maxBytes } = this.#task;
    return new AnswerMonitor({ mediaType, request, signs, status, maxBytes });
  }

  /** @param end known where the whole body has been judged */
  #answer(head: Head, body: SparqlAnswer["body"], end: AnswerEnd | Promise<AnswerEnd>): void {
    const { status, mediaType, coding, passes, freshMs, signs } = head;
    const { checksForSilentCut, acceptPartial, kind } = this.#task.request;
    const mayLackRows =
      (signs.rowCap ?? signs.silentCap ?? signs.total) !== undefined ||
      (acceptPartial === true && checksForSilentCut === true && kind !== "boolean");
    const contentEncoding = passes ? coding : "identity";
    const { requests } = this.#task;
    const whole = end instanceof Promise ? undefined : end;
    const { partial } = whole ?? signs;
    const known = { status, mediaType, contentEncoding, mayLackRows, freshMs, requests, partial };
    this.#settle({ ...known, body, whole, end: Promise.resolve(end) });
  }
}
