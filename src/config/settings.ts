import { isIP } from "node:net";

/** How one environment variable is read. */
export interface Setting<T> {
  /** Name of the variable. */
  readonly name: string;
  /** Text that holds when the variable is unset or empty; it is read like any other value. */
  readonly default: string;
  /** One sentence for `--help` and the README. */
  readonly meaning: string;
  /** What a right value looks like, for the message about a wrong one. */
  readonly expected: string;
  /** The value is never repeated in a message. */
  readonly secret?: boolean;
  /** The value, or `undefined` when the text is not what is expected. */
  readonly parse: (text: string) => { readonly value: T } | undefined;
}

type Parser<T> = Pick<Setting<T>, "expected" | "secret" | "parse">;

const flags: Readonly<Record<string, boolean>> = {
  on: true,
  true: true,
  yes: true,
  "1": true,
  off: false,
  false: false,
  no: false,
  "0": false,
};

const factors: Readonly<Record<string, number>> = { "": 1, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 };

const text = (expected: string): Parser<string> => ({
  expected,
  parse: (found) => (/[\p{Cc}]/u.test(found) ? undefined : { value: found }),
});

const optionalText = (expected: string): Parser<string | undefined> => ({
  expected,
  parse: (found) => (/[\p{Cc}]/u.test(found) ? undefined : { value: found === "" ? undefined : found }),
});

const integer = (min: number, max: number): Parser<number> => ({
  expected: `a whole number from ${min} to ${max}`,
  parse: (found) => {
    const value = /^\d{1,15}$/.test(found) ? Number(found) : Number.NaN;
    return value >= min && value <= max ? { value } : undefined;
  },
});

const bytes = (min: number, max: number): Parser<number> => ({
  expected: `a number of bytes from ${min} to ${max}, or with a unit such as 512 KiB, 1 MiB, 2 GiB`,
  parse: (found) => {
    const parts = /^(\d{1,15}) ?(|[kmg]ib)$/i.exec(found);
    const value = Number(parts?.[1]) * (factors[parts?.[2]?.toLowerCase() ?? ""] ?? Number.NaN);
    return value >= min && value <= max ? { value } : undefined;
  },
});

const flag: Parser<boolean> = {
  expected: "on or off",
  parse: (found) => {
    const value = flags[found.toLowerCase()];
    return value === undefined ? undefined : { value };
  },
};

const oneOf = <const T extends string>(...allowed: readonly T[]): Parser<T> => ({
  expected: `one of ${allowed.join(", ")}`,
  parse: (found) => {
    const value = allowed.find((name) => name === found);
    return value === undefined ? undefined : { value };
  },
});

const httpUrl: Parser<string | undefined> = {
  expected: "an absolute http or https URL without user, query and fragment",
  parse: (found) => {
    if (found === "") return { value: undefined };
    const url = URL.canParse(found) ? new URL(found) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) return undefined;
    if (url.username || url.password || url.search || url.hash) return undefined;
    return { value: url.href.replace(/\/+$/, "") };
  },
};

const redisUrl: Parser<string | undefined> = {
  expected: "a redis or rediss URL",
  // It may hold a password.
  secret: true,
  parse: (found) => {
    if (found === "") return { value: undefined };
    return /^rediss?:$/.test(URL.parse(found)?.protocol ?? "") ? { value: found } : undefined;
  },
};

const adminToken: Parser<string | undefined> = {
  expected: "at least 16 printable characters without spaces",
  secret: true,
  parse: (found) => {
    if (found === "") return { value: undefined };
    return /^[\x21-\x7e]{16,512}$/.test(found) ? { value: found } : undefined;
  },
};

const webhookUrls: Parser<readonly string[]> = {
  expected: "absolute http or https URLs without user and fragment, separated by commas",
  // Such URLs often hold the key that lets their bearer post.
  secret: true,
  parse: (found) => {
    const urls = found.split(",").map((part) => part.trim());
    const parsed = urls.filter((url) => url !== "").map((url) => URL.parse(url));
    const isUsable = (url: URL | null): url is URL =>
      url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.hash;
    return parsed.every(isUsable) ? { value: parsed.map(({ href }) => href) } : undefined;
  },
};

/** An address range in CIDR notation; a single address becomes the range that holds only it. */
function cidr(found: string): string | undefined {
  const [address = "", length, ...rest] = found.split("/");
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  if (bits === undefined || rest.length > 0) return undefined;
  if (length === undefined) return `${address}/${bits}`;
  return /^\d{1,3}$/.test(length) && Number(length) <= bits ? `${address}/${length}` : undefined;
}

