import { FedwayError } from "../errors/fedway-error.ts";
import type { NoAnswer } from "./attempt.ts";
import type { Call } from "./call.ts";
import { broadAccept, headerOf, soundAccept, spokenAccept, unsoundAnswer } from "./media-types.ts";
import { isRedirect, maxRedirects, redirectRefused, redirectStep } from "./redirects.ts";
import {
  blamesMethod,
  isEngineTimeout,
  isRateLimit,
  parseRetryAfter,
  rateLimited,
  type Refusal,
  refusalError,
} from "./refusals.ts";
import { type EncodedRequest, encodeRequest, maxUrlBytes, methodOrder } from "./request-encoding.ts";
import type { RequestMethod } from "./sparql-client.ts";

/** How often and how soon a request is sent again. */
export interface RetryOptions {
  /** Attempts after the first one. */
  readonly limit: number;
  /** First back-off after a connection fault or a 503; it doubles each time. */
  readonly baseMs: number;
  /** First back-off after a 429 without Retry-After. */
  readonly rateLimitedBaseMs: number;
}

/**
 * What is sent next, and what has been tried: follows redirects, tries other methods and a broader Accept, and retries
 * what a retry can mend.
 */
export class Conversation {
  readonly #call: Call;
  #url: URL;
  #method: RequestMethod;
  #untried: RequestMethod[];
  /** The first refusal that blamed the method. */
  #blamed: Refusal | undefined;
  #redirects = 0;
  #retries = 0;
  #broadened = false;
  /** A redirect has turned POST into GET. */
  #turned = false;

  constructor(call: Call, url: URL) {
    const { request, state } = call;
    const fixed = request.endpoint.method;
    const method = fixed ?? state.method ?? "post-form";
    this.#call = call;
    this.#url = url;
    this.#method = method;
    this.#untried = fixed === undefined ? methodOrder.filter((other) => other !== method) : [];
    call.accept = acceptOf(call, request.accept);
  }

