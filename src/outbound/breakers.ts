import type { BreakerState, BreakerWitness } from "./breaker.ts";
import type { Lanes } from "./lanes.ts";
import type { EndpointTarget } from "./sparql-client.ts";

/** A circuit breaker that has changed its state. */
export interface BreakerReport {
  /** Catalogue id, or "unlisted". */
  readonly endpoint: string;
  /** Catalogue id, where the endpoint has one. */
  readonly id?: string;
  /** Origin and path, which is what a breaker belongs to. */
  readonly url: string;
  readonly state: BreakerState;
  /** When its cool-down ends, on the client's clock; only of an open one. */
  readonly openUntilMs?: number;
  /** "own": requests of this process showed it. "outside": `holdOpen` or `close` did. */
  readonly by: BreakerWitness;
}

/** What a breaker belongs to, and the name that it has in metrics. */
type BreakerTarget = Pick<EndpointTarget, "id" | "url">;

/** Hears of changes; must not throw. */
export type BreakerListener = (report: BreakerReport) => void;

/** The circuit breakers of a client, for those who know more of an endpoint than its requests show. */
export interface Breakers {
  /**
   * An endpoint that others found broken: nothing is sent there until this moment (on the client's clock), then one
   * request as a trial. Never shortens a cool-down; a URL that is none, or a moment that has passed, changes nothing.
   * @param reason public words for the message of `CIRCUIT_OPEN`, such as "it has been down since noon"
   */
  holdOpen(target: BreakerTarget, untilMs: number, reason?: string): void;
  /** An endpoint that others found to work again. */
  close(url: string): void;
  /** Calls back after every change of a state, until the returned function is called. */
  onChange(listener: BreakerListener): () => void;
}

const longestReason = 300;

/** The breakers of these lanes; whoever makes the lanes tells the listeners. */
export function createBreakers(lanes: Lanes, listeners: Set<BreakerListener>): Breakers {
  return {
    holdOpen(target, untilMs, reason) {
      const url = URL.parse(target.url);
      if (url !== null) lanes.of(target, url).breaker.holdOpen(untilMs, reason?.slice(0, longestReason));
    },
    close(text) {
      const url = URL.parse(text);
      if (url !== null) lanes.find(url)?.breaker.close();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
