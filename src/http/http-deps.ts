import type { HostedEndpoint } from "../hosting/hosted-endpoint.ts";
import type { Job, JobQueue } from "../jobs/job-queue.ts";
import type { QueryService } from "../query/query-service.ts";
import type { Capabilities } from "../registry/capabilities/capabilities.ts";
import type { EditableCatalog } from "../registry/catalog/catalog.ts";
import type { Monitor, MonitorReader } from "../monitor/monitor.ts";
import type { WebhookService } from "../monitor/webhook-service.ts";
import type { LinksetService } from "../registry/void/linkset-service.ts";
import type { SearchIndex } from "../registry/search/search-index.ts";
import type { DescriptionService } from "../registry/void/description-service.ts";
import type { ShardDataset } from "../shards/finished-folder.ts";
import type { Store } from "../store/store.ts";
import type { Readiness } from "./readiness.ts";
import type { Tracer } from "../telemetry/tracing.ts";

/** The part of the configuration that the HTTP shell reads; `Config` fits. Durations in milliseconds, sizes in bytes. */
export interface HttpSettings {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Port of `/metrics` alone; undefined: they are among the other routes. */
  readonly metricsPort?: number | undefined;
  /** A worker answers about its health and nothing else; default "all". */
  readonly role?: "all" | "web" | "worker";
  /** Origin under which clients reach the service, without a trailing slash. */
  readonly publicUrl: string;
  readonly trustProxy: boolean | number | readonly string[];
  /** Bearer token of changes; "off": they are open to everybody. */
  readonly adminToken: string;
  /** Origins whose pages may read answers; "*" is any. */
  readonly corsOrigins: "*" | readonly string[];
  readonly limits: {
    readonly timeoutMs: number;
    readonly maxRows: number;
    readonly maxQueryBytes: number;
    /** Requests a minute per client; 0 is no limit. */
    readonly rateLimit: number;
  };
  /** `queries`: log lines carry the query text. */
  readonly log: { readonly queries: boolean };
}

/** Where the shell reports what it served; labels come from closed sets. */
export interface HttpMetrics {
  readonly contentType: string;
  render(): Promise<string>;
  /** `route` is the route's pattern, never a raw path. */
  observeRequest(observed: {
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly seconds: number;
  }): void;
}

/** What the log tells of a request that is over. */
export interface RequestLine {
  readonly id: string;
  readonly method: string;
  /** Pattern of the route. */
  readonly route: string;
  readonly status: number;
  /** Milliseconds, to a tenth. */
  readonly ms: number;
  /** Bytes written to the connection. */
  readonly bytes: number;
  readonly run: string | undefined;
  readonly code: string | undefined;
  /** True when the response was ended before it was complete. */
  readonly cutOff: true | undefined;
  readonly query: string | undefined;
  readonly trace: string | undefined;
}

/** What the shell tells the log. */
export interface HttpLog {
  /** Absent when such lines are not wanted. */
  request?(line: RequestLine): void;
  /** A defect, with what is known of it. */
  error(fields: object, message: string): void;
}

/** What endpoints were found to be able to do. */
export interface CapabilityReader {
  get(id: string): Promise<Capabilities | undefined>;
  /** Asks for the endpoint to be probed; a job that is under way is returned. @throws FedwayError `ENDPOINT_UNKNOWN` */
  request(id: string): Promise<Job>;
}

/** A finished file of a shard. */
export interface ShardDownload {
  readonly path: string;
  readonly fileName: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Shards: what is hosted, and building more. */
export interface ShardService {
  readonly datasets: readonly ShardDataset[];
  dataset(id: string): ShardDataset | undefined;
  endpoint(dataset: string, shard: string): HostedEndpoint | undefined;
  download(dataset: string, shard: string): ShardDownload | undefined;
  /** `report.json` of a dataset. @throws FedwayError `SHARDS_UNKNOWN` */
  report(dataset: string): Promise<unknown>;
  /** The report as an HTML page. @throws FedwayError `SHARDS_UNKNOWN` */
  reportPage(dataset: string): Promise<string>;
  /** The file of the rules with the problem they answer. @throws FedwayError `SHARDS_UNKNOWN` */
  ruleFile(dataset: string): Promise<{ readonly path: string; readonly bytes: number }>;
  /**
   * Asks for shards to be built; a job that builds the same target already is an error.
   * @throws FedwayError `REQUEST_INVALID`, `SHARDS_BUSY`, `STORE_FAILED`
   */
  build(description: unknown, options: { readonly dryRun: boolean }): Promise<Job>;
  /**
   * Asks for the shards of a dataset to be verified, hosted or not for being damaged.
   * @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_BUSY`, `STORE_FAILED`
   */
  verify(dataset: string, options: { readonly answers: boolean }): Promise<Job>;
}

/** What the HTTP shell is built from. */
export interface HttpDeps {
  readonly config: HttpSettings;
  readonly queries: QueryService;
  readonly catalog: EditableCatalog;
  readonly search: SearchIndex;
  readonly descriptions: Pick<DescriptionService, "get" | "freshness" | "request">;
  readonly capabilities: CapabilityReader;
  readonly linksets: Pick<LinksetService, "request">;
  readonly monitor: MonitorReader & Pick<Monitor, "addMaintenance" | "removeMaintenance">;
  readonly jobs: Pick<JobQueue, "get" | "list" | "cancel" | "watch">;
  readonly webhooks: Pick<WebhookService, "dead" | "redeliver">;
  /** @throws FedwayError `SNAPSHOT_IMPLAUSIBLE`, `STORE_FAILED` */
  readonly publishSnapshot: (options: { readonly reviewed: boolean }) => Promise<object>;
  /** Endpoint hosted by this process. */
  readonly hosted: (id: string) => HostedEndpoint | undefined;
  /** Where several processes keep count of their clients together; absent: this one is alone. */
  readonly sharedStore?: Pick<Store, "get" | "put"> | undefined;
  /** Absent: none are hosted here. */
  readonly shards?: ShardService;
  readonly metrics: HttpMetrics;
  readonly ready: () => Readiness;
  readonly version: string;
  /** Milliseconds since the epoch, for pages that show spans of time up to now; the system's clock when absent. */
  readonly now?: () => number;
  readonly logger?: HttpLog;
  /** Makes one span of each request; absent: none. */
  readonly tracer?: Tracer | undefined;
}
