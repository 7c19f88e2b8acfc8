import { randomUUID } from "node:crypto";
import { Queue } from "bullmq";
import { FedwayError } from "../../errors/fedway-error.ts";
import { knownFailure, reconnecting } from "../../store/redis/redis-connection.ts";

interface RedisLinkOptions {
  /** `redis://` or `rediss://`, with account and database. */
  readonly url: string;
  /** Prefix of every key: a short name and a colon. */
  readonly prefix: string;
  /** Each has a queue. */
  readonly kinds: Iterable<string>;
  readonly connectTimeoutMs: number;
  /** How long one command may take before it fails. */
  readonly commandTimeoutMs: number;
  readonly fault: (error: unknown) => void;
}

/** The connection for everything but running jobs; while Redis is away its commands fail at once. */
export type RedisLink = Awaited<ReturnType<typeof openRedisLink>>;

/** Prefix of BullMQ's keys; it appends `:<kind>:`. */
export const queuePrefix = (prefix: string): string => `${prefix}jobs:queue`;

/** The newest events that BullMQ keeps of a queue; nothing here reads them. */
const events = { events: { maxLen: 100 } };
/** A lock may be taken by a command that its sender has given up. */
const lockMs = 5_000;
const lockAgainMs = 20;

/** @throws FedwayError `STORE_FAILED` when Redis does not answer in time */
export async function openRedisLink(options: RedisLinkOptions) {
  const { url, prefix, connectTimeoutMs, commandTimeoutMs, fault } = options;
  const failing = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 };
  // The time-out of the socket ends a connection to a server that hangs: commands fail at once until it answers again.
  const limits = { commandTimeout: commandTimeoutMs, socketTimeout: commandTimeoutMs };
  const connection = { url, ...reconnecting, ...failing, ...limits };
  let lastError: unknown;
  // One queue owns the connection and reports its errors, the others borrow it.
  const owner = new Queue("owner", { connection, prefix: queuePrefix(prefix), streams: events });
  owner.on("error", (error) => {
    lastError = error;
    fault(jobsFailed(error));
  });
  try {
    await inTime(owner.waitUntilReady(), connectTimeoutMs);
  } catch (error) {
    await endQueue(owner);
    throw jobsFailed(lastError ?? error);
  }
  const client = await owner.getBackend().client;
  const borrowed = { connection: client, prefix: queuePrefix(prefix) };
  const openQueue = (kind: string): Queue => new Queue(kind, { ...borrowed, streams: events });
  const queues = new Map(Array.from(options.kinds, (kind) => [kind, openQueue(kind)]));
  for (const queue of queues.values()) queue.on("error", () => {});
  // Now: one that begins while Redis is away never becomes ready.
  await inTime(Promise.all(Array.from(queues.values(), (one) => one.waitUntilReady())), connectTimeoutMs);
  return {
    /** The queue of a kind; all queues share one connection. */
    queue(kind: string): Queue {
      const queue = queues.get(kind);
      if (queue === undefined) throw new FedwayError("INTERNAL", `There is no queue of the kind ${kind}.`);
      return queue;
    },
    /** Plain Redis commands. @throws FedwayError `STORE_FAILED` */
    command: (name: string, ...args: readonly (string | number)[]): Promise<unknown> =>
      wait(client.runCommand(name, [...args])),
    /** Waits for BullMQ's answer. @throws FedwayError `STORE_FAILED` */
    wait,
    async close(): Promise<void> {
      await Promise.all(Array.from(queues.values(), (one) => inTime(one.close(), 1_000).catch(() => {})));
      await endQueue(owner);
    },
  };
}

/**
 * Does `work` while no other work under the same name is done in the deployment.
 * @throws FedwayError `STORE_FAILED`, also when the others take too long
 */
export async function locked<Result>(link: RedisLink, key: string, work: () => Promise<Result>): Promise<Result> {
  const token = randomUUID();
  for (let waitedMs = 0; ; waitedMs += lockAgainMs) {
    if ((await link.command("set", key, token, "PX", lockMs, "NX")) !== null) break;
    if (waitedMs >= lockMs) throw new FedwayError("STORE_FAILED", "The job is being changed by others.");
    await new Promise((resolve) => setTimeout(resolve, lockAgainMs));
  }
  try {
    return await work();
  } finally {
    if ((await link.command("get", key).catch(() => null)) === token) await link.command("del", key).catch(() => {});
  }
}

async function wait<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    throw jobsFailed(error);
  }
}

/** Ends a queue's connection, in a while that does not depend on Redis. */
async function endQueue(queue: Queue): Promise<void> {
  await inTime(queue.close(), 1_000).catch(() => {
    // Not waited for: a connection that is away ends without saying so.
    queue.disconnect().catch(() => {});
  });
}

/** @throws Error when the work is not done in time; it then goes on, and its result is dropped */
export async function inTime<Result>(work: Promise<Result>, ms: number): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("Redis did not answer in time.")), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

/** True if an error only means that Redis cannot be reached now. */
export function isConnectionError(error: unknown): boolean {
  const text = error instanceof Error ? `${"code" in error ? String(error.code) : ""} ${error.message}` : "";
  return /ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN|Connection is closed|isn't writeable|max retries|Socket timeout/.test(
    text,
  );
}

/** Any error of Redis, its client or BullMQ as a `STORE_FAILED` without addresses, arguments or credentials. */
export function jobsFailed(error: unknown): FedwayError {
  if (error instanceof FedwayError) return error;
  // Not the error itself: its command holds arguments.
  const cause = new Error(error instanceof Error ? error.message.slice(0, 500) : "unknown");
  const [, known] = knownFailure(cause.message) ?? [];
  const message = isConnectionError(error) ? "The connection to Redis is lost." : "The job queue in Redis failed.";
  return new FedwayError("STORE_FAILED", known ?? message, {
    next: "Try again in a while. Queries are answered all the same.",
    cause,
  });
}
