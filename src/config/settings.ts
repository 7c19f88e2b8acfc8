import { agentSettings, chatSettings, embeddingSettings } from "./agent-settings.ts";
import { monitorSettings } from "./monitor-settings.ts";
import {
  adminToken,
  bytes,
  cidrs,
  flag,
  folders,
  httpUrl,
  integer,
  oneOf,
  optionalInteger,
  optionalText,
  origins,
  redisUrl,
  text,
  trustProxy,
  type SettingTree,
} from "./setting-parsers.ts";

const hour = 3_600_000;

/**
 * Every variable that Fedway reads, in the order of the documentation; nothing else in the environment changes what it does.
 * The configuration has the same shape and names.
 */
export const settings = {
  host: {
    name: "HOST",
    default: "127.0.0.1",
    meaning: "Address to listen on; 0.0.0.0 or :: for all.",
    ...text("a host name or an address"),
  },
  port: { name: "PORT", default: "3000", meaning: "Port to listen on; 0 picks a free one.", ...integer(0, 65_535) },
  metricsPort: {
    name: "FEDWAY_METRICS_PORT",
    default: "",
    meaning: "Port of /metrics alone, for those who may see them; on PORT with all else when unset.",
    ...optionalInteger(1, 65_535),
  },
  catalogDir: {
    name: "FEDWAY_CATALOG",
    default: "./catalog",
    meaning: "Folder of Turtle files, one endpoint a file.",
    ...text("a folder"),
  },
  dataDir: {
    name: "FEDWAY_DATA_DIR",
    default: "./.fedway",
    meaning: "Folder of the service's state; one process holds it.",
    ...text("a folder"),
  },
  redisUrl: {
    name: "REDIS_URL",
    default: "",
    meaning: "Redis that keeps the state instead of the data folder, such as redis://127.0.0.1:6379/0.",
    ...redisUrl,
  },
  adminToken: {
    name: "FEDWAY_ADMIN_TOKEN",
    default: "",
    meaning:
      "Bearer token that every change needs; when unset one is made and kept in FEDWAY_DATA_DIR/admin-token; off opens changes to everybody.",
    ...adminToken,
  },
  publicUrl: {
    name: "FEDWAY_PUBLIC_URL",
    default: "",
    meaning: "URL under which clients reach this service; http://HOST:PORT when unset.",
    ...httpUrl,
  },
  corsOrigins: {
    name: "FEDWAY_CORS_ORIGINS",
    default: "*",
    meaning: "Origins, separated by commas, whose pages may read answers in a browser; * is any, off is none.",
    ...origins,
  },
  examples: { name: "FEDWAY_EXAMPLES", default: "on", meaning: "Host the example federation.", ...flag },
  shards: {
    name: "FEDWAY_SHARDS",
    default: "",
    meaning: "Folders of finished shards, separated by commas, hosted beside those in FEDWAY_DATA_DIR/shards.",
    ...folders,
  },
  role: {
    name: "ROLE",
    default: "all",
    meaning: "What this process does: web answers requests, worker runs jobs and probes, all does both.",
    ...oneOf("all", "web", "worker"),
  },
  drainMs: {
    name: "FEDWAY_DRAIN_MS",
    default: "0",
    meaning: "How long readiness is refused before the service stops listening, so that load balancers notice.",
    ...integer(0, 300_000),
  },
  monitor: monitorSettings,
  otlpEndpoint: {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    default: "",
    meaning: "OpenTelemetry collector that traces are sent to, such as http://127.0.0.1:4318; no traces when unset.",
    ...httpUrl,
  },
  egress: {
    name: "FEDWAY_EGRESS",
    default: "catalog",
    meaning: "SERVICE targets that are allowed: endpoints of the catalogue, or any public address.",
    ...oneOf("catalog", "public"),
  },
  allowAddresses: {
    name: "FEDWAY_ALLOW_ADDRESSES",
    default: "",
    meaning: "Address ranges that may be dialled although they are private.",
    ...cidrs,
  },
  trustProxy: { name: "FEDWAY_TRUST_PROXY", default: "off", meaning: "Trusted proxies.", ...trustProxy },
  contact: {
    name: "FEDWAY_CONTACT",
    default: "",
    meaning: "Address or URL of the operator, sent in the User-Agent.",
    ...optionalText("printable text"),
  },
  limits: {
    timeoutMs: {
      name: "FEDWAY_TIMEOUT_MS",
      default: "60000",
      meaning: "Time limit of one query, in milliseconds.",
      ...integer(1, 24 * hour),
    },
    maxRows: {
      name: "FEDWAY_MAX_ROWS",
      default: "10000",
      meaning: "Most rows of one /api/query answer.",
      ...integer(1, 100_000_000),
    },
    maxSolutions: {
      name: "FEDWAY_MAX_SOLUTIONS",
      default: "500000",
      meaning:
        "Most solutions that one federated query may take in from its endpoints; its joins may make four times as many.",
      ...integer(1, 100_000_000),
    },
    evaluators: {
      name: "FEDWAY_EVALUATORS",
      default: "2",
      meaning: "Processes in which federated queries are evaluated.",
      ...integer(1, 64),
    },
    evaluatorMemoryMb: {
      name: "FEDWAY_EVALUATOR_MEMORY_MB",
      default: "512",
      meaning: "Heap of each of these processes, in MiB; a query that needs more ends with an error.",
      ...integer(128, 1_048_576),
    },
    maxEvaluations: {
      name: "FEDWAY_MAX_EVALUATIONS",
      default: "64",
      meaning: "Federated queries that are evaluated at once; others wait, and clients take turns.",
      ...integer(1, 100_000),
    },
    maxHeldBytes: {
      name: "FEDWAY_MAX_HELD_BYTES",
      default: "128 MiB",
      meaning:
        "Most that one federated query may hold at once for ORDER BY, GROUP BY, DISTINCT and joins, estimated in bytes.",
      ...bytes(1024, 2 ** 36),
    },
    maxQueryBytes: {
      name: "FEDWAY_MAX_QUERY_BYTES",
      default: "1 MiB",
      meaning: "Size limit of one query text.",
      ...bytes(1024, 2 ** 28),
    },
    maxAnswerBytes: {
      name: "FEDWAY_MAX_ANSWER_BYTES",
      default: "2 GiB",
      meaning: "Size limit of one endpoint's decoded answer.",
      ...bytes(1024, 2 ** 42),
    },
    maxConcurrent: {
      name: "FEDWAY_MAX_CONCURRENT",
      default: "200",
      meaning: "Queries that may run at once; five times as many may wait, up to 3 s, and others are refused.",
      ...integer(1, 100_000),
    },
    endpointConcurrency: {
      name: "FEDWAY_ENDPOINT_CONCURRENCY",
      default: "16",
      meaning: "Requests that may run at once at one endpoint.",
      ...integer(1, 10_000),
    },
    hostRate: {
      name: "FEDWAY_HOST_RATE",
      default: "20",
      meaning: "Requests a second sent to one public host, with bursts of twice that; 0 is no limit.",
      ...integer(0, 1_000_000),
    },
    rateLimit: {
      name: "FEDWAY_RATE_LIMIT",
      default: "0",
      meaning: "Requests a minute per client, at all processes together with REDIS_URL; 0 is no limit.",
      ...integer(0, 1_000_000),
    },
    hostedTimeoutMs: {
      name: "FEDWAY_HOSTED_TIMEOUT_MS",
      default: "10000",
      meaning: "Time limit of a query at a hosted endpoint.",
      ...integer(1, hour),
    },
    hostedMemoryMb: {
      name: "FEDWAY_HOSTED_MEMORY_MB",
      default: "128",
      meaning: "Memory that a query at a hosted endpoint may need beside the endpoint's data, in MiB.",
      ...integer(16, 4_096),
    },
    hostedTotalMb: {
      name: "FEDWAY_HOSTED_TOTAL_MB",
      default: "768",
      meaning: "Memory of all hosted endpoints together, in MiB; queries that find none left wait.",
      ...integer(128, 1_048_576),
    },
    shardSliceBytes: {
      name: "FEDWAY_SHARD_SLICE_BYTES",
      default: "128 MiB",
      meaning: "With REDIS_URL: inputs of a shard build beyond this size are read in parts of it, by all workers.",
      ...bytes(1024, 2 ** 42),
    },
    shardMemoryMb: {
      name: "FEDWAY_SHARD_MEMORY_MB",
      default: "1024",
      meaning: "Memory limit (JavaScript heap) of the process that builds or verifies shards, in MiB.",
      ...integer(32, 1_048_576),
    },
    runs: {
      name: "FEDWAY_RUNS",
      default: "1000",
      meaning:
        "Run records that each process keeps for /api/runs/{id}; with REDIS_URL any process gives them, for an hour.",
      ...integer(1, 1_000_000),
    },
  },
  agents: agentSettings,
  embeddings: embeddingSettings,
  chat: chatSettings,
  log: {
    level: {
      name: "FEDWAY_LOG_LEVEL",
      default: "info",
      meaning: "Least severe log lines that are written.",
      ...oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    },
    queries: {
      name: "FEDWAY_LOG_QUERIES",
      default: "off",
      meaning: "Write query texts, with their literals, to the log.",
      ...flag,
    },
  },
} satisfies SettingTree;
