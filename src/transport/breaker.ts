import type { Clock } from "./clock.ts";

/** Closed: requests pass. Open: none passes. Half-open: one trial decides. */
export type BreakerState = "closed" | "open" | "half-open";

/** How a request speaks for its endpoint's health; "none" when it says nothing (4xx, cancelled). */
export type HealthSign = "good" | "fault" | "none";

/** Permission to send one request. */
export interface Admission {
  /** True for the single request that decides in the half-open state. */
  readonly trial: boolean;
}

/** Thresholds of a circuit breaker. */
export interface BreakerOptions {
  /** Consecutive faults that open it. */
  readonly faults: number;
  /** First cool-down; it doubles with every failed trial. */
  readonly coolDownMs: number;
  readonly maxCoolDownMs: number;
  readonly clock: Clock;
  onState?(state: BreakerState): void;
}

/** Leaves a failing endpoint alone for a while, then lets a single request find out whether it has recovered. */
export interface Breaker {
  readonly state: BreakerState;
  /** Milliseconds until a request may be tried; 0 when one may now. Takes no permission. */
  waitMs(): number;
  /** A permission, which must be given back with `leave`; undefined while none is given. */
  enter(): Admission | undefined;
  leave(admission: Admission, sign: HealthSign): void;
}

export function createBreaker(options: BreakerOptions): Breaker {
  const { clock } = options;
  const passing: Admission = { trial: false };
  let state: BreakerState = "closed";
  let faults = 0;
  let coolDownMs = options.coolDownMs;
  let openUntil = 0;
  let trial: Admission | undefined;

  const become = (next: BreakerState): void => {
    if (next === state) return;
    state = next;
    options.onState?.(next);
  };
  const open = (): void => {
    openUntil = clock.now() + coolDownMs;
    become("open");
  };
  const waitMs = (): number => {
    if (state === "closed") return 0;
    if (state === "open") return Math.max(0, openUntil - clock.now());
    return trial === undefined ? 0 : options.coolDownMs;
  };

  const leaveTrial = (sign: HealthSign): void => {
    trial = undefined;
    if (sign === "good") {
      faults = 0;
      coolDownMs = options.coolDownMs;
      become("closed");
    } else if (sign === "fault") {
      coolDownMs = Math.min(coolDownMs * 2, options.maxCoolDownMs);
      open();
    }
  };

  return {
    get state() {
      return state;
    },
    waitMs,
    enter() {
      if (state === "closed") return passing;
      if (waitMs() > 0) return undefined;
      become("half-open");
      trial = { trial: true };
      return trial;
    },
    leave(admission, sign) {
      if (admission.trial) {
        if (admission === trial) leaveTrial(sign);
        return;
      }
      // Requests from before the opening end late; only a closed breaker learns from them.
      if (state !== "closed" || sign === "none") return;
      faults = sign === "good" ? 0 : faults + 1;
      if (faults >= options.faults) open();
    },
  };
}
