import { LRUCache } from "lru-cache";
import { FedwayError } from "../../errors/fedway-error.ts";
import { sizedByKey } from "../../cache-size.ts";

const COOLING_MS = 60_000;
// A query with this multiple of the time is not kept from asking.
const MUCH_MORE = 1.5;

interface Slow {
  readonly sinceMs: number;
  /** Time that the query had. */
  readonly timeoutMs: number;
}

/**
 * Members that used up their share of a query's time: for a minute, they are not asked by queries that do without members that
 * fail, unless these have much more time. One that answers is asked by all again.
 */
export class CoolingDown {
  readonly #now: () => number;
  readonly #slow = new LRUCache<string, Slow>(sizedByKey(1));

  /** @param now milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws FedwayError `CIRCUIT_OPEN` for a member that is cooling down */
  require(url: string, timeoutMs: number): void {
    const slow = this.#slow.get(url);
    const waitMs = slow ? slow.sinceMs + COOLING_MS - this.#now() : 0;
    if (!slow || waitMs <= 0 || timeoutMs > slow.timeoutMs * MUCH_MORE) return;
    const since = new Date(slow.sinceMs).toISOString();
    const until = new Date(slow.sinceMs + COOLING_MS).toISOString();
    const message = `The endpoint used up its share of a query's time and has been cooling down since ${since}; it is asked again at ${until}.`;
    throw new FedwayError("CIRCUIT_OPEN", message, {
      fault: "circuit-open",
      retryAfterMs: waitMs,
      coolingDown: { since, until },
      next: "Allow the query more time, ask without partial=true, or try again later.",
    });
  }

  tookTooLong(url: string, timeoutMs: number): void {
    this.#slow.set(url, { sinceMs: this.#now(), timeoutMs });
  }

  answered(url: string): void {
    this.#slow.delete(url);
  }
}
