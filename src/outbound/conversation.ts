import { FedwayError } from "../errors/fedway-error.ts";
import type { AddressGuard } from "./address-guard.ts";
import { attempt, type AttemptContext, type NoAnswer } from "./attempt.ts";
import type { Call } from "./call.ts";
import { broadAccept, headerOf, soundAccept, spokenAccept, unsoundAnswer } from "./media-types.ts";
import { blamesMethod, isEngineTimeout, type Refusal, refusalError } from "./refusals.ts";
import { encodeRequest, maxUrlBytes, methodOrder } from "./request-encoding.ts";
import type { LocalDispatch, RequestMethod, SparqlAnswer } from "./sparql-client.ts";

/** What a conversation needs beside its call. */
export interface ConversationContext extends AttemptContext {
  readonly local: LocalDispatch | undefined;
  readonly retry: RetryOptions;
  readonly random: () => number;
}

/**
 * Sends a query until it is answered: follows redirects, tries other methods and a broader Accept, and retries what
 * a retry can mend. A healthy endpoint is sent exactly one request.
 * @throws FedwayError
 */
export const converse = (call: Call, url: URL, context: ConversationContext): Promise<SparqlAnswer> =>
  new Conversation(call, url, context).run();

/** What is sent next, and what has been tried. */
class Conversation {
  readonly #call: Call;
  readonly #context: ConversationContext;
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

  constructor(call: Call, url: URL, context: ConversationContext) {
    const { request, state } = call;
    const fixed = request.endpoint.method;
    const method = fixed ?? state.method ?? "post-form";
    this.#call = call;
    this.#context = context;
    this.#url = url;
    this.#method = method;
    this.#untried = fixed === undefined ? methodOrder.filter((other) => other !== method) : [];
    call.accept = acceptOf(call, request.accept);
  }

