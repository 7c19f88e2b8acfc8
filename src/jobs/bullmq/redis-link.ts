import { FlowProducer, Queue } from "bullmq";
import { FedwayError } from "../../errors/fedway-error.ts";
import { type JobScript, type JobScriptName, jobScripts } from "./scripts.ts";

/** How Redis is reached. */
export interface RedisLinkOptions {
  /** `redis://` or `rediss://`, with account and database. */
  readonly url: string;
  /** What every key begins with: a short name and a colon. */
  readonly prefix: string;
  readonly connectTimeoutMs: number;
  /** How long one command may take before it fails. */
  readonly commandTimeoutMs: number;
  readonly fault: (error: unknown) => void;
}

/** The connection for everything but waiting for work; while Redis is away its commands fail at once. */
export interface RedisLink {
  /** The queue of the turns of schedules; all queues of this link share its connection. */
  readonly turns: Queue;
  openQueue(name: string): Queue;
  /** Adds jobs to several queues of this link at once. */
  openFlows(): FlowProducer;
  /** Calls back whenever Redis is there again. */
  onReturn(listener: () => void): void;
  /** Runs a script on the keys of this deployment. @throws FedwayError `STORE_FAILED` */
  run(script: JobScriptName, ...args: readonly (string | number)[]): Promise<unknown>;
  /** Waits for BullMQ's own answer. @throws FedwayError `STORE_FAILED` */
  wait<Answer>(answer: Promise<Answer>): Promise<Answer>;
  close(): Promise<void>;
}

/** Key prefixes under the prefix of the deployment; BullMQ puts the name of a queue behind them. */
export const keysOf = (prefix: string): { readonly own: string; readonly kinds: string; readonly turns: string } => ({
  own: `${prefix}jobs:`,
  kinds: `${prefix}jobs:kind`,
  turns: `${prefix}jobs:schedules`,
});

/** The newest events that BullMQ keeps of a queue; nothing here reads them. */
const events = { events: { maxLen: 100 } };
const longestReconnectMs = 1_000;

/** @throws FedwayError `CONFIG_INVALID` */
export function checkAddress({ url, prefix }: { readonly url: string; readonly prefix: string }): void {
  if (!URL.canParse(url) || !["redis:", "rediss:"].includes(new URL(url).protocol)) {
    throw new FedwayError("CONFIG_INVALID", "REDIS_URL is not a redis:// or rediss:// URL.");
  }
  if (!/^[\w.-]{1,64}:$/.test(prefix)) {
    const message = "The prefix of the Redis keys is not a short name with a colon at its end.";
    throw new FedwayError("CONFIG_INVALID", message);
  }
}

/** What every connection has in common: it comes back by itself, whatever ended it. */
export function connectionOptions(url: string): Record<string, unknown> & { readonly url: string } {
  return {
    url,
    protocol: 2,
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => Math.min(100 * 2 ** Math.min(times, 10), longestReconnectMs),
    // After a fail-over the old primary is a replica; a new connection finds the new primary.
    reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
  };
}

/** @throws FedwayError `STORE_FAILED` when Redis does not answer in time */
export async function openRedisLink(options: RedisLinkOptions): Promise<RedisLink> {
  const { url, prefix, connectTimeoutMs, commandTimeoutMs, fault } = options;
  const keys = keysOf(prefix);
  const failing = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 };
  // The time-out of the socket ends a connection to a server that hangs: commands fail at once until it answers again.
  const limits = { commandTimeout: commandTimeoutMs, socketTimeout: commandTimeoutMs };
  const connection = { ...connectionOptions(url), ...failing, ...limits };
  let lastError: unknown;
  const turns = new Queue("turns", { connection, prefix: keys.turns, streams: events });
  turns.on("error", (error) => {
    lastError = error;
    fault(jobsFailed(error));
  });
  try {
    await inTime(turns.waitUntilReady(), connectTimeoutMs);
  } catch (error) {
    await endQueue(turns);
    throw jobsFailed(lastError ?? error);
  }
  const client = await turns.getBackend().client;
  for (const [name, lua] of Object.entries<JobScript>(jobScripts)) {
    client.defineCommand(commandName(name), { numberOfKeys: 0, lua });
  }
  return {
    turns,
    openQueue(name) {
      const queue = new Queue(name, { connection: client, prefix: keys.kinds, streams: events });
      // The client tells its errors to `turns`, too.
      queue.on("error", () => {});
      return queue;
    },
    openFlows() {
      const flows = new FlowProducer({ connection: client, prefix: keys.kinds });
      flows.on("error", () => {});
      return flows;
    },
    onReturn: (listener) => void client.on("ready", listener),
    run: (script, ...args) => wait(client.runCommand(commandName(script), [keys.own, ...args])),
    wait,
    close: () => endQueue(turns),
  };
}

const commandName = (script: string): string => `fedwayJobs-${script}`;

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

/** @throws Error when the work is not done in time; it then goes on without anybody hearing of it */
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

/** The beginning of what Redis or its client says, and what to tell the reader. */
const failures: readonly (readonly [beginning: RegExp, message: string])[] = [
  [/^OOM/, "There is no room left in Redis."],
  [/^(WRONGPASS|NOAUTH|NOPERM)/, "Redis refuses the account of this service."],
  [/^READONLY/, "Redis is a read-only replica."],
  [/^MISCONF/, "Redis cannot save its data and takes no writes."],
  [/^LOADING/, "Redis is still loading its data."],
  [/^(Command timed out|Redis did not answer)/, "Redis did not answer in time; a write may have taken effect."],
];

/** Whether an error says no more than that Redis cannot be reached now. */
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
  const known = failures.find(([beginning]) => beginning.test(cause.message))?.[1];
  const message = isConnectionError(error) ? "The connection to Redis is lost." : "The job queue in Redis failed.";
  return new FedwayError("STORE_FAILED", known ?? message, {
    next: "Try again in a while. Queries are answered all the same.",
    cause,
  });
}

/** @throws FedwayError `STORE_FAILED` for an answer that no script of ours gives */
export function asArray(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer;
  throw new FedwayError("STORE_FAILED", "Redis gave an answer that makes no sense.");
}
