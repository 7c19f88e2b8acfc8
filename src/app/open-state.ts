import { type DamagedDocument, damagedDocuments } from "../store/collection.ts";
import { join } from "node:path";
import type { Logger } from "pino";
import { steadyClock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { createBullmqJobQueue } from "../jobs/bullmq/bullmq-job-queue.ts";
import { EmbeddedJobQueue } from "../jobs/embedded/embedded-job-queue.ts";
import type { JobKind, JobQueue } from "../jobs/job-queue.ts";
import { offerToken, type openAdminToken } from "../store/admin-token.ts";
import { holdDataFolder } from "../store/data-folder.ts";
import { createRedisStore, type RedisStore } from "../store/redis/redis-store.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { keepAll, lossByEviction, mayEvict, watchState } from "../store/watch-state.ts";
import { faultLog } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { watchWrites } from "../store/watch-writes.ts";
import { databaseFile } from "./backup-state.ts";

/** The service's state, wherever it is kept. */
export interface State {
  readonly store: Store;
  /** Health of writing documents. */
  readonly writes: Pick<ReturnType<typeof watchWrites>, "fault" | "listen">;
  /** No other process works on it. */
  readonly soleOwner: boolean;
  /** The server's eviction policy, where the state is in Redis; resolves to undefined where it may not be asked. */
  readonly evictionPolicy?: RedisStore["evictionPolicy"];
  /** Announces the URL of the service to other processes of this machine. */
  announce(url: string): Promise<void>;
  close(): Promise<void>;
}

/** Prefix of all keys of the service, so that it can share a Redis with others. */
export const redisPrefix = "fedway:";

/**
 * Opens the state: in Redis when there is one, else in the data folder, which then belongs to this process.
 * @throws FedwayError `STORE_HELD`, `STORE_FAILED`, `CONFIG_INVALID` for a Redis that evicts
 */
export async function openState({ dataDir, redisUrl }: Pick<Config, "dataDir" | "redisUrl">): Promise<State> {
  if (redisUrl !== undefined) {
    const store = await createRedisStore({ url: redisUrl, prefix: redisPrefix }).catch((error: unknown) => {
      throw unreachable(error);
    });
    const policy = await store.evictionPolicy();
    if (mayEvict(policy)) {
      await store.close();
      throw evicting(policy);
    }
    const { evictionPolicy } = store;
    return watched({ store, soleOwner: false, evictionPolicy, announce: async () => {}, close: () => store.close() });
  }
  const folder = await holdDataFolder(dataDir);
  try {
    const store = openSqliteStore({ path: join(dataDir, databaseFile) });
    return watched({
      store,
      soleOwner: true,
      announce: (url) => folder.announce(url),
      async close() {
        await store.close();
        await folder.release();
      },
    });
  } catch (error) {
    await folder.release();
    throw error;
  }
}

function watched(opened: Omit<State, "writes">): State {
  const writes = watchWrites(opened.store, { now: () => steadyClock.now() });
  const close = (): Promise<void> => {
    writes.close();
    return opened.close();
  };
  return { ...opened, store: writes.store, writes, close };
}

/** Logs when documents can no longer be stored, and when they can again. */
export const logWriteFaults = ({ writes }: State, log: Pick<Logger, "error" | "warn">): void =>
  writes.listen((fault) => {
    if (fault) log.error({ reason: fault.reason }, "nothing can be stored any more");
    else log.warn("the store can be written to again");
  });

/** Logs stored values that cannot be read, with what that costs; the result ends it. */
export function logDamage(log: Pick<Logger, "warn">): () => void {
  const tell = (message: unknown): void => {
    if (!isDamaged(message)) return;
    const { key, reason, removed, lost } = message;
    log.warn({ key, reason, removed }, `a stored value cannot be read: ${lost}`);
  };
  damagedDocuments.subscribe(tell);
  return () => {
    damagedDocuments.unsubscribe(tell);
  };
}

const isDamaged = (message: unknown): message is DamagedDocument =>
  typeof message === "object" && message !== null && "lost" in message;

const evicting = (policy: string): FedwayError =>
  new FedwayError("CONFIG_INVALID", `${lossByEviction(policy)} Nothing was started.`, {
    next: `${keepAll} and set it in redis.conf too; then start again.`,
  });

/** Drops the store's advice for its users, which does not help those who start a service. */
function unreachable(error: unknown): unknown {
  if (!(error instanceof FedwayError) || error.code !== "STORE_FAILED") return error;
  return new FedwayError(error.code, error.message, {
    ...error.details,
    next: "Nothing was started. Check REDIS_URL, and that Redis runs there and lets this account in.",
  });
}

/** The queue where the state is: BullMQ in Redis, or embedded beside the database. */
export function openJobs(
  { redisUrl }: Pick<Config, "redisUrl">,
  { store }: State,
  onFault: (error: unknown) => void,
): JobQueue {
  if (redisUrl !== undefined) return createBullmqJobQueue({ url: redisUrl, prefix: redisPrefix, onFault });
  return new EmbeddedJobQueue({ store, onFault });
}

/** Result and needs of a watch over the state. */
interface WatchedState {
  readonly log: Logger;
  readonly state: State;
  readonly token: Awaited<ReturnType<typeof openAdminToken>>;
}

/** Watches a state that others could empty; `refresh` reads it anew. */
export const watchSharedState = (
  { log, state: { store, evictionPolicy }, token }: WatchedState,
  refresh: () => Promise<void>,
) =>
  watchState({
    store,
    evictionPolicy,
    onEvicting: (policy) => log.error(`${lossByEviction(policy)} ${keepAll}`),
    onUnknownPolicy: () =>
      log.warn("Redis does not let this account ask for its maxmemory-policy; it must be noeviction"),
    now: steadyClock.now,
    onFault: faultLog(log, "the state cannot be reached"),
    async onLost() {
      log.error("the shared state was lost: the catalogue is that of the files again");
      // Processes that start from now on are to agree with those that run.
      if (token.from === "store") await offerToken(store, token.value);
      await refresh();
    },
  });

/** The same kinds of jobs with their runs counted and timed. */
export const measured = (kinds: readonly JobKind[], metrics: Pick<Metrics, "measureJob">): readonly JobKind[] =>
  kinds.map((kind) => ({ ...kind, run: metrics.measureJob(kind.name, kind.run) }));
