import { FedwayError } from "../errors/fedway-error.ts";
import { attempt, type AttemptContext, type Reply } from "./attempt.ts";
import type { AddressGuard } from "./address-guard.ts";
import type { Call } from "./call.ts";
import { soundAccept, spokenAccept, unsoundAnswer } from "./engine-quirks.ts";
import { headerOf } from "./headers.ts";
import { broadAccept } from "./media-types.ts";
import { isRedirect, maxRedirects, redirectRefused, redirectStep } from "./redirects.ts";
import { blamesMethod, isEngineTimeout, type Refusal, refusalError } from "./refusals.ts";
import { encodeRequest, maxUrlBytes, methodOrder } from "./request-encoding.ts";
import { backOffMs, isRetryableFault, parseRetryAfter, type RetryOptions } from "./retry.ts";
import type { LocalDispatch, RequestMethod, SparqlAnswer } from "./sparql-client.ts";

/** What a conversation needs beside its call. */
export interface ConversationContext extends AttemptContext {
  readonly guard: AddressGuard;
  /** The host whose rate a request to this URL counts for; undefined when it has none. */
  readonly limitedHost: (url: URL) => string | undefined;
  readonly local?: LocalDispatch | undefined;
  readonly retry: RetryOptions;
  readonly random: () => number;
}

/** Where a conversation stands: what is sent next, and what has been tried. */
interface Course {
  url: URL;
  method: RequestMethod;
  accept: string;
  untried: RequestMethod[];
  /** The first refusal that blamed the method. */
  blamed: Refusal | undefined;
  redirects: number;
  retries: number;
  broadened: boolean;
  /** A redirect has turned POST into GET. */
  turned: boolean;
}

/** An Accept header as the endpoint's engine should get it. */
function acceptOf({ request, lane }: Call, accept: string): string {
  const { formats } = request.endpoint;
  const spoken = formats === undefined ? accept : spokenAccept(accept, formats);
  return lane.quirks === undefined ? spoken : soundAccept(spoken, lane.quirks, request.kind);
}

function startCourse(call: Call, url: URL): Course {
  const { request, lane } = call;
  const fixed = request.endpoint.method;
  const method = fixed ?? lane.method ?? "post-form";
  return {
    url,
    method,
    accept: acceptOf(call, request.accept),
    untried: fixed === undefined ? methodOrder.filter((other) => other !== method) : [],
    blamed: undefined,
    redirects: 0,
    retries: 0,
    broadened: false,
    turned: false,
  };
}

/**
 * Sends a query until it is answered: follows redirects, tries other methods and a broader Accept, and retries what
 * a retry can mend. A healthy endpoint is sent exactly one request.
 * @throws FedwayError
 */
export async function converse(call: Call, url: URL, context: ConversationContext): Promise<SparqlAnswer> {
  const course = startCourse(call, url);
  for (;;) {
    const encoded = encodeRequest(course.method, course.url, call.request);
    if (encoded === undefined) throw tooLongForGet(course, call);
    if (call.host !== undefined) await call.awaitTurn();
    const reply = await attempt(call, { encoded, accept: course.accept }, context);
    if (reply.kind === "answer") {
      if (course.blamed !== undefined && !course.turned) call.lane.method = course.method;
      return reply.answer;
    }
    if (reply.kind === "unsound") {
      afterUnsound(reply, course, call);
      continue;
    }
    const waitMs =
      reply.kind === "fault"
        ? afterFault(reply.error, course, context)
        : afterRefusal(reply.refusal, course, { call, context });
    if (waitMs === 0) continue;
    if (waitMs >= call.leftMs) throw reply.kind === "fault" ? reply.error : hopeless(reply.refusal, call, waitMs);
    await call.pause(waitMs);
  }
}

/** Asks for formats that the engine gets right, once it is known. @throws FedwayError when that was done already */
function afterUnsound(reply: Extract<Reply, { kind: "unsound" }>, course: Course, call: Call): void {
  const accept = acceptOf(call, course.accept);
  if (accept === course.accept) throw unsoundAnswer(reply.quirks, reply.mediaType);
  course.accept = accept;
}

