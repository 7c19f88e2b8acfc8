import { FedwayError } from "../errors/fedway-error.ts";
import { attempt, type NoAnswer } from "./attempt.ts";
import type { QueryTask } from "./task.ts";
import { headerOf, loneAccepts } from "./media-types.ts";
import { isRedirect, maxRedirects, redirectRefused, redirectStep } from "./redirects.ts";
import {
  blamesMethod,
  isEngineTimeout,
  isRateLimit,
  parseRetryAfter,
  rateLimited,
  type Refusal,
  refusalError,
  suspectedMethod,
} from "./refusals.ts";
import {
  type EncodedRequest,
  encodeRequest,
  maxUrlBytes,
  methodOrder,
  type EndpointTarget,
  type RequestMethod,
  type SparqlAnswer,
} from "./sparql-request.ts";
import { soundAccept } from "./sound-formats.ts";

/** How often and how soon a request is sent again. */
export interface RetryOptions {
  /** Attempts after the first one. */
  readonly limit: number;
  /** First back-off after a connection fault or a 503; it doubles each time. */
  readonly baseMs: number;
  /** First back-off after a 429 without Retry-After. */
  readonly rateLimitedBaseMs: number;
}

/** Vain attempts with other methods and formats that one endpoint costs in ten minutes. */
const mostVain = 3;
const vainMs = 10 * 60_000;

const shownMethods: Readonly<Record<RequestMethod, string>> = {
  "post-form": "POST of a form",
  "post-direct": "POST of the query itself",
  get: "GET",
};

/**
 * Goes on after a first request without an answer: follows redirects, tries other methods and a broader Accept, and retries
 * failures that a retry can mend.
 */
export class Conversation {
  readonly #task: QueryTask;
  #url: URL;
  #untried: RequestMethod[];
  /** Accept headers that may be tried. */
  readonly #accepts: string[];
  /** The first refusal after which another method was tried, and the method that it refused. */
  #blamed: { readonly refusal: Refusal; readonly method: RequestMethod } | undefined;
  /** The Accept that was refused. */
  #refusedAccept: string | undefined;
  #redirects = 0;
  #retries = 0;
  /** A redirect has turned POST into GET. */
  #turned = false;

  constructor(task: QueryTask, url: URL) {
    const { endpoint, kind, accept } = task.request;
    this.#task = task;
    this.#url = url;
    this.#untried = endpoint.method === undefined ? methodOrder.filter((other) => other !== task.method) : [];
    const others = accept.includes(",") ? [accept, ...loneAccepts(kind)] : ["*/*"];
    this.#accepts = others.map((other) => soundAccept(other, task.request)).filter((other) => other !== task.accept);
  }

