import { installedModel } from "../embeddings/install-model.ts";
import { openEmbedder } from "../embeddings/open-embedder.ts";
import { EndpointPool } from "../hosting/endpoint-pool.ts";
import type { ExampleFederation } from "../hosting/example-federation.ts";
import type { HostedEndpoint } from "../hosting/hosted-endpoint.ts";
import type { Config } from "../config/config.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { packageVersion } from "../package-file.ts";
import { createRequestSpans, type Tracer, type Tracing } from "../telemetry/tracing.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { embeddingsFolder } from "./install-embeddings.ts";
import type { AddressGuard } from "../outbound/address-guard.ts";
import { createSparqlClient, openClientNetwork, type SparqlClientOptions } from "../outbound/client.ts";
import { createDocumentClient } from "../outbound/documents.ts";
import type { ExchangeReport, OutboundObserver } from "../outbound/observer.ts";
import { splitGraphs } from "../sparql/default-graphs.ts";
import type { LocalDispatch } from "../outbound/local-answer.ts";
import type { CredentialFile } from "../outbound/credential-file.ts";
import { createCredentials, type Credentials } from "../outbound/credentials.ts";
import { createJsonClient, type JsonClient } from "../outbound/json-client.ts";
import { createAsker } from "../outbound/whole-answer.ts";
import { steadyClock } from "../clock.ts";
import type { Logger } from "pino";

/** Observers of outbound requests. */
interface ClientObservers {
  readonly metrics?: Metrics;
  readonly tracer?: Tracer | undefined;
  /** Called after every query to an endpoint but the monitor's own. */
  readonly onTraffic?: (report: ExchangeReport) => void;
  /** The credentials of endpoints, and the URL that a file of the catalogue gives one of them. */
  readonly credentials?: CredentialFile | undefined;
  readonly fileUrl?: (id: string) => string | undefined;
  readonly operatorUrl?: SparqlClientOptions["operatorUrl"];
  readonly log?: Pick<Logger, "info" | "warn">;
  /** Called when requests show how an endpoint must be asked. */
  readonly onLearned?: SparqlClientOptions["onLearned"];
}

/** Endpoints that are remembered with their circuit breakers, so that a large catalogue has room. */
const maxEndpoints = 10_000;

/** Everything that leaves the service goes through these. */
export type Clients = ReturnType<typeof openClients>;

/** The outbound clients, under the limits of the configuration. @throws FedwayError `CONFIG_INVALID` */
export function openClients(config: Config, local: LocalDispatch, observers: ClientObservers = {}) {
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
    operatorUrl: observers.operatorUrl,
    observer: observerOf(observers),
    onLearned: observers.onLearned,
  };
  const network = openClientNetwork(options);
  refuseSettings(config, network.operators.guard);
  const json = createJsonClient(options, network);
  const credentials = signing(observers, json);
  const following = observers.log && observers.credentials?.follow({ clock: steadyClock, log: observers.log });
  const sparql = createSparqlClient({ ...options, credentials }, network);
  const documents = createDocumentClient({ ...options, credentials }, network);
  const { source = installedModel(embeddingsFolder(config)) } = config.embeddings;
  const embedder = openEmbedder({ ...config.embeddings, source }, json);
  return {
    sparql,
    documents,
    asker: createAsker({ client: sparql, documents, clock: steadyClock }),
    json,
    /** Undefined: search knows words alone. */
    embedder,
    async close(): Promise<void> {
      await Promise.all([sparql.close(), embedder?.close(), following?.stop()]);
    },
  };
}

/** @throws FedwayError `CONFIG_INVALID` for a setting with an address that would be refused whenever it is used */
function refuseSettings({ chat, embeddings, monitor }: Config, guard: AddressGuard): void {
  const models = [
    ["FEDWAY_CHAT", chat.url],
    ["FEDWAY_EMBEDDINGS", embeddings.source],
  ] as const;
  const receivers = monitor.webhooks.map((url) => ["FEDWAY_WEBHOOKS", url] as const);
  for (const [setting, url] of [...models, ...receivers]) {
    const refused = url !== undefined && /^https?:/iu.test(url) ? guard.refuseUrl(url) : undefined;
    if (refused === undefined) continue;
    // Without the URL: a receiver's may hold a key.
    throw new FedwayError("CONFIG_INVALID", `${setting} names an address that Fedway may not connect to.`, {
      next: refused.details.next,
    });
  }
}

/** Adds their credentials to the requests of endpoints. */
function signing({ credentials: file, fileUrl, log }: ClientObservers, json: JsonClient): Credentials | undefined {
  if (file === undefined) return undefined;
  const known = new Set<string>();
  return createCredentials({
    file,
    fileUrl: fileUrl ?? (() => undefined),
    post: (request) => json.post(request),
    clock: steadyClock,
    onWithheld(id) {
      if (!known.has(id)) log?.warn({ endpoint: id }, notSent);
      known.add(id);
    },
  });
}

const notSent =
  'credentials were not sent: the URL of the endpoint has another origin than its catalogue file; if it may get them, set "origin" in the file of FEDWAY_CREDENTIALS';

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

/**
 * This service's own `/hosted/{id}/sparql`, `/registry/sparql` and shard URLs are answered in-process; the catalogue names them by
 * the public URL.
 */
export function localDispatch(
  { publicUrl }: Config,
  examples: ExampleFederation | undefined,
  {
    registry,
    shards,
  }: { readonly registry?: () => HostedEndpoint | undefined; readonly shards?: LocalDispatch | undefined } = {},
): LocalDispatch {
  const registryUrl = `${publicUrl}/registry/sparql`;
  const hosted = new Map<string, HostedEndpoint>();
  for (const [id, endpoint] of examples ?? []) hosted.set(`${publicUrl}/hosted/${id}/sparql`, endpoint);
  return (url) => {
    const { bare } = splitGraphs(url);
    return hosted.get(bare) ?? (bare === registryUrl ? registry?.() : shards?.(bare));
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

/** The tracer, loaded only where traces are wanted. */
export async function openTracing({ otlpEndpoint: endpoint }: Config): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined;
  const { createOtlpTracing } = await import("../telemetry/otlp-tracing.ts");
  return createOtlpTracing({ endpoint, version: packageVersion() });
}
