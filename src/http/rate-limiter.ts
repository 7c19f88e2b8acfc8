import { createHash } from "node:crypto";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Store } from "../store/store.ts";
import { isIPv6 } from "node:net";

/** Tokens of one client; fewer than none when more were taken elsewhere than was known here. */
interface Bucket {
  tokens: number;
  filledMs: number;
  /** Tokens taken here that the other processes do not know of. */
  untold: number;
  telling: boolean;
}

interface Rate {
  readonly perMinute: number;
  /** Milliseconds since the epoch; never goes back. */
  readonly now: () => number;
}

/** How a limit is set. */
interface RateLimiterOptions extends Rate {
  readonly maxClients?: number;
  /** Where the processes of a deployment keep one bucket a client together; absent: each has its own. */
  readonly store?: Pick<Store, "get" | "put"> | undefined;
}

/** Limits of clients. */
export type RateLimiter = ReturnType<typeof createRateLimiter>;

/**
 * A token bucket per client: `perMinute` requests at once, refilled evenly. At most `maxClients` are remembered, those
 * longest unseen are forgotten first.
 *
 * With a store no request waits for it: each process has a bucket of its own, and takes what it gave from the common one
 * behind its back whenever that is a twentieth of `perMinute`. Each process may give that much and one request beyond the
 * limit, and what comes in while the store is updated, never more than its own bucket; it counts, so that the next ones wait
 * for longer. While the store is away each process limits by its own bucket.
 */
export function createRateLimiter({ perMinute, now, maxClients = 10_000, store }: RateLimiterOptions) {
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, Bucket>();
  const tell = store && createTelling({ store, perMinute, now });
  // The last one need not be moved to the end, where it is.
  let latest: string | undefined;
  const filled = (key: string): Bucket => {
    const nowMs = now();
    const bucket = buckets.get(key) ?? { tokens: perMinute, filledMs: nowMs, untold: 0, telling: false };
    bucket.tokens = Math.min(perMinute, bucket.tokens + (nowMs - bucket.filledMs) * perMs);
    bucket.filledMs = nowMs;
    if (key !== latest) {
      buckets.delete(key);
      buckets.set(key, bucket);
      latest = key;
    }
    if (buckets.size > maxClients) buckets.delete(buckets.keys().next().value ?? key);
    return bucket;
  };
  const charge = (key: string, bucket: Bucket, tokens: number): void => {
    bucket.tokens = Math.max(bucket.tokens - tokens, -perMinute);
    tell?.(key, bucket, tokens);
  };
  return {
    perMinute,
    /** Clients remembered. */
    get size(): number {
      return buckets.size;
    },
    /** Takes one token; 0 when there was one, else the milliseconds until there is one. */
    take(address: string): number {
      const key = clientKey(address);
      const bucket = filled(key);
      if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perMs));
      charge(key, bucket, 1);
      return 0;
    },
    /** Takes tokens for what a request has cost beyond its own one; a lack delays the client's next requests. */
    charge(address: string, tokens: number): void {
      const key = clientKey(address);
      if (tokens > 0) charge(key, filled(key), tokens);
    },
  };
}

/** The error of a request for which there is no token. */
export const rateLimited = ({ perMinute }: RateLimiter, retryAfterMs: number): FedwayError =>
  new FedwayError("RATE_LIMITED", `More than ${perMinute} requests a minute came from this client, or as much work.`, {
    retryAfterMs,
  });

/** Batch size when sharing counts, as a share of the limit. */
const toldShare = 1 / 20;
/** Clients whose counts are shared at the same time; those of others are shared with a later request. */
const mostTold = 100;
const pauseMs = 1_000;

/** Takes from the common buckets what was taken from those here, and what others took from these. */
function createTelling(common: CommonBuckets): (key: string, bucket: Bucket, tokens: number) => void {
  const { perMinute, now } = common;
  const portion = Math.max(1, perMinute * toldShare);
  let underWay = 0;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  const tell = async (key: string, bucket: Bucket): Promise<void> => {
    const { untold } = bucket;
    const left = await takeFromCommon(common, key, untold);
    if (left === undefined) return;
    bucket.untold -= Math.min(untold, bucket.untold);
    if (left - bucket.untold >= bucket.tokens) return;
    bucket.tokens = left - bucket.untold;
    bucket.filledMs = now();
  };
  return (key, bucket, tokens) => {
    // What has been refilled since need not be shared.
    bucket.untold = Math.min(bucket.untold + tokens, perMinute - bucket.tokens);
    if (bucket.untold < portion || bucket.telling || underWay >= mostTold || now() < pausedUntilMs) return;
    bucket.telling = true;
    underWay += 1;
    tell(key, bucket)
      .catch(() => {
        // Whoever opened the store counts its failures.
        pausedUntilMs = now() + pauseMs;
      })
      .finally(() => {
        bucket.telling = false;
        underWay -= 1;
      });
  };
}

interface CommonBuckets extends Rate {
  readonly store: Pick<Store, "get" | "put">;
}

const mostTries = 5;

/**
 * Takes tokens from a client's common bucket; gives those that are left, or undefined when others were quicker each time.
 * A bucket that is not there is full: it is kept for as long as it takes to fill. @throws FedwayError `STORE_FAILED`
 */
async function takeFromCommon(
  { store, perMinute, now }: CommonBuckets,
  client: string,
  count: number,
): Promise<number | undefined> {
  const perMs = perMinute / 60_000;
  // Addresses that a proxy passes on can be any text, and need not be known to whoever reads the store.
  const key = `rate/${createHash("sha256").update(client).digest("hex").slice(0, 32)}`;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const held = await store.get(key);
    const [tokens, filledMs] = parseCommon(held?.value) ?? [perMinute, 0];
    // The clock of the deployment is that of the process which is ahead: no time is counted twice.
    const nowMs = Math.max(now(), filledMs);
    const filled = Math.min(perMinute, tokens + (nowMs - filledMs) * perMs);
    const left = Math.max(filled - count, -perMinute);
    const ttlMs = Math.ceil((perMinute - left) / perMs);
    const version = await store.put(key, JSON.stringify([left, nowMs]), { ttlMs, ifVersion: held?.version ?? 0 });
    if (version !== undefined) return left;
  }
  return undefined;
}

function parseCommon(text: string | undefined): readonly [tokens: number, filledMs: number] | undefined {
  const [tokens, filledMs]: readonly unknown[] = text === undefined ? [] : JSON.parse(text);
  return typeof tokens === "number" && typeof filledMs === "number" ? [tokens, filledMs] : undefined;
}

const fullFormLength = 8;

/**
 * Key of a client, from `request.ip`: an IPv6 customer has a whole /64, so its first four groups are the client;
 * IPv4-mapped addresses are IPv4.
 */
export function clientKey(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  const [head = "", tail] = (address.split("%")[0] ?? address).split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const rest = tail === "" ? [] : tail.split(":");
    const missing = Math.max(0, fullFormLength - groups.length - rest.length);
    groups.push(...Array.from({ length: missing }, () => "0"), ...rest);
  }
  return groups.slice(0, 4).join(":");
}