function cidrList(found: string): readonly string[] | undefined {
  const ranges = found
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(cidr);
  return ranges.every((range) => range !== undefined) ? ranges : undefined;
}

const cidrs: Parser<readonly string[]> = {
  expected: "addresses or address ranges separated by commas, such as 10.0.0.0/8,fd00::/8",
  parse: (found) => {
    const value = cidrList(found);
    return value && { value };
  },
};

const trustProxy: Parser<boolean | number | readonly string[]> = {
  expected: "off, the number of proxies in front (1 to 10), or their address ranges separated by commas",
  parse: (found) => {
    if (/^([1-9]|10)$/.test(found)) return { value: Number(found) };
    const asFlag = flags[found.toLowerCase()];
    if (asFlag !== undefined) return { value: asFlag };
    const value = cidrList(found);
    return value && value.length > 0 ? { value } : undefined;
  },
};

const hour = 3_600_000;

/** Every variable that Fedway reads; nothing else in the environment changes what it does. */
export const settings = {
  host: {
    name: "HOST",
    default: "127.0.0.1",
    meaning: "Address to listen on; 0.0.0.0 or :: for all.",
    ...text("a host name or an address"),
  },
  port: { name: "PORT", default: "3000", meaning: "Port to listen on; 0 picks a free one.", ...integer(0, 65_535) },
  catalog: {
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
    meaning: "Bearer token of changes to the catalogue; when unset they are taken from this machine only.",
    ...adminToken,
  },
  publicUrl: {
    name: "FEDWAY_PUBLIC_URL",
    default: "",
    meaning: "URL under which clients reach this service; http://HOST:PORT when unset.",
    ...httpUrl,
  },
  examples: { name: "FEDWAY_EXAMPLES", default: "on", meaning: "Host the example federation.", ...flag },
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
  monitor: { name: "FEDWAY_MONITOR", default: "on", meaning: "Probe the endpoints of the catalogue.", ...flag },
  probeEveryMs: {
    name: "FEDWAY_PROBE_EVERY_MS",
    default: "900000",
    meaning: "Time between two probes of an endpoint, in milliseconds.",
    ...integer(1000, 24 * hour),
  },
  probeJitter: {
    name: "FEDWAY_PROBE_JITTER",
    default: "10",
    meaning: "How far a probe may be from its turn, in percent of the time between two.",
    ...integer(0, 50),
  },
  incidentAfter: {
    name: "FEDWAY_INCIDENT_AFTER",
    default: "3",
    meaning: "Failed probes in a row after which an endpoint counts as down.",
    ...integer(1, 100),
  },
  recoveredAfter: {
    name: "FEDWAY_RECOVERED_AFTER",
    default: "2",
    meaning: "Good probes in a row after which it counts as up again.",
    ...integer(1, 100),
  },
  webhooks: {
    name: "FEDWAY_WEBHOOKS",
    default: "",
    meaning: "URLs, separated by commas, that are told when an incident opens or closes.",
    ...webhookUrls,
  },
  webhookSecret: {
    name: "FEDWAY_WEBHOOK_SECRET",
    default: "",
    meaning: "Secret that signs those messages (Standard Webhooks); needed with FEDWAY_WEBHOOKS.",
    ...adminToken,
  },
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
  trustProxy: {
    name: "FEDWAY_TRUST_PROXY",
    default: "off",
    meaning: "Proxies whose forwarding headers are believed.",
    ...trustProxy,
  },
  contact: {
    name: "FEDWAY_CONTACT",
    default: "",
    meaning: "Address or URL of the operator, sent in the User-Agent.",
    ...optionalText("printable text"),
  },
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
    meaning: "Queries that may run at once.",
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
    meaning: "Requests a minute per client; 0 is no limit.",
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
    default: "512",
    meaning: "Memory limit of one hosted endpoint, in MiB.",
    ...integer(16, 1_048_576),
  },
  runs: {
    name: "FEDWAY_RUNS",
    default: "1000",
    meaning: "Run records kept for /api/runs/{id}.",
    ...integer(1, 1_000_000),
  },
  logLevel: {
    name: "FEDWAY_LOG_LEVEL",
    default: "info",
    meaning: "Least severe log lines that are written.",
    ...oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
  },
  logQueries: {
    name: "FEDWAY_LOG_QUERIES",
    default: "off",
    meaning: "Write query texts, with their literals, to the log.",
    ...flag,
  },
} satisfies Readonly<Record<string, Setting<unknown>>>;

/** The variables with their defaults and meanings, in the order of the documentation. */
export const configReference: readonly Pick<Setting<unknown>, "name" | "default" | "meaning">[] = Object.values(
  settings,
).map(({ name, default: fallback, meaning }) => ({ name, default: fallback, meaning }));
