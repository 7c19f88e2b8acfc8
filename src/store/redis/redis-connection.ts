import { createHash } from "node:crypto";
import { Redis, type RedisOptions } from "ioredis";
import { FedwayError } from "../../errors/fedway-error.ts";
import { storeClosed, storeFailed } from "../bounds.ts";
import type { RedisScript } from "./scripts.ts";

/** How Redis is reached. */
export interface RedisConnectionOptions {
  /** `redis://` or `rediss://`, with account and database. */
  readonly url: string;
  readonly connectTimeoutMs?: number;
  /** How long one command may take before it fails; default 3,000. */
  readonly commandTimeoutMs?: number;
}

/** A connection that reconnects; while it is away, commands fail at once instead of waiting. */
export type RedisConnection = Awaited<ReturnType<typeof connectRedis>>;

type Arguments = readonly (string | number | Buffer)[];

const longestReconnectMs = 1_000;

/** Options of every connection: it reconnects, whatever ended it. */
export const reconnecting = {
  protocol: 2,
  retryStrategy: (times) => Math.min(100 * 2 ** Math.min(times, 10), longestReconnectMs),
  // After a fail-over the old primary is a replica; a new connection finds the new primary.
  reconnectOnError: (error) => error.message.startsWith("READONLY"),
} as const satisfies RedisOptions;

/**
 * Checks where a store or a job queue lies in Redis. One colon, at the end of the prefix: then none can be the beginning of
 * another one's keys.
 * @throws FedwayError `CONFIG_INVALID`
 */
export function checkRedisPlace({ url, prefix }: { readonly url: string; readonly prefix: string }): void {
  if (!URL.canParse(url) || !["redis:", "rediss:"].includes(new URL(url).protocol)) {
    throw new FedwayError("CONFIG_INVALID", "REDIS_URL is not a redis:// or rediss:// URL.");
  }
  if (!/^[\w.-]{1,64}:$/.test(prefix)) {
    const message = "The prefix of the Redis keys is not a short name with a colon at its end.";
    throw new FedwayError("CONFIG_INVALID", message);
  }
}

/** @throws FedwayError `STORE_FAILED` when Redis does not answer now */
export async function connectRedis(options: RedisConnectionOptions) {
  const client = createRedisClient(options);
  let lastError: Error | undefined;
  let closed = false;
  client.on("error", (error: Error) => {
    lastError = error;
  });
  client.on("ready", () => {
    lastError = undefined;
  });
  try {
    await client.connect();
  } catch (error) {
    client.disconnect();
    throw redisFailed(lastError ?? error);
  }
  const send = async (name: string, args: Arguments): Promise<unknown> => {
    if (closed) throw storeClosed();
    return client.call(name, [...args]);
  };
  /** @throws FedwayError `STORE_FAILED` */
  const command = async (name: string, ...args: Arguments): Promise<unknown> => {
    try {
      return await send(name, args);
    } catch (error) {
      throw asFailure(error, lastError);
    }
  };
  return {
    command,
    /** @throws FedwayError `STORE_FAILED` */
    async script(script: RedisScript, ...args: Arguments): Promise<unknown> {
      try {
        return await send("EVALSHA", [hashOf(script), script.keys, ...args]);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw asFailure(error, lastError);
        return command("EVAL", script.lua, script.keys, ...args);
      }
    },
    async close(): Promise<void> {
      if (closed) return;
      closed = true;
      try {
        await client.quit();
      } catch {
        client.disconnect();
      }
    },
  };
}

/** A client that is not yet connected. */
export function createRedisClient({
  url,
  connectTimeoutMs = 5_000,
  commandTimeoutMs = 3_000,
  ...more
}: RedisConnectionOptions & Pick<RedisOptions, "keepAlive" | "autoResubscribe">): Redis {
  return new Redis(url, {
    ...reconnecting,
    lazyConnect: true,
    connectTimeout: connectTimeoutMs,
    commandTimeout: commandTimeoutMs,
    // A server that hangs keeps its connections: this ends the silent one, and commands fail at once until a new one has
    // answered the client's first question.
    socketTimeout: commandTimeoutMs,
    enableOfflineQueue: false,
    // A command sent before the connection broke may have taken effect: sending it again could add twice.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    ...more,
  });
}

const hashes = new WeakMap<RedisScript, string>();

function hashOf(script: RedisScript): string {
  const hash = hashes.get(script) ?? createHash("sha1").update(script.lua).digest("hex");
  hashes.set(script, hash);
  return hash;
}

function asFailure(error: unknown, connection: Error | undefined): FedwayError {
  return error instanceof FedwayError ? error : redisFailed(error, connection);
}

/** The beginning of what Redis or the client says, and what to tell the reader. */
const failures: readonly (readonly [beginning: RegExp, message: string, next?: string])[] = [
  [/^OOM/, "There is no room left in Redis.", "Give Redis more memory; the service then continues automatically."],
  [
    /^(WRONGPASS|NOAUTH|NOPERM)/,
    "Redis refuses the account of this service.",
    "Check REDIS_URL and the account's rights.",
  ],
  [/^READONLY/, "Redis is a read-only replica.", "Point REDIS_URL at the primary."],
  [/^MISCONF/, "Redis cannot save its data and takes no writes.", "Check the disk of the Redis server."],
  [/^LOADING/, "Redis is still loading its data."],
  [/^(Command timed out|Redis did not answer)/, "Redis did not answer in time; a write may have taken effect."],
];

/** Text for the reader of a known error, and the remedy. */
export const knownFailure = (text: string) => failures.find(([beginning]) => beginning.test(text));

/** An error as a plain one without the command it belongs to: arguments can hold a password. */
function withoutCommand(error: unknown): Error {
  const plain = new Error(error instanceof Error ? error.message.slice(0, 500) : "unknown");
  if (error instanceof Error && "code" in error && typeof error.code === "string") plain.name = error.code;
  return plain;
}

/** Any error of the client as a `STORE_FAILED` without addresses or credentials. */
function redisFailed(error: unknown, connection?: Error): FedwayError {
  const plain = withoutCommand(error);
  const known = knownFailure(plain.message);
  if (known !== undefined) return storeFailed(known[1], plain, known[2]);
  return storeFailed("The connection to Redis is lost.", connection === undefined ? plain : withoutCommand(connection));
}
