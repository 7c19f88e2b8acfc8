import { FedwayError } from "../../errors/fedway-error.ts";
import { checkedStore, counterBeyond, type StoreAdapter, storeFailed } from "../bounds.ts";
import { compareKeys } from "../key-order.ts";
import type { Store, StoredDocument } from "../store.ts";
import {
  checkRedisPlace,
  connectRedis,
  type RedisConnection,
  type RedisConnectionOptions,
} from "./redis-connection.ts";
import { createRedisWatch } from "./redis-watch.ts";
import { acquireScript, deleteScript, incrementScript, listScript, putScript, releaseScript } from "./scripts.ts";

/** How a store in Redis is opened. */
export interface RedisStoreOptions extends RedisConnectionOptions {
  /** Prefix of every key, e.g. `fedway:`; stores with different prefixes share a database undisturbed. */
  readonly prefix: string;
}

/** A store in Redis. */
export interface RedisStore extends Store {
  /**
   * The server's `maxmemory-policy`; undefined where it forbids the question. All but `noeviction` lose what was
   * acknowledged, those that evict only keys with a time to live also: leases, runs and jobs have one.
   */
  readonly evictionPolicy: () => Promise<string | undefined>;
}

/** Documents that one script reads at most: a script keeps all other clients of Redis waiting. */
const mostPerScript = 50;

/**
 * A store that several processes share: one Redis server (6.2 or newer), also behind a fail-over, but not a cluster.
 * Times are the server's. Whether an acknowledged write survives the end of the *server* is up to its settings
 * (`appendonly yes`, `maxmemory-policy noeviction`). Nothing outside the prefix is ever read, changed or flushed.
 *
 * @throws FedwayError `CONFIG_INVALID`, `STORE_FAILED` when Redis does not answer now
 */
export async function createRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  checkRedisPlace(options);
  const connection = await connectRedis(options);
  const parts: RedisParts = { connection, prefix: options.prefix };
  const changes = createRedisWatch(options, channelsOf(options.prefix));
  const store = checkedStore({
    name: "redis",
    ...documentMethods(parts),
    ...counterMethods(parts),
    watch: changes.watch,
    async close() {
      await changes.close();
      await connection.close();
    },
  });
  return { ...store, evictionPolicy: () => evictionPolicy(connection) };
}

/** The policy of Redis for a full memory; undefined where it does not let this account ask. */
async function evictionPolicy({ command }: RedisConnection): Promise<string | undefined> {
  try {
    return texts(await command("CONFIG", "GET", "maxmemory-policy"))[1];
  } catch {
    // Managed services have no CONFIG, and accounts may lack the right to it.
    const info = await command("INFO", "memory").catch(() => "");
    return /^maxmemory_policy:(\S+)/mu.exec(String(info))?.[1];
  }
}

/** Prefix of the channels for changes; the document's key follows. */
const channelsOf = (prefix: string): string => `${prefix}w:`;

interface RedisParts {
  readonly connection: RedisConnection;
  readonly prefix: string;
}

function documentMethods({ connection, prefix }: RedisParts) {
  const documents = `${prefix}d:`;
  const index = `${prefix}keys`;
  const expiring = `${prefix}expiring`;
  const channels = channelsOf(prefix);
  return {
    async get(key) {
      const [version, value] = texts(await connection.command("HMGET", documents + key, "version", "value"));
      return version === undefined || value === undefined ? undefined : { key, value, version: Number(version) };
    },
    async put(key, value, { ttlMs, ifVersion }) {
      const keys = [documents + key, index, expiring, `${prefix}sequence`];
      const args = [key, value, ttlMs ?? "", ifVersion ?? "", documents, channels + key];
      return integer(await connection.script(putScript, ...keys, ...args));
    },
    async delete(key, { ifVersion }) {
      const keys = [documents + key, index, expiring];
      return (await connection.script(deleteScript, ...keys, key, ifVersion ?? "", channels + key)) === 1;
    },
    async list(keyPrefix, limit, after) {
      const found: StoredDocument[] = [];
      // No UTF-8 text has the byte 0xff, so this is above every key that begins with the prefix.
      const end = Buffer.concat([Buffer.from(`(${keyPrefix}`), Buffer.from([0xff])]);
      let start = after !== undefined && compareKeys(after, keyPrefix) >= 0 ? `(${after}` : `[${keyPrefix}`;
      while (found.length < limit) {
        const count = Math.min(mostPerScript, limit - found.length);
        const reply = await connection.script(listScript, index, start, end, count, documents);
        const [seen, last = "", ...rest] = texts(reply);
        for (let at = 0; at + 2 < rest.length; at += 3) {
          found.push({ key: rest[at] ?? "", version: Number(rest[at + 1]), value: rest[at + 2] ?? "" });
        }
        if (Number(seen) < count) break;
        start = `(${last}`;
      }
      return found;
    },
  } satisfies Partial<StoreAdapter>;
}

function counterMethods({ connection, prefix }: RedisParts) {
  return {
    async increment(counter, by, { ttlMs }) {
      const sum = integer(await connection.script(incrementScript, `${prefix}c:${counter}`, by, ttlMs ?? ""));
      if (sum === undefined) throw new FedwayError("REQUEST_INVALID", counterBeyond);
      return sum;
    },
    async acquire(lease, owner, ttlMs) {
      return (await connection.script(acquireScript, `${prefix}l:${lease}`, owner, ttlMs)) === 1;
    },
    async release(lease, owner) {
      await connection.script(releaseScript, `${prefix}l:${lease}`, owner);
    },
  } satisfies Partial<StoreAdapter>;
}

/** A reply that is a list of texts; nil and numbers among them. @throws FedwayError `STORE_FAILED` */
function texts(reply: unknown): (string | undefined)[] {
  if (!Array.isArray(reply)) throw storeFailed("Redis gave an unexpected reply.");
  return reply.map((item: unknown) => {
    if (item === null) return undefined;
    if (typeof item === "string" || typeof item === "number") return String(item);
    throw storeFailed("Redis gave an unexpected reply.");
  });
}

/** A reply that is a whole number, also as text, or nil. @throws FedwayError `STORE_FAILED` */
function integer(reply: unknown): number | undefined {
  if (reply === null) return undefined;
  const value = typeof reply === "string" ? Number(reply) : reply;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw storeFailed("Redis gave an unexpected reply.");
}
