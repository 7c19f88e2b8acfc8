/** Everything the environment decides, in one frozen value. Durations in milliseconds, sizes in bytes. */
export interface Config {
  /** `HOST` */
  readonly host: string;
  /** `PORT`; 0 picks a free one. */
  readonly port: number;
  /** `FEDWAY_METRICS_PORT`: port of `/metrics` alone; undefined: on `PORT` with all else. */
  readonly metricsPort: number | undefined;
  /** `FEDWAY_CATALOG`: folder of Turtle files, one endpoint a file. */
  readonly catalogDir: string;
  /** `FEDWAY_DATA_DIR`: folder of the service's state, held by one process. */
  readonly dataDir: string;
  /** `REDIS_URL`: keeps the state there instead; undefined: in the data folder. */
  readonly redisUrl: string | undefined;
  /** `FEDWAY_ADMIN_TOKEN`: bearer token of changes; undefined: the first start makes one; "off": they are open to all. */
  readonly adminToken: string | undefined;
  /** `FEDWAY_PUBLIC_URL` without a trailing slash; default `http://HOST:PORT` (127.0.0.1 when HOST is a wildcard). */
  readonly publicUrl: string;
  /** `FEDWAY_CORS_ORIGINS`: origins whose pages may read answers; "*" is any. */
  readonly corsOrigins: "*" | readonly string[];
  /** `FEDWAY_EXAMPLES`: host the example federation. */
  readonly examples: boolean;
  /** `FEDWAY_SHARDS`: folders of finished shards, beside those in the data folder. */
  readonly shards: readonly string[];
  /** `FEDWAY_EGRESS`: which SERVICE targets are allowed. */
  readonly egress: "catalog" | "public";
  /** `FEDWAY_ALLOW_ADDRESSES`: CIDRs that may be dialled although they are not global. */
  readonly allowAddresses: readonly string[];
  /** `FEDWAY_TRUST_PROXY`: number of proxies, or CIDRs, whose forwarding headers are believed. */
  readonly trustProxy: boolean | number | readonly string[];
  /** `FEDWAY_CONTACT`: address or URL in the outbound User-Agent. */
  readonly contact: string | undefined;
  /** `ROLE`: `web` answers requests, `worker` runs jobs and probes; both share their state in Redis. */
  readonly role: "all" | "web" | "worker";
  /** `FEDWAY_DRAIN_MS`: time between "not ready" and the end of listening. */
  readonly drainMs: number;
  readonly monitor: MonitorConfig;
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: base URL of a collector; undefined: no traces. */
  readonly otlpEndpoint: string | undefined;
  readonly limits: Limits;
  readonly log: LogConfig;
}

/** Probes, incidents and who is told of them. */
export interface MonitorConfig {
  /** `FEDWAY_MONITOR` */
  readonly enabled: boolean;
  /** `FEDWAY_PROBE_EVERY_MS` */
  readonly everyMs: number;
  /** `FEDWAY_PROBE_JITTER` as a share, 0 to 0.5. */
  readonly jitter: number;
  /** `FEDWAY_INCIDENT_AFTER`: faults in a row. */
  readonly incidentAfter: number;
  /** `FEDWAY_RECOVERED_AFTER`: good probes in a row. */
  readonly recoveredAfter: number;
  /** `FEDWAY_WEBHOOKS` */
  readonly webhooks: readonly string[];
  /** `FEDWAY_WEBHOOK_SECRET`; there whenever there are webhooks. */
  readonly webhookSecret: string | undefined;
}

/** `FEDWAY_*` limits. */
export interface Limits {
  /** `FEDWAY_TIMEOUT_MS`: one deadline a query. */
  readonly timeoutMs: number;
  /** `FEDWAY_MAX_ROWS`: rows of `/api/query`. */
  readonly maxRows: number;
  /** `FEDWAY_MAX_SOLUTIONS`: solutions that one federated query may take in; its joins may make four times as many. */
  readonly maxSolutions: number;
  /** `FEDWAY_MAX_HELD_BYTES`: most that the operators of one federated query may hold at once, estimated. */
  readonly maxHeldBytes: number;
  /** `FEDWAY_EVALUATORS`: processes that evaluate federated queries. */
  readonly evaluators: number;
  /** `FEDWAY_EVALUATOR_MEMORY_MB`: heap of each. */
  readonly evaluatorMemoryMb: number;
  /** `FEDWAY_MAX_EVALUATIONS`: evaluations under way at once, in all of them. */
  readonly maxEvaluations: number;
  /** `FEDWAY_MAX_QUERY_BYTES`: size of one query text. */
  readonly maxQueryBytes: number;
  /** `FEDWAY_MAX_ANSWER_BYTES`: decoded bytes of one upstream answer. */
  readonly maxAnswerBytes: number;
  /** `FEDWAY_MAX_CONCURRENT`: queries under way at once. */
  readonly maxConcurrent: number;
  /** `FEDWAY_ENDPOINT_CONCURRENCY`: requests under way at once per endpoint. */
  readonly endpointConcurrency: number;
  /** `FEDWAY_HOST_RATE`: requests sent a second to one public host; 0 is no limit. */
  readonly hostRate: number;
  /** `FEDWAY_RATE_LIMIT`: requests a minute per client; 0 is no limit. */
  readonly rateLimit: number;
  /** `FEDWAY_HOSTED_TIMEOUT_MS`: time cap of one query at a hosted endpoint. */
  readonly hostedTimeoutMs: number;
  /** `FEDWAY_HOSTED_MEMORY_MB`: memory for the queries of one hosted endpoint, beside its data. */
  readonly hostedMemoryMb: number;
  /** `FEDWAY_HOSTED_TOTAL_MB`: memory of all hosted endpoints together. */
  readonly hostedTotalMb: number;
  /** `FEDWAY_SHARD_SLICE_BYTES`: bytes of a build's inputs that one worker reads, where several can. */
  readonly shardSliceBytes: number;
  /** `FEDWAY_SHARD_MEMORY_MB`: JavaScript heap of the process of one shard build or verification. */
  readonly shardMemoryMb: number;
  /** `FEDWAY_RUNS`: run records kept. */
  readonly runs: number;
}

/** `FEDWAY_LOG_LEVEL`, `FEDWAY_LOG_QUERIES`. */
export interface LogConfig {
  readonly level: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
  /** Log query texts with their literals; off by default. */
  readonly queries: boolean;
}
