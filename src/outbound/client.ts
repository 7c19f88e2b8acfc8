import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { createAnswerScanner } from "../results/scanner.ts";
import { type AddressGuard, addressRefused, bareHost, createAddressGuard, isOwnHost } from "./address-guard.ts";
import { type BreakerListener, type Breakers, createBreakers } from "./breakers.ts";
import { Call, type CallContext } from "./call.ts";
import { systemClock } from "../clock.ts";
import { converse, type ConversationContext } from "./conversation.ts";
import { createDeadlines } from "./deadlines.ts";
import { createHostRates, type HostRates } from "./host-rates.ts";
import { createLanes, type Lanes, metricName } from "./lanes.ts";
import { answerLocally } from "./local-answer.ts";
import {
  defaultBreaker,
  defaultRetry,
  defaultTimeouts,
  type SparqlClientOptions,
  type TransportObserver,
  userAgent,
} from "./options.ts";
import type { PromptBody } from "./prompt-body.ts";
import type { EndpointTarget, SparqlAnswer, SparqlClient, SparqlRequest } from "./sparql-client.ts";
import { createUpstream, type UpstreamOptions } from "./upstream.ts";

const gibibyte = 1024 ** 3;

function upstreamOptions(options: SparqlClientOptions, guard: AddressGuard): UpstreamOptions {
  const { resolveHost, ca, endpointConcurrency = 16, connections = Math.max(64, endpointConcurrency) } = options;
  return { guard, connections, ...defaultTimeouts, ...options.timeouts, resolveHost, ca };
}

function lanesOf(options: SparqlClientOptions, listeners: Iterable<BreakerListener>): Lanes {
  const { endpointConcurrency: concurrency = 16, endpointQueue: queueLimit = 256, clock = systemClock } = options;
  const { maxEndpoints: maxLanes = 1000, observer } = options;
  return createLanes({
    maxLanes,
    scheduler: { concurrency, queueLimit, clock },
    breaker: { ...defaultBreaker, ...options.breaker, clock },
    onBreaker: (report) => {
      observer?.onBreaker?.(report);
      for (const listener of listeners) listener(report);
    },
  });
}

const limitsHosts = ({ hostRate }: SparqlClientOptions): boolean => hostRate !== undefined && hostRate.perSecond > 0;

function hostRatesOf(options: SparqlClientOptions): HostRates | undefined {
  const { hostRate, endpointQueue: queueLimit = 256, maxEndpoints: maxHosts = 1000, clock = systemClock } = options;
  if (hostRate === undefined || !limitsHosts(options)) return undefined;
  return createHostRates({ ...hostRate, queueLimit, maxHosts, clock });
}

const noHost = (): undefined => undefined;
/** One rate for a host under all its ports and schemes: that is what a ban would fall on. */
const rateHost = ({ hostname }: URL): string | undefined => (isOwnHost(hostname) ? undefined : bareHost(hostname));

function conversationContext(options: SparqlClientOptions, guard: AddressGuard): ConversationContext {
  const { clock = systemClock, scanner = createAnswerScanner, random = Math.random, local } = options;
  return {
    upstream: createUpstream(upstreamOptions(options, guard)),
    promptBodies: createDeadlines<PromptBody>(clock),
    guard,
    limitedHost: limitsHosts(options) ? rateHost : noHost,
    local,
    clock,
    scanner,
    random,
    maxAnswerBytes: options.maxAnswerBytes ?? gibibyte,
    userAgent: userAgent(options.version, options.contact),
    retry: { ...defaultRetry, ...options.retry },
  };
}

/** An endpoint's URL, parsed and vetted once. */
interface Vetted {
  readonly url: URL | null;
  readonly refused: FedwayError | undefined;
  /** The host whose rate its requests count for. */
  readonly host: string | undefined;
}

/** Remembers the verdict on each URL; the guard never changes its mind about a literal. */
function createVetting({ guard, limitedHost }: ConversationContext, limit: number): (text: string) => Vetted {
  const known = new Map<string, Vetted>();
  return (text) => {
    let vetted = known.get(text);
    if (vetted === undefined) {
      if (known.size >= limit) known.clear();
      const url = URL.parse(text);
      vetted = { url, refused: guard.refuseUrl(text), host: url === null ? undefined : limitedHost(url) };
      known.set(text, vetted);
    }
    return vetted;
  };
}

/** The error of a query that never became a call, which the observer hears of too. */
function refusedTarget(
  { details, message }: FedwayError,
  endpoint: EndpointTarget,
  observer: TransportObserver | undefined,
): FedwayError {
  observer?.onExchange?.({
    endpoint: metricName(endpoint),
    outcome: "address",
    ms: 0,
    wireBytes: 0,
    requests: 0,
  });
  return new FedwayError("ADDRESS_REFUSED", message, { ...details, where: { endpoint: endpoint.id ?? endpoint.url } });
}

/** A SPARQL client whose circuit breakers can be told what others know. */
export interface GuardedSparqlClient extends SparqlClient {
  readonly breakers: Breakers;
}

/**
 * The outbound SPARQL client over keep-alive HTTP connections.
 * @throws FedwayError `CONFIG_INVALID` when an address exception is not a CIDR range
 */
export function createSparqlClient(options: SparqlClientOptions): GuardedSparqlClient {
  const guard = createAddressGuard(options.allowAddresses);
  const context = conversationContext(options, guard);
  const { clock } = context;
  const listeners = new Set<BreakerListener>();
  const lanes = lanesOf(options, listeners);
  const deadlines = createDeadlines<Call>(clock);
  const hostRates = hostRatesOf(options);
  const vet = createVetting(context, options.maxEndpoints ?? 1000);
  const calls: CallContext = {
    clock,
    deadlines,
    observer: options.observer,
    breaker: { ...defaultBreaker, ...options.breaker },
    hostRates,
  };
  let closed = false;

  const query = async (request: SparqlRequest): Promise<SparqlAnswer> => {
    if (closed) throw clientClosed();
    const { endpoint } = request;
    const handler = options.local?.(endpoint.url);
    const { url, refused, host } = vet(endpoint.url);
    if (url === null || (refused !== undefined && handler === undefined)) {
      throw refusedTarget(refused ?? addressRefused("not an absolute URL"), endpoint, options.observer);
    }
    const call = new Call(request, lanes.of(endpoint, url), calls);
    try {
      // Endpoints of this process have a queue of their own, and no query of one client closes them for the others.
      if (handler !== undefined) return await answerLocally(call, handler, context);
      call.host = host;
      const queued = call.enter();
      if (queued !== undefined) await queued;
      call.admit();
      return await converse(call, url, context);
    } catch (thrown) {
      const error = call.located(toFedwayError(thrown));
      call.finish(error);
      throw error;
    }
  };

  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    for (const call of deadlines.pending()) call.interrupt(clientClosed());
    deadlines.close();
    context.promptBodies.close();
    lanes.close();
    hostRates?.close();
    await context.upstream.close();
  };

  return { query, breakers: createBreakers(lanes, listeners), close };
}

function clientClosed(): FedwayError {
  return new FedwayError("CANCELLED", "The service is shutting down.");
}
