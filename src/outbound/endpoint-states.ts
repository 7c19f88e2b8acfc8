import type { Clock } from "../clock.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { BreakerReport } from "./observer.ts";
import { Scheduler, type SchedulerOptions } from "./scheduler.ts";
import type { AnswerEnd, EndpointTarget, LearnedManner } from "./sparql-request.ts";

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

/** Closed: requests pass. Open: none passes. Half-open: one query is the trial that decides. */
export type BreakerState = "closed" | "open" | "half-open";

/** Cause of a state change: requests of this process, or a sign from outside. */
export type BreakerSource = "own" | "outside";

/** How a request speaks for its endpoint's health; "none" when it says nothing (4xx, cancelled). */
export type HealthSign = "good" | "fault" | "none";

/** Permission to send one request. */
export interface Permission {
  /** True for the requests of the one query that decides in the half-open state. */
  readonly trial: boolean;
  /** True for a request that did not need the breaker's consent. */
  readonly past?: boolean;
}

/** Facts about a request beside its sign. */
export interface RequestOfRun {
  /** Run of the request: several faults of one run count once. Absent: it stands for itself. */
  readonly run?: object | undefined;
  /** How it failed. */
  readonly error?: FedwayError | undefined;
}

/** Thresholds of a circuit breaker. */
export interface BreakerThresholds {
  /** Consecutive faults that open it; those of one run are one. */
  readonly faults: number;
  /** First cool-down; it doubles with every failed trial. */
  readonly coolDownMs: number;
  readonly maxCoolDownMs: number;
}

/** Thresholds of a circuit breaker, its clock, and a listener. */
export interface BreakerOptions extends BreakerThresholds {
  readonly clock: Clock;
  onState?(state: BreakerState, by: BreakerSource): void;
}

const passing: Permission = { trial: false };
const passingBy: Permission = { trial: false, past: true };

/** A query on trial. All of its requests pass; the first one that says something decides. */
interface Trial extends Permission {
  readonly run: object | undefined;
  /** Requests under way. */
  open: number;
}

