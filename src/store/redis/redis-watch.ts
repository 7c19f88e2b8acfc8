import { every, systemClock } from "../../clock.ts";
import type { Store } from "../store.ts";
import { createRedisClient, type RedisConnectionOptions } from "./redis-connection.ts";

type Listener = Parameters<Store["watch"]>[1];

/** Where Redis refuses the subscription, listeners are made to read again this often. */
const refusedEveryMs = 5_000;

/**
 * `Store.watch` over PUBLISH and PSUBSCRIBE, on a connection of its own, which is made for the first listener.
 * @param channels what the names of channels begin with; the key follows, and the message is the version
 */
export function createRedisWatch(options: RedisConnectionOptions, channels: string) {
  const listeners = new Map<string, Set<Listener>>();
  let client: ReturnType<typeof createRedisClient> | undefined;
  let polling: ReturnType<typeof every> | undefined;

  const readAgain = (patterns: Iterable<string>): void => {
    for (const pattern of patterns) for (const listener of listeners.get(pattern) ?? []) listener(undefined);
  };
  const poll = (): void => {
    polling ??= every(refusedEveryMs, async () => readAgain(listeners.keys()), {
      clock: systemClock,
      onFault: () => undefined,
    });
  };
  const subscribe = async (...patterns: string[]): Promise<void> => {
    if (patterns.length === 0) return;
    try {
      await client?.psubscribe(...patterns);
      readAgain(patterns);
    } catch {
      poll();
    }
  };
  const connect = (): void => {
    client = createRedisClient({ ...options, keepAlive: 10_000, autoResubscribe: false });
    client.on("error", () => undefined);
    client.on("ready", () => {
      void polling?.stop();
      polling = undefined;
      void subscribe(...listeners.keys());
    });
    client.on("pmessage", (pattern: string, channel: string, version: string) => {
      const change = { key: channel.slice(channels.length), version: Number(version) };
      for (const listener of listeners.get(pattern) ?? []) listener(change);
    });
    // Tried again until it succeeds.
    client.connect().catch(() => undefined);
  };

  return {
    watch: (prefix: string, listener: Listener): (() => void) => {
      const pattern = `${escaped(channels + prefix)}*`;
      const others = listeners.get(pattern);
      // A function of its own, as the same listener may be given twice.
      const own: Listener = (change) => listener(change);
      listeners.set(pattern, new Set([...(others ?? []), own]));
      if (client === undefined) connect();
      else if (client.status === "ready") void subscribe(pattern);
      return () => {
        const left = listeners.get(pattern);
        left?.delete(own);
        if (left?.size !== 0) return;
        listeners.delete(pattern);
        if (client?.status === "ready") client.punsubscribe(pattern).catch(() => undefined);
      };
    },
    async close(): Promise<void> {
      listeners.clear();
      client?.disconnect();
      await polling?.stop();
    },
  };
}

/** A text as a glob pattern that only matches it. */
const escaped = (text: string): string => text.replaceAll(/[\\*?[\]]/g, "\\$&");
