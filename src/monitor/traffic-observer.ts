import type { HealthState, Observation, TrafficReport } from "./monitor.ts";
import { transportFaults } from "./network.ts";

interface TrafficObserverOptions {
  readonly now: () => number;
  /** Undefined for what is not in the catalogue. */
  readonly stateOf: (endpoint: string) => HealthState | undefined;
  /** The endpoint should be looked at before its turn; called at most once per endpoint and 30 s. */
  readonly callForProbe: (endpoint: string) => void;
  /** Keeps an observation; called for few of them only. */
  readonly keep: (endpoint: string, observation: Observation) => void;
}

interface Seen {
  /** Moments of the latest transport faults, at most three. */
  faults: readonly number[];
  calledMs: number;
  /** The minute that observations are counted in, and how many of it were kept. */
  minute: number;
  good: number;
  bad: number;
}

/** Faults that are the endpoint's, whatever the query was: worth keeping. What a query itself causes is not. */
const keptFaults: ReadonlySet<string> = new Set([...transportFaults, "http-429", "wrong-media-type", "malformed"]);

/** Answers of an endpoint that lives, though not what the query asked for. */
const signsOfLife: ReadonlySet<TrafficReport["outcome"]> = new Set(["ok", "partial", "http-4xx", "too-large"]);

const faultsThatCall = 3;
const withinMs = 60_000;
const callEveryMs = 30_000;
const mostGood = 1;
const mostBad = 3;
const mostEndpoints = 10_000;

/** Weighs what proxied traffic tells of endpoints; has seen nothing yet. */
export function createTrafficObserver({ now, stateOf, callForProbe, keep }: TrafficObserverOptions) {
  const seen = new Map<string, Seen>();
  const of = (endpoint: string): Seen => {
    const known = seen.get(endpoint);
    if (known !== undefined) return known;
    const [oldest] = seen.keys();
    if (seen.size >= mostEndpoints && oldest !== undefined) seen.delete(oldest);
    const fresh = { faults: [], calledMs: Number.NEGATIVE_INFINITY, minute: 0, good: 0, bad: 0 };
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
    report({ endpoint, outcome, ms }: TrafficReport): void {
      const isFault = transportFaults.has(outcome);
      const lives = signsOfLife.has(outcome);
      if (!isFault && !lives && !keptFaults.has(outcome)) return;
      const state = stateOf(endpoint);
      if (state === undefined) return;
      const nowMs = now();
      const one = of(endpoint);
      const observation = sampled(one, { endpoint, outcome, ms }, nowMs);
      if (observation !== undefined) keep(endpoint, observation);
      if (lives && state === "down") call(endpoint, one, nowMs);
      if (!isFault || state !== "up") return;
      one.faults = [...one.faults.filter((atMs) => Math.abs(nowMs - atMs) < withinMs), nowMs].slice(-faultsThatCall);
      if (one.faults.length >= faultsThatCall) call(endpoint, one, nowMs);
    },
  };
}

/** The observation of a query, when it is one of the few of its minute that are kept. */
function sampled(one: Seen, { outcome, ms }: TrafficReport, nowMs: number): Observation | undefined {
  const minute = Math.floor(nowMs / 60_000);
  if (one.minute !== minute) Object.assign(one, { minute, good: 0, bad: 0 });
  const frame = { atMs: nowMs, ms: Math.max(0, ms), tries: 1, source: "traffic" } as const;
  if (outcome === "ok") {
    one.good += 1;
    return one.good > mostGood ? undefined : { ...frame, ok: true };
  }
  if (outcome === "partial" || outcome === "cancelled" || !keptFaults.has(outcome)) return undefined;
  one.bad += 1;
  return one.bad > mostBad ? undefined : { ...frame, ok: false, fault: outcome };
}
