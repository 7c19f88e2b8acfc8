import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { acceptFor } from "../results/negotiation.ts";
import { addressRefused } from "./address-guard.ts";
import { attempt } from "./attempt.ts";
import { QueryTask, type ClientContext } from "./task.ts";
import type { Credentials } from "./credentials.ts";
import { Conversation, type RetryOptions, tooLongForGet } from "./conversation.ts";
import { type Breakers, type BreakerThresholds, EndpointStates, metricName } from "./endpoint-states.ts";
import { answerLocally, type LocalDispatch } from "./local-answer.ts";
import {
  type Network,
  networkClosed,
  type NetworkOptions,
  openNetwork,
  type OperatorUrl,
  type Route,
} from "./network.ts";
import type { OutboundObserver } from "./observer.ts";
import {
  encodeRequest,
  type EndpointTarget,
  type SparqlAnswer,
  type SparqlClient,
  type SparqlRequest,
} from "./sparql-request.ts";
import { queryWithMirror } from "./mirrors.ts";
import { fullFormats, isSound, plainNames, soundAccept, usualAccepts, withKeptTerms } from "./sound-formats.ts";

/** Thresholds of the circuit breakers. */
interface BreakerLimits extends BreakerThresholds {
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
  /** Endpoints that this process itself hosts; their URLs are never dialled. */
  readonly local?: LocalDispatch | undefined;
  readonly observer?: OutboundObserver | undefined;
  readonly credentials?: Credentials | undefined;
  /** The URL that the operator himself gives an endpoint of the catalogue, while it is asked at that URL. */
  readonly operatorUrl?: OperatorUrl | undefined;
  /** Hears how an endpoint must be asked, and where it cuts answers, when that was found out; must not throw. */
  readonly onLearned?: ClientContext["onLearned"];
  /** Jitter of back-offs, in [0, 1); default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** An open client, for whoever closes it. */
export interface OpenSparqlClient extends SparqlClient {
  readonly breakers: Breakers;
  certificateEndMs(url: string): number | undefined;
  /** Closes idle connections and refuses new requests; requests under way are aborted. */
  close(): Promise<void>;
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
): OpenSparqlClient {
  const { observer, local, operatorUrl, maxEndpoints = defaultEndpoints } = options;
  const { endpointConcurrency: concurrency = defaultConcurrency, endpointQueue: queueLimit = defaultQueue } = options;
  const { slowMs, ...breaker } = { ...defaultBreaker, ...options.breaker };
  const states = new EndpointStates({
    maxEndpoints,
    scheduler: { concurrency, queueLimit, clock: network.clock },
    breaker: { ...breaker, clock: network.clock },
    onBreaker: (report) => observer?.onBreaker?.(report),
  });
  const context: ClientContext = {
    network,
    observer,
    local,
    slowMs,
    ...settingsOf(options),
    query: (request) => send(request),
  };

  const routeOf = ({ id, url }: EndpointTarget): Route =>
    id !== undefined && operatorUrl?.(id) === url ? network.operators : network;

  const send = async (request: SparqlRequest): Promise<SparqlAnswer> => {
    if (network.closed) throw networkClosed();
    const { endpoint, budget } = request;
    budget?.take();
    const handler = local?.(endpoint.url);
    const route = routeOf(endpoint);
    const { url, refused, host } = route.vet(endpoint.url);
    if (url === null || (refused !== undefined && handler === undefined)) {
      throw refusedTarget(refused ?? addressRefused("not an absolute URL"), endpoint, observer);
    }
    const signer = signerFor(request, url, options.credentials);
    const task = new QueryTask(request, states.of(endpoint, url), context);
    try {
      // Endpoints of this process have a queue of their own, and no query of one client closes them for the others.
      if (handler !== undefined) return await answerLocally(task, handler);
      task.host = host;
      task.route = route;
      task.signer = signer;
      const queued = task.enter();
      if (queued !== undefined) await queued;
      task.admit();
      const answer = await converse(task, url);
      if (isTrusted(request, answer)) return answer;
      return await withKeptTerms(task, answer, (question) => askBeside(task, question, { url, route }));
    } catch (thrown) {
      throw failed(task, thrown);
    }
  };

  return {
    query(request) {
      const { mirror } = request.endpoint;
      return mirror === undefined ? send(request) : queryWithMirror(request, mirror, send, network.clock.now);
    },
    breakers: states.breakers,
    certificateEndMs: (url) => network.certificateEndMs(url),
    async close() {
      await network.close();
      states.close();
    },
  };
}

const settingsOf = ({ credentials, onLearned, random, maxAnswerBytes, retry }: SparqlClientOptions) => ({
  credentials,
  onLearned,
  random: random ?? Math.random,
  maxAnswerBytes: maxAnswerBytes ?? gibibyte,
  retry: { ...defaultRetry, ...retry },
});

/** The error of a query that is over by it. */
function failed(task: QueryTask, thrown: unknown): FedwayError {
  const error = task.located(toFedwayError(thrown));
  task.finish(error);
  return error;
}

/** Sends a question of ours while a query to the same endpoint keeps its slot. */
async function askBeside(
  { state, context, host, signer }: QueryTask,
  question: SparqlRequest,
  { url, route }: { readonly url: URL; readonly route: Route },
) {
  const task = new QueryTask(question, state, context);
  task.host = host;
  task.route = route;
  task.signer = signer;
  try {
    return await converse(task, url);
  } catch (thrown) {
    throw failed(task, thrown);
  }
}

/** Sends a query until it is answered, or nothing is left to try. A healthy endpoint is sent exactly one request. */
async function converse(task: QueryTask, url: URL): Promise<SparqlAnswer> {
  askAsLearned(task);
  const request = encodeRequest(task.method, url, task.request);
  if (request === undefined) throw tooLongForGet(task.request.endpoint);
  const reply = await attempt(task, request);
  if ("kind" in reply) return new Conversation(task, url).goOn(reply);
  task.state.isVerified = true;
  return reply;
}

/** Method and Accept of the first request: those that have worked. A caller that names one format wants no other. */
function askAsLearned(task: QueryTask): void {
  const { endpoint, kind, accept, columns } = task.request;
  const learned = { ...endpoint.learned, ...task.state.learned };
  task.method = endpoint.method ?? learned.method ?? "post-form";
  const given = (accept.includes(",") ? learned.accept?.[kind] : undefined) ?? accept;
  const isForAny = endpoint.formats === undefined && given === acceptFor(kind);
  const isUsual = isForAny && plainNames.test(columns?.asked.join() ?? "");
  task.accept = isUsual ? usualAccepts[kind] : soundAccept(given, task.request);
}

/** The answer is in a format in which the endpoint keeps every term; where formats were not probed: in one that no engine gets wrong. */
const isTrusted = (request: SparqlRequest, { mediaType }: SparqlAnswer): boolean =>
  (request.endpoint.formats === undefined && fullFormats[request.kind].includes(mediaType)) ||
  isSound(request, mediaType);

/** The error of a query that never becomes a task; the observer is notified, too. */
function refusedTarget(
  { message, details }: FedwayError,
  endpoint: EndpointTarget,
  observer: OutboundObserver | undefined,
): FedwayError {
  observer?.onExchange?.({ endpoint: metricName(endpoint), outcome: "address", ms: 0, wireBytes: 0, requests: 0 });
  return new FedwayError("ADDRESS_REFUSED", message, { ...details, where: { endpoint: endpoint.id ?? endpoint.url } });
}

/** @throws FedwayError `SERVICE_TARGET_REFUSED` for a query that may not ask endpoints with credentials */
function signerFor({ endpoint, budget }: SparqlRequest, url: URL, credentials: Credentials | undefined) {
  const signer = credentials?.signer(endpoint.id, url);
  if (signer !== undefined && budget?.withoutCredentials === true) throw onlyForOwnPages(endpoint);
  return signer;
}

const onlyForOwnPages = ({ id, url }: SparqlRequest["endpoint"]): FedwayError =>
  new FedwayError(
    "SERVICE_TARGET_REFUSED",
    "The endpoint needs the operator's credentials, which pages of other sites may not use.",
    {
      where: { endpoint: id ?? url },
      next: "Name the page's origin in FEDWAY_CORS_ORIGINS, or send the query from a program or a page of this service.",
    },
  );
