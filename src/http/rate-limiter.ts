import { isIPv6 } from "node:net";

/** Tokens of one client. */
interface Bucket {
  tokens: number;
  filledMs: number;
}

/** Says how often a client may come. */
export interface RateLimiter {
  /** Takes one token; 0 when there was one, else the milliseconds until there is one. */
  take(address: string): number;
  /** Clients remembered. */
  readonly size: number;
}

const fullFormLength = 8;

/** An IPv6 customer has a whole /64, so its first four groups are the client; IPv4-mapped addresses are IPv4. */
function clientKey(address: string): string {
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

/**
 * A token bucket per client: `perMinute` requests at once, refilled evenly. At most `maxClients` are remembered, those
 * longest unseen are forgotten first. `now` gives milliseconds and never goes back.
 */
export function createRateLimiter(options: {
  readonly perMinute: number;
  readonly now: () => number;
  readonly maxClients?: number;
}): RateLimiter {
  const { perMinute, now, maxClients = 10_000 } = options;
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, Bucket>();
  // The last one need not be moved to the end, where it is.
  let latest: string | undefined;
  return {
    get size() {
      return buckets.size;
    },
    take(address) {
      const key = clientKey(address);
      const nowMs = now();
      const bucket = buckets.get(key) ?? { tokens: perMinute, filledMs: nowMs };
      bucket.tokens = Math.min(perMinute, bucket.tokens + (nowMs - bucket.filledMs) * perMs);
      bucket.filledMs = nowMs;
      if (key !== latest) {
        buckets.delete(key);
        buckets.set(key, bucket);
        latest = key;
      }
      if (buckets.size > maxClients) buckets.delete(buckets.keys().next().value ?? key);
      if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perMs));
      bucket.tokens -= 1;
      return 0;
    },
  };
}
