import type { HealthState, TrafficReport } from "./monitor.ts";
import { transportFaults } from "./judgement.ts";

interface TrafficObserverOptions {
  readonly now: () => number;
  /** Undefined for what is not in the catalogue. */
  readonly stateOf: (endpoint: string) => HealthState | undefined;
  /** The endpoint should be looked at before its turn; called at most once per endpoint and 30 s. */
  readonly callForProbe: (endpoint: string) => void;
}

interface Seen {
  /** Moments of the latest transport faults, at most three. */
  faults: readonly number[];
  calledMs: number;
}

/** Answers of an endpoint that lives, though not what the query asked for. */
const signsOfLife: ReadonlySet<TrafficReport["outcome"]> = new Set(["ok", "partial", "http-4xx", "too-large"]);

const faultsThatCall = 3;
const withinMs = 60_000;
const callEveryMs = 30_000;
const mostEndpoints = 10_000;

/** Weighs the traffic's evidence about endpoints; starts without any. */
export function createTrafficObserver({ now, stateOf, callForProbe }: TrafficObserverOptions) {
  const seen = new Map<string, Seen>();
  const of = (endpoint: string): Seen => {
    const known = seen.get(endpoint);
    if (known !== undefined) return known;
    const [oldest] = seen.keys();
    if (seen.size >= mostEndpoints && oldest !== undefined) seen.delete(oldest);
    const fresh = { faults: [], calledMs: Number.NEGATIVE_INFINITY };
    seen.set(endpoint, fresh);
    return fresh;
  };
  const call = (endpoint: string, one: Seen, nowMs: number): void => {
    if (Math.abs(nowMs - one.calledMs) < callEveryMs) return;
    one.calledMs = nowMs;
    one.faults = [];
    callForProbe(endpoint);
  };

  return {
    /** Cheap and without errors: it is called with every proxied query. */
    report({ endpoint, outcome }: TrafficReport): void {
      const isFault = transportFaults.has(outcome);
      const lives = signsOfLife.has(outcome);
      if (!isFault && !lives) return;
      const state = stateOf(endpoint);
      if (state === undefined) return;
      const nowMs = now();
      const one = of(endpoint);
      if (lives && state === "down") call(endpoint, one, nowMs);
      if (!isFault || state !== "up") return;
      one.faults = [...one.faults.filter((atMs) => Math.abs(nowMs - atMs) < withinMs), nowMs].slice(-faultsThatCall);
      if (one.faults.length >= faultsThatCall) call(endpoint, one, nowMs);
    },
  };
}