  async run(): Promise<SparqlAnswer> {
    const call = this.#call;
    for (;;) {
      const encoded = encodeRequest(this.#method, this.#url, call.request);
      if (encoded === undefined) throw this.#tooLongForGet();
      if (call.host !== undefined) await call.awaitTurn();
      const reply = await attempt(call, encoded, this.#context);
      if (!("kind" in reply)) {
        if (this.#blamed !== undefined && !this.#turned) call.state.method = this.#method;
        return reply;
      }
      const waitMs = this.#waitMs(reply);
      if (waitMs > 0) await call.pause(waitMs);
    }
  }

  /** Sets what is sent next; milliseconds to wait before. @throws FedwayError when there is nothing more to try */
  #waitMs(reply: NoAnswer): number {
    if (reply.kind === "unsound") {
      this.#askForSoundFormats(reply);
      return 0;
    }
    const isFault = reply.kind === "fault";
    const waitMs = isFault ? this.#afterFault(reply.error) : this.#afterRefusal(reply.refusal);
    if (waitMs > 0 && waitMs >= this.#call.leftMs) throw isFault ? reply.error : this.#hopeless(reply.refusal, waitMs);
    return waitMs;
  }

  /** Asks for formats that the engine gets right, once it is known. @throws FedwayError when that was done already */
  #askForSoundFormats({ quirks, mediaType }: Extract<NoAnswer, { kind: "unsound" }>): void {
    const accept = acceptOf(this.#call, this.#call.accept);
    if (accept === this.#call.accept) throw unsoundAnswer(quirks, mediaType);
    this.#call.accept = accept;
  }

  #afterFault(error: FedwayError): number {
    const { retry, random } = this.#context;
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
    const { network, local } = this.#context;
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
    const { retry, random, network } = this.#context;
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
  #hopeless(refusal: Refusal, waitMs: number): FedwayError {
    const asked = refusal.headers["retry-after"] !== undefined;
    if (isRateLimit(refusal) || asked) return rateLimited(refusal, asked ? waitMs : undefined);
    return refusalError(refusal, this.#call.request.kind);
  }

  #tooLongForGet(): FedwayError {
    const { endpoint, kind } = this.#call.request;
    if (this.#blamed !== undefined) return refusalError(this.#blamed, kind);
    const longest = Math.min(maxUrlBytes, endpoint.maxUrlBytes ?? maxUrlBytes);
    const message = `The query does not fit into a URL of ${longest} bytes`;
    if (this.#redirects > 0)
      return redirectRefused(`${message}, and the endpoint redirects POST so that it becomes GET.`, 0);
    return new FedwayError("ENDPOINT_REFUSED", `${message}, and the endpoint takes queries only there.`, {
      fault: "http-4xx",
      next: "Send a shorter query, for instance with fewer VALUES rows.",
    });
  }
}

/** An Accept header as the endpoint's engine should get it. */
function acceptOf({ request, state }: Call, accept: string): string {
  const { formats } = request.endpoint;
  const spoken = formats === undefined ? accept : spokenAccept(accept, formats);
  return state.quirks === undefined ? spoken : soundAccept(spoken, state.quirks, request.kind);
}

const isRateLimit = ({ status, headers }: Refusal): boolean =>
  status === 429 || (status === 405 && headers["retry-after"] !== undefined);

function rateLimited({ status }: Refusal, retryAfterMs: number | undefined): FedwayError {
  const seconds = retryAfterMs === undefined ? "" : ` of ${Math.ceil(retryAfterMs / 1000)} s`;
  const message = `The endpoint asks to be left alone for a while${seconds} (HTTP status ${status}).`;
  return new FedwayError("ENDPOINT_RATE_LIMITED", message, {
    fault: status >= 500 ? "http-5xx" : "http-429",
    upstreamStatus: status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    next: "Wait before sending another query to this endpoint.",
  });
}

/** Redirects that are followed within one query. */
export const maxRedirects = 3;

/** Where a redirect leads and how the query is sent there. */
export interface RedirectStep {
  readonly url: URL;
  readonly method: RequestMethod;
}

/** What decides about a redirect. */
interface RedirectRules {
  readonly guard: AddressGuard;
  readonly local?: LocalDispatch | undefined;
}

const followed = new Set([301, 302, 303, 307, 308]);

/** A response that asks to go elsewhere. */
export const isRedirect = ({ status, headers }: Refusal): boolean =>
  followed.has(status) && headers["location"] !== undefined;

/** The error of a redirect that is not followed. */
export function redirectRefused(message: string, status: number): FedwayError {
  return new FedwayError("ENDPOINT_REDIRECT", message, {
    fault: "http-3xx",
    upstreamStatus: status,
    next: "Use the URL that the endpoint really answers at.",
  });
}

/**
 * The next step of a redirect (RFC 9110, section 15.4): 307 and 308 keep the method, the others turn POST into GET.
 * @throws FedwayError `ENDPOINT_REDIRECT` (from https to http, into this process), `ADDRESS_REFUSED`
 */
export function redirectStep(from: RedirectStep, refusal: Refusal, rules: RedirectRules): RedirectStep {
  const { status } = refusal;
  const location = headerOf(refusal.headers, "location") ?? "";
  const url = location.length > 8192 ? null : URL.parse(location, from.url.href);
  if (url === null) throw redirectRefused("The endpoint redirects to something that is not a URL.", status);
  if (from.url.protocol === "https:" && url.protocol === "http:") {
    throw redirectRefused("The endpoint redirects from https to http.", status);
  }
  const refused = rules.guard.refuseUrl(url);
  if (refused !== undefined) throw refused;
  if (rules.local?.(url.href) !== undefined) {
    throw redirectRefused("The endpoint redirects back to this service.", status);
  }
  url.hash = "";
  return { url, method: status === 307 || status === 308 ? from.method : "get" };
}

/** How often and how soon a request is sent again. */
export interface RetryOptions {
  /** Attempts after the first one. */
  readonly limit: number;
  /** First back-off after a connection fault or a 503; it doubles each time. */
  readonly baseMs: number;
  /** First back-off after a 429 without Retry-After. */
  readonly rateLimitedBaseMs: number;
}

/** A Retry-After longer than this is cut: no endpoint can shut itself out for days by one header. */
const maxRetryAfterMs = 15 * 60_000;

/** Retry-After (RFC 9110, section 10.2.3) as milliseconds from `nowMs`; undefined when absent or unreadable. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim();
  if (text === undefined || text === "" || text.length > 40) return undefined;
  if (/^\d{1,12}$/.test(text)) return Math.min(Number(text) * 1000, maxRetryAfterMs);
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : Math.min(Math.max(0, moment - nowMs), maxRetryAfterMs);
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
