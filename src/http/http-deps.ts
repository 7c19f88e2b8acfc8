import type { Registry } from "../registry/registry.ts";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type * as RDF from "@rdfjs/types";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { ToolProfile } from "../agent/tool.ts";
import type { AskAgent } from "../agent/ask/ask-agent.ts";
import type { Toolbox } from "../agent/toolbox.ts";
import type { ClientKeys } from "../clients/client-keys.ts";
import type { Quotas } from "../clients/quotas.ts";
import type { Config } from "../config/config.ts";
import type { HostedEndpoint } from "../hosting/hosted-endpoint.ts";
import type { JobQueue } from "../jobs/job-queue.ts";
import type { McpHttpHandler } from "../mcp/http-handler.ts";
import type { Monitor } from "../monitor/create-monitor.ts";
import type { MonitorReader } from "../monitor/monitor.ts";
import type { WebhookService } from "../monitor/receivers/webhooks.ts";
import type { QueryService } from "../query/query-service.ts";
import type { CapabilityService } from "../registry/capabilities.ts";
import type { AcceptedAdapter, EditableCatalog } from "../registry/catalog.ts";
import type { Finder } from "../registry/find.ts";
import type { EndpointModels } from "../registry/model.ts";
import type { DescriptionService } from "../registry/descriptions.ts";
import type { HttpLog } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracer } from "../telemetry/tracing.ts";
import type { Watches } from "../watch/create-watches.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { SendProblem } from "./problem-reply.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import type { Readiness } from "./readiness.ts";

type Settings =
  | "host"
  | "port"
  | "metricsPort"
  | "role"
  | "publicUrl"
  | "allowedHosts"
  | "trustProxy"
  | "corsOrigins"
  | "contact";
type ClientSettings = "anonymous" | "clientHeader" | "clientHeaderRole";
type Limits =
  | "timeoutMs"
  | "maxRows"
  | "maxQueryBytes"
  | "bodyBytes"
  | "bodyTimeoutMs"
  | "rateLimit"
  | "hostRate"
  | "endpointConcurrency";

/** The part of the configuration that the HTTP shell reads. */
export interface HttpSettings extends Pick<Config, Settings | ClientSettings> {
  /** Bearer token of changes; "off": they are open to everybody. */
  readonly adminToken: string;
  /** Bearer token of `/mcp`; absent: it is open to everybody. */
  readonly mcpToken?: string | undefined;
  readonly limits: Pick<Config["limits"], Limits>;
  readonly chat?: Pick<Config["chat"], "timeoutMs">;
  readonly log: Pick<Config["log"], "queries">;
}

/** Keys of an endpoint and of another one: IRIs of properties or classes. */
interface AdapterWanted {
  readonly endpoint: string;
  readonly key: string;
  readonly other: string;
  readonly otherKey: string;
  readonly signal: AbortSignal;
  readonly owner: string;
}

/** Parts of the HTTP shell. */
export interface HttpDeps {
  readonly config: HttpSettings;
  readonly queries: QueryService;
  readonly catalog: EditableCatalog;
  readonly finder: Finder;
  readonly models: EndpointModels;
  readonly descriptions: Pick<DescriptionService, "get" | "begun" | "freshness" | "request">;
  readonly capabilities: Pick<CapabilityService, "get" | "request">;
  readonly linksets: Pick<Registry["linksets"], "request">;
  /** Finds, verifies and keeps how keys of two endpoints are joined. */
  readonly acceptAdapter: (request: AdapterWanted) => Promise<AcceptedAdapter>;
  readonly monitor: MonitorReader & Pick<Monitor, "addMaintenance" | "removeMaintenance">;
  readonly jobs: Pick<JobQueue, "get" | "list" | "cancel" | "watch">;
  readonly watches: Omit<Watches, "kinds" | "schedule" | "follow">;
  readonly webhooks: Pick<WebhookService, "dead" | "redeliver" | "mutes">;
  /** @throws FedwayError `SNAPSHOT_IMPLAUSIBLE`, `STORE_FAILED` */
  readonly publishSnapshot: (options: { readonly reviewed: boolean }) => Promise<object>;
  /** Endpoint hosted by this process. */
  readonly hosted: (id: string) => HostedEndpoint | undefined;
  /** The registry as one RDF dataset, and Fedway's own terms. */
  readonly dataset: { readonly endpoint: HostedEndpoint; readonly vocabulary: () => readonly RDF.Quad[] };
  /** Named clients and their keys. */
  readonly clients: ClientKeys;
  readonly quotas: Pick<Quotas, "use" | "admit" | "settle">;
  /** Limits of clients; absent: none. */
  readonly limiter?: RateLimiter | undefined;
  /** Routes of plugins. */
  readonly routes?: readonly PluginRoutes[] | undefined;
  /** Absent: there are no tools of agents here. */
  readonly toolbox?: ((profile?: ToolProfile) => Toolbox) | undefined;
  /** Loads what answers at `/mcp`; absent: nothing does. */
  readonly mcp?: (() => Promise<McpHttpHandler>) | undefined;
  /** Absent: no model is configured. */
  readonly ask?: AskAgent | undefined;
  readonly metrics: Pick<Metrics, "contentType" | "render" | "observeRequest">;
  readonly ready: () => Readiness;
  readonly version: string;
  /** Milliseconds since the epoch, for pages that show spans of time up to now; the system's clock when absent. */
  readonly now?: () => number;
  readonly logger?: HttpLog;
  /** Makes one span of each request; absent: none. */
  readonly tracer?: Tracer | undefined;
}

/** Parts that the routes need. */
export interface HttpShell extends HttpDeps {
  readonly view: CatalogView;
  readonly sendProblem: SendProblem;
  /** Origin under which clients reach the service; the bound port replaces a port of 0. */
  readonly publicUrl: () => string;
}

/** Routes that a plugin brings. */
export interface PluginRoutes {
  /** Section of the API's documentation. */
  readonly tag?: { readonly name: string; readonly description: string };
  /** A page that home links to. */
  readonly page?: { readonly path: string; readonly text: string };
  readonly addRoutes: (app: TypedApp, shell: HttpShell) => void;
  /** Adds routes of the SPARQL Protocol, in whose scope bodies are read as the protocol has them. */
  readonly addSparqlRoutes?: (scope: TypedApp, shell: HttpShell) => void;
}

/** App that routes are added to: their schemas type the requests. */
export type TypedApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