/** Gives a failing endpoint time to cool down, then lets a single query find out whether it has recovered. */
export class Breaker {
  state: BreakerState = "closed";
  /** When the latest cool-down ends, on the clock. */
  openUntilMs = 0;
  /** Why it is held open, in public words; undefined when it opened by its own faults. */
  reason: string | undefined;
  readonly #options: BreakerOptions;
  #faults = 0;
  /** Runs whose faults are among those counted. */
  #faultyRuns = new WeakSet<object>();
  #lastFault: string | undefined;
  #coolDownMs: number;
  #trial: Trial | undefined;

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#coolDownMs = options.coolDownMs;
  }

  /** Milliseconds until a request, of this run, may be tried; 0 when one may now. Takes no permission. */
  waitMs(run?: object): number {
    if (this.state === "closed") return 0;
    if (this.state === "open") return Math.max(0, this.openUntilMs - this.#options.clock.now());
    const mayEnter = this.#trial === undefined || (run !== undefined && this.#trial.run === run);
    return mayEnter ? 0 : this.#options.coolDownMs;
  }

  /** A permission, which must be given back with `leave`; undefined while none is given. */
  enter(run?: object): Permission | undefined {
    if (this.state === "closed") return passing;
    if (this.waitMs(run) > 0) return undefined;
    // A trial from before the latest opening has no say any more.
    if (this.state === "open" || this.#trial === undefined) this.#trial = { trial: true, run, open: 0 };
    this.#trial.open += 1;
    this.#become("half-open", "own");
    return this.#trial;
  }

  /** A permission for a request that is sent in any state; a good one closes, a bad one speaks when a trial was due. */
  pass(): Permission {
    return passingBy;
  }

  leave(permission: Permission, sign: HealthSign, of: RequestOfRun = {}): void {
    if (sign === "fault") this.#lastFault = faultText(of.error) ?? this.#lastFault;
    if (permission.trial) {
      this.#leaveTrial(permission, sign);
    } else if (this.state === "closed") {
      this.#count(sign, of.run);
    } else if (permission.past === true && (sign === "good" || this.waitMs() === 0)) {
      this.#judge(sign);
    }
    // Other requests from before the opening end late; only a closed breaker learns from them.
  }

  /** Why no permission is given. */
  refusal(): FedwayError {
    const message =
      this.reason === undefined
        ? `The endpoint failed several times in a row and is cooling down${this.#lastFault ?? ""}.`
        : `The endpoint is cooling down: ${this.reason}.`;
    return new FedwayError("CIRCUIT_OPEN", message, {
      fault: "circuit-open",
      retryAfterMs: this.waitMs(),
      next: "Try again later, or use another endpoint with the same data.",
    });
  }

  /** Opens until this moment, then lets one trial through as ever; never shortens a cool-down. */
  holdOpen(untilMs: number, reason?: string): void {
    if (untilMs <= this.#options.clock.now()) return;
    this.#openUntil(untilMs);
    this.reason = reason;
    this.#become("open", "outside");
  }

  /** The endpoint is known to work again. */
  close(): void {
    this.#recover("outside");
  }

  #count(sign: HealthSign, run: object | undefined): void {
    if (sign === "none") return;
    if (sign === "good") {
      this.#forgive();
      return;
    }
    // A query that is sent in blocks, or asks side by side, fails once.
    if (run !== undefined && this.#faultyRuns.has(run)) return;
    if (run !== undefined) this.#faultyRuns.add(run);
    this.#faults += 1;
    if (this.#faults >= this.#options.faults) this.#open();
  }

  #leaveTrial(permission: Permission, sign: HealthSign): void {
    const trial = this.#trial;
    if (trial === undefined || permission !== trial) return;
    trial.open -= 1;
    if (sign === "none" && trial.open > 0) return;
    this.#trial = undefined;
    this.#judge(sign);
  }

  /** Judges the result of a trial, or of a request in its place. */
  #judge(sign: HealthSign): void {
    if (sign === "good") this.#recover("own");
    if (sign !== "fault") return;
    this.#coolDownMs = Math.min(this.#coolDownMs * 2, this.#options.maxCoolDownMs);
    this.#open();
  }

  #open(): void {
    // A trial may fail while the breaker is held open from outside for longer.
    if (this.state !== "open") this.reason = undefined;
    this.#openUntil(this.#options.clock.now() + this.#coolDownMs);
    this.#become("open", "own");
  }

  #openUntil(momentMs: number): void {
    this.openUntilMs = this.state === "open" ? Math.max(this.openUntilMs, momentMs) : momentMs;
  }

  #forgive(): void {
    if (this.#faults === 0) return;
    this.#faults = 0;
    this.#faultyRuns = new WeakSet();
  }

  #recover(by: BreakerSource): void {
    this.#forgive();
    this.#coolDownMs = this.#options.coolDownMs;
    this.#trial = undefined;
    this.reason = undefined;
    this.#become("closed", by);
  }

  #become(next: BreakerState, by: BreakerSource): void {
    if (next === this.state) return;
    this.state = next;
    this.#options.onState?.(next, by);
  }
}

/** The fault in words of this service's own: what the endpoint said may be about somebody's query. */
function faultText(error: FedwayError | undefined): string | undefined {
  if (error === undefined) return undefined;
  const { upstreamStatus, fault } = error.details;
  const how = upstreamStatus === undefined ? fault : `HTTP status ${upstreamStatus}`;
  return `; the last time: ${error.kind.title}${how === undefined ? "" : ` (${how})`}`;
}

type Judge = (error: FedwayError, slow: boolean) => boolean;
const always: Judge = () => true;

/** Errors that speak against the endpoint, and when. */
const faults: Readonly<Partial<Record<ErrorCode, Judge>>> = {
  ENDPOINT_UNREACHABLE: always,
  ENDPOINT_FAILED: always,
  ENDPOINT_BROKE_OFF: ({ details }) => details.fault === "reset",
  // With a status the engine itself has reported the time-out: it is alive.
  ENDPOINT_TIMEOUT: ({ details }) => details.upstreamStatus === undefined,
  DEADLINE_EXCEEDED: (_error, slow) => slow,
};

/** Errors that only an endpoint in good health causes. */
const signsOfLife: ReadonlySet<ErrorCode> = new Set([
  "ENDPOINT_REJECTED_QUERY",
  "ENDPOINT_REFUSED",
  "ENDPOINT_PARTIAL",
  "ANSWER_TOO_LARGE",
]);

/**
 * Sign of a query's end about its endpoint. Connection faults, 5xx and silence are faults; rate limits,
 * malformed answers and cancellations say nothing.
 * @param slow the request waited so long for its response head that its own deadline speaks against the endpoint
 */
export function healthSign(outcome: AnswerEnd | FedwayError, slow: boolean): HealthSign {
  if (!(outcome instanceof FedwayError) || signsOfLife.has(outcome.code)) return "good";
  return faults[outcome.code]?.(outcome, slow) === true ? "fault" : "none";
}
