import { EndpointPool } from "../hosting/endpoint-pool.ts";
import type { ExampleFederation } from "../hosting/examples/example-federation.ts";
import type { HostedEndpoint } from "../hosting/hosted-endpoint.ts";
import type { HostedShards } from "./shards.ts";
import { type Config, packageVersion } from "../config/config.ts";
import { createRequestSpans, type Tracer } from "../telemetry/tracing.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import {
  createSparqlClient,
  type GuardedSparqlClient,
  openClientNetwork,
  type SparqlClientOptions,
} from "../outbound/client.ts";
import { createDocumentClient, type DocumentClient } from "../outbound/documents.ts";
import type { ExchangeReport, OutboundObserver } from "../outbound/observer.ts";
import type { LocalDispatch } from "../outbound/sparql-client.ts";
import { createWebhookClient, type WebhookClient } from "../outbound/webhook-client.ts";
import { createAsker, type OutboundAsker } from "../outbound/whole-answer.ts";
import { steadyClock } from "../clock.ts";
import type { Logger } from "pino";
import { createEvaluators, type Evaluators } from "../engine/evaluators/create-evaluators.ts";

/** Everything that leaves the service goes through these. */
export interface Clients {
  readonly sparql: GuardedSparqlClient;
  readonly documents: DocumentClient;
  readonly asker: OutboundAsker;
  readonly webhooks: WebhookClient;
  close(): Promise<void>;
}

/** Who hears of what goes out. */
interface ClientObservers {
  readonly metrics?: Metrics;
  readonly tracer?: Tracer | undefined;
  /** Hears of every query to an endpoint but the monitor's own. */
  readonly onTraffic?: (report: ExchangeReport) => void;
}

/** Endpoints that are remembered with their circuit breakers, so that a large catalogue has room. */
const maxEndpoints = 10_000;

/** The outbound clients, under the limits of the configuration. @throws FedwayError `CONFIG_INVALID` */
export function openClients(config: Config, local: LocalDispatch, observers: ClientObservers = {}): Clients {
  const { contact, allowAddresses, limits } = config;
  const options: SparqlClientOptions = {
    version: packageVersion(),
    contact,
    allowAddresses,
    clock: steadyClock,
    hostRate: { perSecond: limits.hostRate, burst: 2 * limits.hostRate },
    maxAnswerBytes: limits.maxAnswerBytes,
    endpointConcurrency: limits.endpointConcurrency,
    maxEndpoints,
    local,
    observer: observerOf(observers),
  };
  const network = openClientNetwork(options);
  const sparql = createSparqlClient(options, network);
  const documents = createDocumentClient(options, network);
  return {
    sparql,
    documents,
    asker: createAsker({ client: sparql, documents, clock: steadyClock }),
    webhooks: createWebhookClient(options, network),
    close: () => sparql.close(),
  };
}

function observerOf({ metrics, tracer, onTraffic }: ClientObservers): OutboundObserver {
  return {
    onExchange(exchange) {
      metrics?.observeExchange(exchange);
      if (exchange.probe !== true) onTraffic?.(exchange);
    },
    onBreaker: ({ endpoint, state }) => metrics?.setBreaker(endpoint, state),
    ...(tracer && { onRequest: createRequestSpans(tracer) }),
  };
}

/** What the evaluators are wired with. */
interface EvaluatorParts {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clients: Clients;
}

/** The processes that evaluate federated queries, under the limits of the configuration. */
export function openEvaluators({ config: { limits }, log, metrics, clients }: EvaluatorParts): Evaluators {
  const evaluators = createEvaluators({
    processes: limits.evaluators,
    memoryMb: limits.evaluatorMemoryMb,
    maxRunning: limits.maxEvaluations,
    limits: { maxSolutions: limits.maxSolutions, maxHeldBytes: limits.maxHeldBytes },
    world: { client: clients.sparql, documents: clients.documents, now: steadyClock.now },
    onEnd({ reason, detail }) {
      metrics.observeEvaluatorEnd(reason);
      log.error({ reason, detail }, "an evaluator process ended; another one takes its place");
    },
  });
  metrics.watchEvaluators(() => evaluators.usage);
  return evaluators;
}

/** This service's own `/hosted/{id}/sparql` and shard URLs are answered in-process; the catalogue names them by the public URL. */
export function localDispatch(
  { publicUrl }: Config,
  examples: ExampleFederation | undefined,
  shards: HostedShards,
): LocalDispatch {
  const hosted = new Map<string, HostedEndpoint>();
  for (const [id, endpoint] of examples ?? []) hosted.set(`${publicUrl}/hosted/${id}/sparql`, endpoint);
  return (url) => {
    const endpoint = hosted.get(url);
    return endpoint ? (query) => endpoint.query(query) : shards.local(url);
  };
}

/** The one pool of all endpoints that this process hosts, examples and shards. */
export const openHosting = ({ limits }: Pick<Config, "limits">): EndpointPool =>
  new EndpointPool({
    timeoutMs: limits.hostedTimeoutMs,
    totalMb: limits.hostedTotalMb,
    maxAnswerBytes: 64 * 1024 * 1024,
    maxWaiting: 256,
    maxPerClient: 32,
  });
