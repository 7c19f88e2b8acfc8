import { agentSettings, chatSettings, embeddingSettings } from "./agent-settings.ts";
import { limitSettings } from "./limit-settings.ts";
import { monitorSettings } from "./monitor-settings.ts";
import {
  adminToken,
  cidrs,
  flag,
  flagOr,
  foldersOrOff,
  httpUrl,
  hostNames,
  publicUrl,
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
    default: "",
    meaning:
      "Folder of Turtle files, one endpoint a file; unset: ./catalog, or the catalogue that comes with Fedway where there is no such folder.",
    ...optionalText("a folder"),
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
  anonymous: {
    name: "FEDWAY_ANONYMOUS",
    default: "query",
    meaning: "What callers without a key may do: query endpoints, read the catalogue and state, or none of it.",
    ...oneOf("query", "read", "none"),
  },
  clientHeader: {
    name: "FEDWAY_CLIENT_HEADER",
    default: "",
    meaning:
      "Header in which a proxy names the client, such as X-Auth-Request-Email; only from the addresses in FEDWAY_TRUST_PROXY.",
    ...optionalText("the name of a header"),
  },
  clientHeaderRole: {
    name: "FEDWAY_CLIENT_HEADER_ROLE",
    default: "query",
    meaning: "Role of clients that a proxy names.",
    ...oneOf("read", "query", "write", "admin"),
  },
  clientKey: {
    name: "FEDWAY_KEY",
    default: "",
    meaning: "API key that the command line sends to the service it asks.",
    ...optionalText("an API key"),
    secret: true,
  },
  publicUrl: {
    name: "FEDWAY_PUBLIC_URL",
    default: "",
    meaning:
      "URL under which clients reach this service, such as https://example.org/fedway behind a proxy; http://HOST:PORT when unset.",
    ...publicUrl,
  },
  allowedHosts: {
    name: "FEDWAY_ALLOWED_HOSTS",
    default: "",
    meaning:
      "Host names, separated by commas, by which clients reach this service beside FEDWAY_PUBLIC_URL, such as fedway,fedway.tools.svc.",
    ...hostNames,
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
    meaning:
      "Folders of finished shards, separated by commas, hosted beside those in FEDWAY_DATA_DIR/shards; off: nothing of shards is loaded.",
    ...foldersOrOff,
  },
  role: {
    name: "ROLE",
    default: "all",
    meaning: "What this process does: web answers requests, worker runs jobs and probes, all does both.",
    ...oneOf("all", "web", "worker"),
  },
  drainMs: {
    name: "FEDWAY_DRAIN_MS",
    default: "5000",
    meaning:
      "After SIGTERM: how long readiness is refused, and requests are still answered, before the service stops listening. Ctrl-C skips it.",
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
    meaning:
      "Address ranges that may be dialled although they are private; what the operator writes himself (settings, files of his catalogue) needs it only for link-local addresses and public names.",
    ...cidrs,
  },
  facts: {
    name: "FEDWAY_FACTS",
    default: "on",
    meaning:
      "Describe endpoints automatically: hosted and registered ones, and once a week public ones that a query used (on), hosted ones alone, or none (off).",
    ...flagOr("hosted"),
  },
  factsMaxAgeMs: {
    name: "FEDWAY_FACTS_MAX_AGE_MS",
    default: String(7 * 24 * hour),
    meaning:
      "Age after which a description no longer excludes its endpoint from plans, in milliseconds; 0: descriptions never exclude.",
    ...integer(0, 365 * 24 * hour),
  },
  factsCheckMs: {
    name: "FEDWAY_FACTS_CHECK_MS",
    default: String(hour),
    meaning:
      "How often endpoints are asked for their number of triples where no query had it asked within FEDWAY_FACTS_VERIFY_MS, in milliseconds (public ones at most once a day); a changed number invalidates the description. 0: never.",
    ...integer(0, 365 * 24 * hour),
  },
  factsVerifyMs: {
    name: "FEDWAY_FACTS_VERIFY_MS",
    default: String(hour),
    meaning:
      "How long descriptions leave endpoints out of plans after their number of triples was seen to be as described, in milliseconds; then it is asked again, with the patterns since. Less finds changes sooner: 900000 is 15 minutes.",
    ...integer(1_000, 24 * hour),
  },
  factsNoteMs: {
    name: "FEDWAY_FACTS_NOTE_MS",
    default: String(24 * hour),
    meaning:
      "Age in milliseconds of facts, since they were found or verified, from which an answer that leaves endpoints out by them has a note.",
    ...integer(0, 365 * 24 * hour),
  },
  readBytes: {
    name: "FEDWAY_READ_BYTES",
    default: "10000000",
    meaning:
      "Endpoints up to this size in bytes, as N-Triples, are read once and kept as compact copies, so that they are asked only for what they have; 0: none.",
    ...integer(0, 20_000_000),
  },
  credentials: {
    name: "FEDWAY_CREDENTIALS",
    default: "",
    meaning: "JSON file with the credentials of endpoints, closed to others (chmod 600); read again when it changes.",
    ...optionalText("a file"),
  },
  trustProxy: { name: "FEDWAY_TRUST_PROXY", default: "off", meaning: "Trusted proxies.", ...trustProxy },
  contact: {
    name: "FEDWAY_CONTACT",
    default: "",
    meaning: "Address or URL of the operator, sent in the User-Agent.",
    ...optionalText("printable text"),
  },
  limits: limitSettings,
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
    slowQueryMs: {
      name: "FEDWAY_SLOW_QUERY_MS",
      default: "10000",
      meaning: "Milliseconds after which a query gets a line in the log, with its endpoints; 0: never.",
      ...integer(0, 86_400_000),
    },
  },
} satisfies SettingTree;
