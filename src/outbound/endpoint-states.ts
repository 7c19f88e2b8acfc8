import { LRUCache } from "lru-cache";
import { sizedByKey } from "../cache-size.ts";
import type { FedwayError } from "../errors/fedway-error.ts";
import { Breaker, type BreakerOptions } from "./breaker.ts";
import type { BreakerReport } from "./observer.ts";
import type { Network } from "./network.ts";
import { Scheduler, type SchedulerOptions } from "./scheduler.ts";
import type { EndpointTarget, LearnedManner } from "./sparql-client.ts";

/** Remembered state of one endpoint (one origin and path). */
export interface EndpointState {
  readonly scheduler: Scheduler;
  readonly breaker: Breaker;
  /** How it must be asked, as its requests have shown. */
  learned: LearnedManner;
  /** The method in use has been answered, so that a refusal hardly means the method. */
  isVerified: boolean;
  /** How often other methods and formats were tried in vain, and until when that counts. */
  readonly vain: { tries: number; untilMs: number };
  /** True of the media types in which it was asked for known terms and kept them, false of those in which it did not. */
  readonly keptIn: Map<string, boolean>;
  /** Triples of the largest graph that was found to be whole. */
  wholeTriples: number;
  /** The latest row cap that an answer has named, or that it was found to keep without a sign. */
  rowCap: { readonly rows: number; readonly isSilent: boolean } | undefined;
}

/** How states are made. */
interface EndpointStateOptions {
  readonly scheduler: SchedulerOptions;
  readonly breaker: BreakerOptions;
  /** States remembered; busy ones are never dropped. */
  readonly maxEndpoints: number;
  onBreaker?(report: BreakerReport): void;
}

/** Called on changes; must not throw. */
type BreakerListener = (report: BreakerReport) => void;

/** The circuit breakers of a client, for those who know more of an endpoint than its requests show. */
export interface Breakers {
  /**
   * An endpoint that others found broken: nothing is sent there until this moment (on the client's clock), then one
   * request as a trial. Never shortens a cool-down; a URL that is none, or a moment that has passed, changes nothing.
   * @param reason public words for the message of `CIRCUIT_OPEN`, such as "it has been down since noon"
   */
  holdOpen(target: EndpointTarget, untilMs: number, reason?: string): void;
  /** Another process found that the endpoint works again. */
  close(url: string): void;
  /** Why nothing would be sent to an endpoint now; undefined when a request would. Takes no trial. */
  refusal(url: string): FedwayError | undefined;
  /** Calls back after every change of a state, until the returned function is called. */
  onChange(listener: BreakerListener): () => void;
}

const longestReason = 300;

/** Name of an endpoint in metrics: a closed set. */
export const metricName = (target: EndpointTarget): string => target.id ?? "unlisted";

const placeOf = ({ origin, pathname }: URL): string => origin + pathname;

const isIdle = ({ scheduler, breaker }: EndpointState): boolean => scheduler.idle && breaker.state === "closed";

/** The states of a client's endpoints; forgets the longest unused idle ones. */
export class EndpointStates {
  readonly #options: EndpointStateOptions;
  /** Insertion order is order of use: a state that is used moves to the end. */
  readonly #states = new Map<string, EndpointState>();
  readonly #listeners = new Set<BreakerListener>();
  #latest: EndpointState | undefined;

  constructor(options: EndpointStateOptions) {
    this.#options = options;
  }

  readonly breakers: Breakers = {
    holdOpen: (target, untilMs, reason) => {
      const url = URL.parse(target.url);
      if (url !== null) this.of(target, url).breaker.holdOpen(untilMs, reason?.slice(0, longestReason));
    },
    close: (text) => this.#breakerOf(text)?.close(),
    refusal: (text) => {
      const breaker = this.#breakerOf(text);
      return breaker !== undefined && breaker.waitMs() > 0 ? breaker.refusal() : undefined;
    },
    onChange: (listener) => {
      this.#listeners.add(listener);
      return () => this.#listeners.delete(listener);
    },
  };

  of(target: EndpointTarget, url: URL): EndpointState {
    const key = placeOf(url);
    let state = this.#states.get(key);
    if (state !== undefined && state === this.#latest) return state;
    if (state === undefined) state = this.#make(target, key);
    else this.#states.delete(key);
    this.#states.set(key, state);
    this.#latest = state;
    return state;
  }

  #breakerOf(text: string): Breaker | undefined {
    const url = URL.parse(text);
    return url === null ? undefined : this.#states.get(placeOf(url))?.breaker;
  }

  get size(): number {
    return this.#states.size;
  }

  close(): void {
    for (const { scheduler } of this.#states.values()) scheduler.close();
    this.#states.clear();
  }

  #make(target: EndpointTarget, key: string): EndpointState {
    // An open breaker is worth remembering, but not at any price.
    if (this.#states.size >= this.#options.maxEndpoints && !this.#forget(isIdle)) {
      this.#forget(({ scheduler }) => scheduler.idle);
    }
    return {
      scheduler: new Scheduler(this.#options.scheduler),
      breaker: this.#makeBreaker(target, key),
      learned: {},
      isVerified: false,
      vain: { tries: 0, untilMs: 0 },
      keptIn: new Map(),
      rowCap: undefined,
      wholeTriples: 0,
    };
  }

  #forget(dispensable: (state: EndpointState) => boolean): boolean {
    for (const [key, state] of this.#states) {
      if (!dispensable(state)) continue;
      state.scheduler.close();
      this.#states.delete(key);
      return true;
    }
    return false;
  }

  /** A breaker whose reports name its endpoint. */
  #makeBreaker(target: EndpointTarget, url: string): Breaker {
    const named = { endpoint: metricName(target), id: target.id, url };
    const breaker = new Breaker({
      ...this.#options.breaker,
      onState: (state, by) => {
        const report = { ...named, state, openUntilMs: state === "open" ? breaker.openUntilMs : undefined, by };
        this.#options.onBreaker?.(report);
        for (const listener of this.#listeners) listener(report);
      },
    });
    return breaker;
  }
}

/** An endpoint's URL, parsed and vetted once. */
interface Vetted {
  readonly url: URL | null;
  readonly refused: FedwayError | undefined;
  /** The host whose rate its requests count for. */
  readonly host: string | undefined;
}

/** Remembers the verdict on each URL; the guard never changes its mind about a literal. */
export function createVetting({ guard, rateHost }: Network): (text: string) => Vetted {
  const known = new LRUCache<string, Vetted>(sizedByKey(8, { each: 500, perCharacter: 6 }));
  return (text) => {
    let vetted = known.get(text);
    if (vetted === undefined) {
      const url = URL.parse(text);
      vetted = { url, refused: guard.refuseUrl(text), host: url === null ? undefined : rateHost(url) };
      known.set(text, vetted);
    }
    return vetted;
  };
}
