import type { Config } from "../config/config.ts";
import { packageVersion } from "../config/version.ts";
import { createRequestSpans } from "../telemetry/request-spans.ts";
import type { Tracer } from "../telemetry/tracing.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import {
  createSparqlClient,
  type GuardedSparqlClient,
  openClientNetwork,
  type SparqlClientOptions,
} from "../outbound/client.ts";
import { createDocumentClient, type DocumentClient } from "../outbound/documents.ts";
import type { ExchangeReport, TransportObserver } from "../outbound/observer.ts";
import type { LocalDispatch } from "../outbound/sparql-client.ts";
import { createWebhookClient, type WebhookClient } from "../outbound/webhook-client.ts";
import { createAsker, type TransportAsker } from "../outbound/whole-answer.ts";
import { steadyClock } from "../clock.ts";

/** Everything that leaves the service goes through these. */
export interface Clients {
  readonly sparql: GuardedSparqlClient;
  readonly documents: DocumentClient;
  readonly asker: TransportAsker;
  readonly webhooks: WebhookClient;
  close(): Promise<void>;
}

/** Who hears of what goes out. */
export interface ClientObservers {
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

function observerOf({ metrics, tracer, onTraffic }: ClientObservers): TransportObserver {
  return {
    onExchange(exchange) {
      metrics?.observeExchange(exchange);
      if (exchange.probe !== true) onTraffic?.(exchange);
    },
    onBreaker: ({ endpoint, state }) => metrics?.setBreaker(endpoint, state),
    ...(tracer && { onRequest: createRequestSpans(tracer) }),
  };
}
