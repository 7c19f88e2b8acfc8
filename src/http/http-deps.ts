import type { HostedEndpoint } from "../hosting/hosted-endpoint.ts";
import type { QueryService } from "../query/query-service.ts";
import type { Catalog } from "../registry/catalog.ts";

/** The part of the configuration that the HTTP shell reads; `Config` fits. Durations in milliseconds, sizes in bytes. */
export interface HttpSettings {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Origin under which clients reach the service, without a trailing slash. */
  readonly publicUrl: string;
  readonly trustProxy: boolean | number | readonly string[];
  readonly limits: {
    readonly timeoutMs: number;
    readonly maxRows: number;
    readonly maxQueryBytes: number;
    /** Requests a minute per client; 0 is no limit. */
    readonly rateLimit: number;
    readonly hostedTimeoutMs: number;
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

/** Structured log, as pino writes it. */
export interface HttpLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Whether the service can answer queries now, with one entry a thing that was looked at. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>;
}

/** What the HTTP shell is built from. */
export interface HttpDeps {
  readonly config: HttpSettings;
  readonly queries: QueryService;
  readonly catalog: Catalog;
  /** Endpoint hosted by this process. */
  readonly hosted: (id: string) => HostedEndpoint | undefined;
  readonly metrics: HttpMetrics;
  readonly ready: () => Readiness;
  readonly version: string;
  readonly logger?: HttpLog;
}
