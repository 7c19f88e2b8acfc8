const FIRST = 16;
const MOST = 512;

/** How many join keys one request to an endpoint may carry; learned from what the endpoint accepts. */
export interface BlockSizes {
  /** Keys for the next block. */
  next(endpoint: string): number;
  /** A block of this many keys was answered. */
  accepted(endpoint: string, keys: number): void;
  /** A block of this many keys was refused or timed out: no later one will be larger than half of it. */
  refused(endpoint: string, keys: number): void;
}

interface Learned {
  next: number;
  limit: number;
}

/** Starts small so that first solutions come early, doubles while blocks are answered; remembers `maxEndpoints` endpoints. */
export function createBlockSizes(maxEndpoints = 1_000): BlockSizes {
  const learned = new Map<string, Learned>();
  const of = (endpoint: string): Learned => {
    const known = learned.get(endpoint) ?? { next: FIRST, limit: MOST };
    // Re-inserted at the end: the first entry is always the one unused for longest.
    learned.delete(endpoint);
    learned.set(endpoint, known);
    const oldest = learned.keys().next();
    if (learned.size > maxEndpoints && !oldest.done) learned.delete(oldest.value);
    return known;
  };
  return {
    next: (endpoint) => of(endpoint).next,
    accepted(endpoint, keys) {
      const known = of(endpoint);
      if (keys >= known.next) known.next = Math.min(known.next * 2, known.limit);
    },
    refused(endpoint, keys) {
      const known = of(endpoint);
      known.limit = Math.max(1, Math.floor(keys / 2));
      known.next = Math.min(known.next, known.limit);
    },
  };
}
