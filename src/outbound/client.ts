import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { type AnswerScanner, createAnswerScanner } from "../results/scanner.ts";
import { addressRefused } from "./address-guard.ts";
import type { BreakerOptions } from "./breaker.ts";
import { Call, type CallContext } from "./call.ts";
import { converse, type ConversationContext, type RetryOptions } from "./conversation.ts";
import { type Breakers, EndpointStates, metricName } from "./endpoint-states.ts";
import { answerLocally } from "./local-answer.ts";
import { type Network, networkClosed, type NetworkOptions, openNetwork } from "./network.ts";
import type { OutboundObserver } from "./observer.ts";
import type { EndpointTarget, LocalDispatch, SparqlAnswer, SparqlClient, SparqlRequest } from "./sparql-client.ts";

/** Thresholds of the circuit breakers. */
interface BreakerLimits extends Pick<BreakerOptions, "faults" | "coolDownMs" | "maxCoolDownMs"> {
  /** A query's own deadline that passes before the response head counts as a fault after this long. */
  readonly slowMs: number;
}

/** Everything a SPARQL client is built from; only `version` has no default. */
export interface SparqlClientOptions extends NetworkOptions {
  /** Decoded bytes of one answer; default 1 GiB. */
  readonly maxAnswerBytes?: number | undefined;
  /** Requests under way at once per endpoint; default 16. */
  readonly endpointConcurrency?: number | undefined;
  /** Requests that may wait per endpoint; default 256. */
  readonly endpointQueue?: number | undefined;
  /** Idle endpoints that are remembered; default 1,000. */
  readonly maxEndpoints?: number | undefined;
  readonly retry?: Partial<RetryOptions> | undefined;
  readonly breaker?: Partial<BreakerLimits> | undefined;
  /** Makes the scanner that judges one answer; default `createAnswerScanner` of `results/`. */
  readonly scanner?: ((mediaType: string) => AnswerScanner) | undefined;
  /** Endpoints that this process itself hosts; their URLs are never dialled. */
  readonly local?: LocalDispatch | undefined;
  readonly observer?: OutboundObserver | undefined;
  /** Jitter of back-offs, in [0, 1); default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** A SPARQL client whose circuit breakers can be opened and closed from outside. */
export interface GuardedSparqlClient extends SparqlClient {
  readonly breakers: Breakers;
}

const gibibyte = 1024 ** 3;
const defaultConcurrency = 16;
const defaultQueue = 256;
const defaultEndpoints = 1_000;
const leastConnections = 64;
const defaultRetry: RetryOptions = { limit: 2, baseMs: 150, rateLimitedBaseMs: 1_000 };
const defaultBreaker: BreakerLimits = { faults: 5, coolDownMs: 1_000, maxCoolDownMs: 60_000, slowMs: 10_000 };

/** The network of a SPARQL client that has it to itself, or gives it to the others. */
export function openClientNetwork(options: SparqlClientOptions): Network {
  const { endpointConcurrency = defaultConcurrency, maxEndpoints = defaultEndpoints } = options;
  const { connections = Math.max(leastConnections, endpointConcurrency), maxHosts = maxEndpoints } = options;
  return openNetwork({ ...options, connections, maxHosts });
}

/**
 * The outbound SPARQL client over keep-alive HTTP connections; closing it closes its network.
 * @throws FedwayError `CONFIG_INVALID` when an address exception is not a CIDR range
 */
export function createSparqlClient(
  options: SparqlClientOptions,
  network: Network = openClientNetwork(options),
): GuardedSparqlClient {
  const { observer, local, maxEndpoints = defaultEndpoints } = options;
  const { slowMs, ...breaker } = { ...defaultBreaker, ...options.breaker };
  const states = statesOf(options, breaker, network);
  const vet = createVetting(network, maxEndpoints);
  const calls: CallContext = { network, observer, slowMs };
  const context: ConversationContext = {
    network,
    local,
    scanner: options.scanner ?? createAnswerScanner,
    random: options.random ?? Math.random,
    maxAnswerBytes: options.maxAnswerBytes ?? gibibyte,
    retry: { ...defaultRetry, ...options.retry },
  };

  const query = async (request: SparqlRequest): Promise<SparqlAnswer> => {
    if (network.closed) throw networkClosed();
    const { endpoint } = request;
    const handler = local?.(endpoint.url);
    const { url, refused, host } = vet(endpoint.url);
    if (url === null || (refused !== undefined && handler === undefined)) {
      throw refusedTarget(refused ?? addressRefused("not an absolute URL"), endpoint, observer);
    }
    const call = new Call(request, states.of(endpoint, url), calls);
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

  return {
    query,
    breakers: states.breakers,
    async close() {
      await network.close();
      states.close();
    },
  };
}

function statesOf(
  options: SparqlClientOptions,
  breaker: Omit<BreakerLimits, "slowMs">,
  { clock }: Network,
): EndpointStates {
  const { endpointConcurrency: concurrency = defaultConcurrency, endpointQueue: queueLimit = defaultQueue } = options;
  const { observer, maxEndpoints = defaultEndpoints } = options;
  return new EndpointStates({
    maxEndpoints,
    scheduler: { concurrency, queueLimit, clock },
    breaker: { ...breaker, clock },
    onBreaker: (report) => observer?.onBreaker?.(report),
  });
}

/** An endpoint's URL, parsed and vetted once. */
interface Vetted {
  readonly url: URL | null;
  readonly refused: FedwayError | undefined;
  /** The host whose rate its requests count for. */
  readonly host: string | undefined;
}

/** Remembers the verdict on each URL; the guard never changes its mind about a literal. */
function createVetting({ guard, rateHost }: Network, limit: number): (text: string) => Vetted {
  const known = new Map<string, Vetted>();
  return (text) => {
    let vetted = known.get(text);
    if (vetted === undefined) {
      if (known.size >= limit) known.clear();
      const url = URL.parse(text);
      vetted = { url, refused: guard.refuseUrl(text), host: url === null ? undefined : rateHost(url) };
      known.set(text, vetted);
    }
    return vetted;
  };
}

/** The error of a query that never became a call, which the observer hears of too. */
function refusedTarget(
  { details, message }: FedwayError,
  endpoint: EndpointTarget,
  observer: OutboundObserver | undefined,
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
