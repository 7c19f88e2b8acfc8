import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { createAnswerScanner } from "../results/scanner.ts";
import { type AddressGuard, createAddressGuard } from "./address-guard.ts";
import { Call, type CallContext } from "./call.ts";
import { systemClock } from "./clock.ts";
import { converse, type ConversationContext } from "./conversation.ts";
import { createDeadlines } from "./deadlines.ts";
import { createLanes, type Lanes } from "./lanes.ts";
import { answerLocally } from "./local-answer.ts";
import { defaultBreaker, defaultRetry, defaultTimeouts, type SparqlClientOptions, userAgent } from "./options.ts";
import type { SparqlAnswer, SparqlClient, SparqlRequest } from "./sparql-client.ts";
import { createUpstream, type UpstreamOptions } from "./upstream.ts";

const gibibyte = 1024 ** 3;

function upstreamOptions(options: SparqlClientOptions, guard: AddressGuard): UpstreamOptions {
  const { resolveHost, ca, connections = 64 } = options;
  return { guard, connections, ...defaultTimeouts, ...options.timeouts, resolveHost, ca };
}

function lanesOf(options: SparqlClientOptions): Lanes {
  const { endpointConcurrency: concurrency = 16, endpointQueue: queueLimit = 256, clock = systemClock } = options;
  const { maxEndpoints: maxLanes = 1000, observer } = options;
  return createLanes({
    maxLanes,
    scheduler: { concurrency, queueLimit, clock },
    breaker: { ...defaultBreaker, ...options.breaker, clock },
    ...(observer === undefined ? {} : { onBreaker: (endpoint, state) => observer.onBreaker?.(endpoint, state) }),
  });
}

function conversationContext(options: SparqlClientOptions, guard: AddressGuard): ConversationContext {
  const { clock = systemClock, scanner = createAnswerScanner, random = Math.random, local } = options;
  return {
    upstream: createUpstream(upstreamOptions(options, guard)),
    guard,
    local,
    clock,
    scanner,
    random,
    maxAnswerBytes: options.maxAnswerBytes ?? gibibyte,
    userAgent: userAgent(options.version, options.contact),
    retry: { ...defaultRetry, ...options.retry },
  };
}

function parseEndpoint(text: string, guard: AddressGuard | undefined): URL {
  const refused = guard?.refuseUrl(text);
  const url = URL.parse(text);
  if (refused !== undefined || url === null) {
    throw refused ?? new FedwayError("INTERNAL", "An endpoint's URL is not absolute.");
  }
  return url;
}

/**
 * The outbound SPARQL client over keep-alive HTTP connections.
 * @throws FedwayError `CONFIG_INVALID` when an address exception is not a CIDR range
 */
export function createSparqlClient(options: SparqlClientOptions): SparqlClient {
  const guard = createAddressGuard(options.allowAddresses);
  const context = conversationContext(options, guard);
  const { clock } = context;
  const lanes = lanesOf(options);
  const deadlines = createDeadlines(clock);
  const calls: CallContext = {
    clock,
    deadlines,
    active: new Set(),
    observer: options.observer,
    breaker: { ...defaultBreaker, ...options.breaker },
  };
  let closed = false;

  const query = async (request: SparqlRequest): Promise<SparqlAnswer> => {
    if (closed) throw clientClosed();
    const { endpoint } = request;
    const handler = options.local?.(endpoint.url);
    const url = parseEndpoint(endpoint.url, handler === undefined ? guard : undefined);
    const call = new Call(request, lanes.of(endpoint, url), calls);
    try {
      const queued = call.enter();
      if (queued !== undefined) await queued;
      call.admit();
      return await (handler === undefined ? converse(call, url, context) : answerLocally(call, handler, context));
    } catch (thrown) {
      const error = call.located(toFedwayError(thrown));
      call.finish(error);
      throw error;
    }
  };

  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    for (const call of calls.active) call.interrupt(clientClosed());
    deadlines.close();
    lanes.close();
    await context.upstream.close();
  };

  return { query, close };
}

function clientClosed(): FedwayError {
  return new FedwayError("CANCELLED", "The service is shutting down.");
}