/** Milliseconds to wait before the same request is sent again. @throws FedwayError the fault, when it is final */
function afterFault(error: FedwayError, course: Course, { retry, random }: ConversationContext): number {
  if (!isRetryableFault(error) || course.retries >= retry.limit) throw error;
  course.retries += 1;
  return backOffMs(retry.baseMs, course.retries - 1, random);
}

interface Parties {
  readonly call: Call;
  readonly context: ConversationContext;
}

/** Sets the course anew after a refusal; milliseconds to wait before. @throws FedwayError when the refusal is final */
function afterRefusal(refusal: Refusal, course: Course, parties: Parties): number {
  const { call, context } = parties;
  const { kind } = call.request;
  if (isRedirect(refusal)) {
    if (course.redirects >= maxRedirects) throw redirectRefused("The endpoint redirects too often.", refusal.status);
    const step = redirectStep(course, refusal, context);
    course.redirects += 1;
    course.turned ||= step.method !== course.method;
    course.url = step.url;
    call.host = context.limitedHost(step.url);
    course.method = step.method;
    return 0;
  }
  if (refusal.status === 406 && !course.broadened) {
    course.broadened = true;
    course.accept = acceptOf(call, broadAccept(kind));
    return 0;
  }
  if (blamesMethod(refusal) && call.request.endpoint.method === undefined) {
    // Once a method has worked, a mere message no longer casts doubt on it.
    const doubted = refusal.status >= 405 || call.lane.method === undefined;
    const next = doubted ? course.untried.shift() : undefined;
    course.blamed ??= refusal;
    if (next === undefined) throw refusalError(course.blamed, kind);
    course.method = next;
    return 0;
  }
  return retryDelay(refusal, course, parties);
}

const isRateLimit = ({ status, headers }: Refusal): boolean =>
  status === 429 || (status === 405 && headers["retry-after"] !== undefined);

function retryDelay(refusal: Refusal, course: Course, { call, context }: Parties): number {
  const { kind } = call.request;
  const rateLimit = isRateLimit(refusal);
  if (isEngineTimeout(refusal) || !(rateLimit || refusal.status === 503)) throw refusalError(refusal, kind);
  const { retry, clock, random } = context;
  const asked = parseRetryAfter(headerOf(refusal.headers, "retry-after"), clock.now());
  const waitMs = asked ?? backOffMs(rateLimit ? retry.rateLimitedBaseMs : retry.baseMs, course.retries, random);
  if (rateLimit) call.lane.scheduler.holdUntil(clock.now() + waitMs);
  if (course.retries >= retry.limit) {
    if (rateLimit) throw rateLimited(refusal, asked);
    throw refusalError(refusal, kind, asked === undefined ? {} : { retryAfterMs: asked });
  }
  course.retries += 1;
  return Math.max(1, waitMs);
}

/** The error of a wait that does not fit the deadline. */
function hopeless(refusal: Refusal, { request }: Call, waitMs: number): FedwayError {
  const asked = refusal.headers["retry-after"] !== undefined;
  if (isRateLimit(refusal) || asked) return rateLimited(refusal, asked ? waitMs : undefined);
  return refusalError(refusal, request.kind);
}

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

function tooLongForGet(course: Course, { request }: Call): FedwayError {
  if (course.blamed !== undefined) return refusalError(course.blamed, request.kind);
  const message = `The query does not fit into a URL of ${Math.min(maxUrlBytes, request.endpoint.maxUrlBytes ?? maxUrlBytes)} bytes`;
  if (course.redirects > 0)
    return redirectRefused(`${message}, and the endpoint redirects POST so that it becomes GET.`, 0);
  return new FedwayError("ENDPOINT_REFUSED", `${message}, and the endpoint takes queries only there.`, {
    fault: "http-4xx",
    next: "Send a shorter query, for instance with fewer VALUES rows.",
  });
}