  /** @throws FedwayError when the query is too long for the method that is left */
  nextRequest(): EncodedRequest {
    const encoded = encodeRequest(this.#method, this.#url, this.#call.request);
    if (encoded === undefined) throw this.#tooLongForGet();
    return encoded;
  }

  /** The latest request was answered: its method is remembered when another one had been refused. */
  answered(): void {
    if (this.#blamed !== undefined && !this.#turned) this.#call.state.method = this.#method;
  }

  /**
   * Decides what is sent after a request without an answer; gives the milliseconds to wait before.
   * @throws FedwayError when there is nothing more to try
   */
  waitMsAfter(reply: NoAnswer): number {
    if (reply.kind === "unsound") {
      this.#askForSoundFormats(reply);
      return 0;
    }
    const isFault = reply.kind === "fault";
    const waitMs = isFault ? this.#afterFault(reply.error) : this.#afterRefusal(reply.refusal);
    if (waitMs > 0 && waitMs >= this.#call.leftMs)
      throw isFault ? reply.error : this.#deadlineTooShort(reply.refusal, waitMs);
    return waitMs;
  }

  /** Asks for formats that the engine gets right, once it is known. @throws FedwayError when that was done already */
  #askForSoundFormats({ quirks, mediaType }: Extract<NoAnswer, { kind: "unsound" }>): void {
    const accept = acceptOf(this.#call, this.#call.accept);
    if (accept === this.#call.accept) throw unsoundAnswer(quirks, mediaType);
    this.#call.accept = accept;
  }

  #afterFault(error: FedwayError): number {
    const { retry, random } = this.#call.context;
    if (!isRetryableFault(error) || this.#retries >= retry.limit) throw error;
    this.#retries += 1;
    return backOffMs(retry.baseMs, this.#retries - 1, random);
  }

  #afterRefusal(refusal: Refusal): number {
    const { request, state } = this.#call;
    if (isRedirect(refusal)) {
      this.#follow(refusal);
      return 0;
    }
    if (refusal.status === 406 && !this.#broadened) {
      this.#broadened = true;
      this.#call.accept = acceptOf(this.#call, broadAccept(request.kind));
      return 0;
    }
    if (blamesMethod(refusal) && request.endpoint.method === undefined) {
      // Once a method has worked, a mere message no longer casts doubt on it.
      const doubted = refusal.status >= 405 || state.method === undefined;
      const next = doubted ? this.#untried.shift() : undefined;
      this.#blamed ??= refusal;
      if (next === undefined) throw refusalError(this.#blamed, request.kind);
      this.#method = next;
      return 0;
    }
    return this.#retryDelay(refusal);
  }

  #follow(refusal: Refusal): void {
    const { network, local } = this.#call.context;
    if (this.#redirects >= maxRedirects) throw redirectRefused("The endpoint redirects too often.", refusal.status);
    const from = { url: this.#url, method: this.#method };
    const { url, method } = redirectStep(from, refusal, { guard: network.guard, local });
    this.#redirects += 1;
    this.#turned ||= method !== this.#method;
    this.#url = url;
    this.#method = method;
    this.#call.host = network.rateHost(url);
  }

  #retryDelay(refusal: Refusal): number {
    const { request, state } = this.#call;
    const rateLimit = isRateLimit(refusal);
    if (isEngineTimeout(refusal) || !(rateLimit || refusal.status === 503)) throw refusalError(refusal, request.kind);
    const { retry, random, network } = this.#call.context;
    const now = network.clock.now();
    const asked = parseRetryAfter(headerOf(refusal.headers, "retry-after"), now);
    const waitMs = asked ?? backOffMs(rateLimit ? retry.rateLimitedBaseMs : retry.baseMs, this.#retries, random);
    if (rateLimit) state.scheduler.holdUntil(now + waitMs);
    if (this.#retries >= retry.limit) {
      if (rateLimit) throw rateLimited(refusal, asked);
      throw refusalError(refusal, request.kind, asked === undefined ? {} : { retryAfterMs: asked });
    }
    this.#retries += 1;
    return Math.max(1, waitMs);
  }

  /** The error of a wait that does not fit the deadline. */
  #deadlineTooShort(refusal: Refusal, waitMs: number): FedwayError {
    const asked = refusal.headers["retry-after"] !== undefined;
    if (isRateLimit(refusal) || asked) return rateLimited(refusal, asked ? waitMs : undefined);
    return refusalError(refusal, this.#call.request.kind);
  }

  /** The code of a refused query: a shorter one may be taken. */
  #tooLongForGet(): FedwayError {
    const { endpoint, kind } = this.#call.request;
    // A mere message may have blamed the query itself.
    if (this.#blamed !== undefined && this.#blamed.status < 405) return refusalError(this.#blamed, kind);
    const longest = Math.min(maxUrlBytes, endpoint.maxUrlBytes ?? maxUrlBytes);
    const why =
      this.#redirects > 0
        ? "the endpoint redirects POST so that it becomes GET"
        : "the endpoint takes queries only there";
    return new FedwayError(
      "ENDPOINT_REJECTED_QUERY",
      `The query does not fit into a URL of ${longest} bytes, and ${why}.`,
      {
        fault: "http-4xx",
        next: "Send a shorter query, for instance with fewer VALUES rows.",
      },
    );
  }
}

/** An Accept header as the endpoint's engine should get it. */
function acceptOf({ request, state }: Call, accept: string): string {
  const { formats } = request.endpoint;
  const spoken = formats === undefined ? accept : spokenAccept(accept, formats);
  return state.quirks === undefined ? spoken : soundAccept(spoken, state.quirks, request.kind);
}

/** Exponential back-off with jitter: between half of and the whole of `baseMs * 2^retries`. */
export function backOffMs(baseMs: number, retries: number, random: () => number): number {
  return Math.round(baseMs * 2 ** retries * (0.5 + random() / 2));
}

/** A connection fault after which the same request may be sent again: the endpoint has not begun to answer. */
function isRetryableFault(error: FedwayError): boolean {
  return (
    error.code === "ENDPOINT_UNREACHABLE" && (error.details.fault === "connect" || error.details.fault === "reset")
  );
}
