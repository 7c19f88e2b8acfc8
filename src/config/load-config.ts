import { FedwayError } from "../errors/fedway-error.ts";
import { nearest } from "../errors/nearest.ts";
import type { Config } from "./config.ts";
import type { Setting } from "./setting-parsers.ts";
import { configReference, settings } from "./settings.ts";

export { configReference };

type Environment = Readonly<Record<string, string | undefined>>;
type Read = <T>(setting: Setting<T>) => T;

const names: readonly string[] = configReference.map(({ name }) => name);

/** A value as a message may show it: short, on one line, without what stands for a user and a password in a URL. */
function shown(value: string): string {
  const harmless = value.replace(/\/\/.*@/s, "//[secret]@");
  return JSON.stringify(harmless.length > 80 ? `${harmless.slice(0, 80)}…` : harmless);
}

/** A reader that notes what is wrong and goes on with the default, so that all problems are found at once. */
const reader =
  (env: Environment, problems: string[]): Read =>
  ({ name, default: fallback, expected, secret, parse }) => {
    const found = env[name]?.trim() ?? "";
    const parsed = parse(found === "" ? fallback : found);
    if (parsed) return parsed.value;
    problems.push(`${name} is ${secret === true ? "not usable" : shown(found)}; expected ${expected}.`);
    const standIn = parse(fallback);
    if (!standIn) throw new Error(`the default of ${name} is not ${expected}`);
    return standIn.value;
  };

function findUnknown(env: Environment, problems: string[]): void {
  for (const name of Object.keys(env).toSorted()) {
    if (!name.startsWith("FEDWAY_") || names.includes(name) || env[name] === undefined) continue;
    const [like] = nearest(name, names, 1);
    problems.push(`${name} is not known; ${like ? `did you mean ${like}?` : "fedway serve --help lists all names."}`);
  }
}

/** `http://HOST:PORT`; a wildcard address is nothing a client can dial, so it becomes the loopback address. */
function ownUrl(host: string, port: number): string {
  const dialled = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${dialled.includes(":") ? `[${dialled}]` : dialled}:${port}`;
}

function freezeDeeply<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freezeDeeply);
  return value;
}

function readConfig(read: Read): Config {
  const host = read(settings.host);
  const port = read(settings.port);
  return {
    host,
    port,
    metricsPort: read(settings.metricsPort),
    catalogDir: read(settings.catalog),
    dataDir: read(settings.dataDir),
    redisUrl: read(settings.redisUrl),
    adminToken: read(settings.adminToken),
    publicUrl: read(settings.publicUrl) ?? ownUrl(host, port),
    corsOrigins: read(settings.corsOrigins),
    examples: read(settings.examples),
    shards: read(settings.shards),
    egress: read(settings.egress),
    allowAddresses: read(settings.allowAddresses),
    trustProxy: read(settings.trustProxy),
    contact: read(settings.contact),
    role: read(settings.role),
    drainMs: read(settings.drainMs),
    monitor: {
      enabled: read(settings.monitor),
      everyMs: read(settings.probeEveryMs),
      jitter: read(settings.probeJitter) / 100,
      incidentAfter: read(settings.incidentAfter),
      recoveredAfter: read(settings.recoveredAfter),
      webhooks: read(settings.webhooks),
      webhookSecret: read(settings.webhookSecret),
    },
    otlpEndpoint: read(settings.otlpEndpoint),
    limits: {
      timeoutMs: read(settings.timeoutMs),
      maxRows: read(settings.maxRows),
      maxSolutions: read(settings.maxSolutions),
      maxHeldBytes: read(settings.maxHeldBytes),
      evaluators: read(settings.evaluators),
      evaluatorMemoryMb: read(settings.evaluatorMemoryMb),
      maxEvaluations: read(settings.maxEvaluations),
      maxQueryBytes: read(settings.maxQueryBytes),
      maxAnswerBytes: read(settings.maxAnswerBytes),
      maxConcurrent: read(settings.maxConcurrent),
      endpointConcurrency: read(settings.endpointConcurrency),
      hostRate: read(settings.hostRate),
      rateLimit: read(settings.rateLimit),
      hostedTimeoutMs: read(settings.hostedTimeoutMs),
      hostedMemoryMb: read(settings.hostedMemoryMb),
      hostedTotalMb: read(settings.hostedTotalMb),
      shardSliceBytes: read(settings.shardSliceBytes),
      shardMemoryMb: read(settings.shardMemoryMb),
      runs: read(settings.runs),
    },
    log: { level: read(settings.logLevel), queries: read(settings.logQueries) },
  };
}

/** Values that are right by themselves and wrong together. */
function findContradictions({ port, metricsPort, role, redisUrl, monitor }: Config, problems: string[]): void {
  if (metricsPort === port) problems.push(`FEDWAY_METRICS_PORT is ${port}, as PORT is: one of them must be another.`);
  if (role !== "all" && redisUrl === undefined) {
    problems.push(`ROLE is ${role}, but there is no REDIS_URL: processes can share their state in Redis only.`);
  }
  if (monitor.webhooks.length > 0 && monitor.webhookSecret === undefined) {
    problems.push("FEDWAY_WEBHOOKS is set, but there is no FEDWAY_WEBHOOK_SECRET to sign the messages with.");
  }
}

/**
 * The environment as one deeply frozen value. Unset and empty variables take their defaults; variables of other
 * programs are ignored.
 * @throws FedwayError `CONFIG_INVALID`, one error whose message lists every wrong value and every unknown `FEDWAY_*` name
 */
export function loadConfig(env: Environment): Config {
  const problems: string[] = [];
  const config = readConfig(reader(env, problems));
  findUnknown(env, problems);
  if (problems.length === 0) findContradictions(config, problems);
  if (problems.length > 0) {
    throw new FedwayError("CONFIG_INVALID", problems.join("\n"), {
      next: "Correct the variables named above; fedway serve --help lists all of them.",
    });
  }
  return freezeDeeply(config);
}
