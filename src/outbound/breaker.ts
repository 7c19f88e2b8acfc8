import type { Clock } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";

/** Closed: requests pass. Open: none passes. Half-open: one query is the trial that decides. */
export type BreakerState = "closed" | "open" | "half-open";

/** Cause of a state change: requests of this process, or a sign from outside. */
export type BreakerSource = "own" | "outside";

/** How a request speaks for its endpoint's health; "none" when it says nothing (4xx, cancelled). */
export type HealthSign = "good" | "fault" | "none";

/** Permission to send one request. */
export interface Admission {
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

const passing: Admission = { trial: false };
const passingBy: Admission = { trial: false, past: true };

/** A query on trial. All of its requests pass; the first one that says something decides. */
interface Trial extends Admission {
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
  enter(run?: object): Admission | undefined {
    if (this.state === "closed") return passing;
    if (this.waitMs(run) > 0) return undefined;
    // A trial from before the latest opening has no say any more.
    if (this.state === "open" || this.#trial === undefined) this.#trial = { trial: true, run, open: 0 };
    this.#trial.open += 1;
    this.#become("half-open", "own");
    return this.#trial;
  }

  /** A permission for a request that is sent in any state; a good one closes, a bad one speaks when a trial was due. */
  pass(): Admission {
    return passingBy;
  }

  leave(admission: Admission, sign: HealthSign, of: RequestOfRun = {}): void {
    if (sign === "fault") this.#lastFault = faultText(of.error) ?? this.#lastFault;
    if (admission.trial) {
      this.#leaveTrial(admission, sign);
    } else if (this.state === "closed") {
      this.#count(sign, of.run);
    } else if (admission.past === true && (sign === "good" || this.waitMs() === 0)) {
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

  #leaveTrial(admission: Admission, sign: HealthSign): void {
    const trial = this.#trial;
    if (trial === undefined || admission !== trial) return;
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