  /**
   * Sends requests until one is answered.
   * @throws FedwayError when there is nothing more to try
   */
  async goOn(first: NoAnswer): Promise<SparqlAnswer> {
    const task = this.#task;
    for (let reply = first; ; ) {
      const renews = reply.kind === "refusal" && task.signer?.renews(reply.refusal) === true;
      const waitMs = renews ? 0 : this.#waitMsAfter(reply);
      if (waitMs > 0) await task.pause(waitMs);
      const next = await attempt(task, this.#nextRequest());
      if (!("kind" in next)) return this.#answered(next);
      reply = next;
    }
  }

  #nextRequest(): EncodedRequest {
    const { method, request } = this.#task;
    const encoded = encodeRequest(method, this.#url, request);
    if (encoded !== undefined) return encoded;
    // A mere message may have blamed the query itself.
    const blamed = this.#blamed?.refusal;
    if (blamed !== undefined && blamed.status < 405) throw refusalError(blamed, request.kind);
    throw tooLongForGet(request.endpoint, this.#redirects > 0);
  }

  /** Remembers how the request was answered, when it had been refused otherwise, and says so. */
  #answered(answer: SparqlAnswer): SparqlAnswer {
    const { state, request, context } = this.#task;
    state.isVerified = true;
    const news: string[] = [];
    let { method, accept } = { ...request.endpoint.learned, ...state.learned };
    if (this.#blamed !== undefined && !this.#turned) {
      method = this.#task.method;
      const { status } = this.#blamed.refusal;
      news.push(
        `${shownMethods[this.#blamed.method]} was refused (HTTP status ${status}), ${shownMethods[method]} works`,
      );
    }
    if (this.#refusedAccept !== undefined) {
      accept = { ...accept, [request.kind]: this.#task.accept };
      news.push(`Accept: ${this.#refusedAccept} was refused (HTTP status 406), ${this.#task.accept} works`);
    }
    if (news.length === 0) return answer;
    state.learned = { method, accept };
    context.onLearned?.(request.endpoint, state.learned);
    return { ...answer, learned: `${news.join("; ")}.` };
  }

  /**
   * Decides the next request after one without an answer; gives the milliseconds to wait before.
   * @throws FedwayError when there is nothing more to try
   */
  #waitMsAfter(reply: NoAnswer): number {
    const isFault = reply.kind === "fault";
    const waitMs = isFault ? this.#afterFault(reply.error) : this.#afterRefusal(reply.refusal);
    if (waitMs > 0 && waitMs >= this.#task.leftMs)
      throw isFault ? reply.error : this.#deadlineTooShort(reply.refusal, waitMs);
    return waitMs;
  }

  #afterFault(error: FedwayError): number {
    const { retry, random } = this.#task.context;
    if (!isRetryableFault(error) || this.#retries >= retry.limit) throw error;
    this.#retries += 1;
    return backOffMs(retry.baseMs, this.#retries - 1, random);
  }

  #afterRefusal(refusal: Refusal): number {
    if (refusal.status < 400 && isRedirect(refusal)) {
      this.#follow(refusal);
      return 0;
    }
    if (this.#triesOther(refusal)) return 0;
    if (this.#blamed !== undefined || this.#refusedAccept !== undefined) this.#noteVain(refusal);
    if (this.#blamed !== undefined && blamesMethod(refusal)) {
      throw refusalError(this.#blamed.refusal, this.#task.request.kind);
    }
    return this.#retryDelay(refusal);
  }

  /** Goes on with another Accept or method, where the refusal may mean the one in use and one is left. */
  #triesOther(refusal: Refusal): boolean {
    if (refusal.status === 406) {
      const next = this.#isVain ? undefined : this.#accepts.shift();
      if (next === undefined) return false;
      this.#refusedAccept ??= this.#task.accept;
      this.#task.accept = next;
      return true;
    }
    const next = this.#otherMethod(refusal);
    if (next === undefined) return false;
    this.#blamed ??= { refusal, method: this.#task.method };
    this.#untried = this.#untried.filter((method) => method !== next);
    this.#task.method = next;
    return true;
  }

  get #isVain(): boolean {
    const { vain } = this.#task.state;
    return vain.tries >= mostVain && this.#task.clock.now() < vain.untilMs;
  }

  #otherMethod(refusal: Refusal): RequestMethod | undefined {
    const { request, state } = this.#task;
    if (request.endpoint.method !== undefined) return undefined;
    // Once a method has worked, a mere message no longer casts doubt on it.
    if (blamesMethod(refusal)) return refusal.status >= 405 || !state.isVerified ? this.#untried[0] : undefined;
    const suspected = suspectedMethod(refusal, this.#task.method);
    if (suspected === undefined || this.#isVain) return undefined;
    if (!state.isVerified) return this.#untried.find((method) => method === suspected);
    // What worked may have changed: the next query looks.
    state.isVerified = refusal.status === 400;
    return undefined;
  }

  /** Remembers vain attempts, so that not each query repeats them. */
  #noteVain({ status }: Refusal): void {
    const { state, clock } = this.#task;
    const first = this.#blamed?.refusal.status;
    if (status === 400 && first !== undefined && first !== 400) {
      // The other method reaches an engine, which refuses the query.
      state.learned = { ...state.learned, method: this.#task.method };
    } else if (status < 500 && status !== 429) {
      const now = clock.now();
      state.vain.tries = now < state.vain.untilMs ? state.vain.tries + 1 : 1;
      state.vain.untilMs = now + vainMs;
    }
  }

  #follow(refusal: Refusal): void {
    const { network, local } = this.#task.context;
    if (this.#redirects >= maxRedirects) throw redirectRefused("The endpoint redirects too often.", refusal.status);
    const from = { url: this.#url, method: this.#task.method };
    const { url, method } = redirectStep(from, refusal, { guard: network.guard, local });
    this.#redirects += 1;
    this.#turned ||= method !== this.#task.method;
    this.#url = url;
    this.#task.method = method;
    this.#task.host = network.rateHost(url);
    // The endpoint chose where it leads, not the operator.
    this.#task.route = network;
  }

  #retryDelay(refusal: Refusal): number {
    const { request, state } = this.#task;
    const rateLimit = isRateLimit(refusal);
    if (isEngineTimeout(refusal) || !(rateLimit || refusal.status === 503)) throw refusalError(refusal, request.kind);
    const { retry, random, network } = this.#task.context;
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
    return refusalError(refusal, this.#task.request.kind);
  }
}

/** The error of a query that fits into no URL where only GET is left; its code is that of a refused query: a shorter one may be taken. */
export function tooLongForGet(
  { maxUrlBytes: longest = maxUrlBytes }: EndpointTarget,
  isRedirected = false,
): FedwayError {
  const why = isRedirected
    ? "the endpoint redirects POST so that it becomes GET"
    : "the endpoint takes queries only there";
  const bytes = Math.min(maxUrlBytes, longest);
  return new FedwayError(
    "ENDPOINT_REJECTED_QUERY",
    `The query does not fit into a URL of ${bytes} bytes, and ${why}.`,
    {
      fault: "http-4xx",
      next: "Send a shorter query, for instance with fewer VALUES rows.",
    },
  );
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
