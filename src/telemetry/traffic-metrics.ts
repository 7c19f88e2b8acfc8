import { clientOf, keyNameOf } from "../clients/client-name.ts";
import type { Instruments, Series } from "./instruments.ts";

/** One exchange, as `outbound` reports it. */
interface ObservedExchange {
  /** A catalogue id, or `unlisted`. */
  readonly endpoint: string;
  readonly outcome: string;
  readonly ms: number;
  readonly wireBytes: number;
  readonly requests: number;
}

/** One request, as the HTTP server reports it. */
interface ObservedRequest {
  /** The route's pattern, never a raw path. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
  /** Owner of the request. */
  readonly owner?: string | undefined;
}

/** Name of all endpoints that are not in the catalogue. */
export const unlisted = "unlisted";

/** Keys by name, of which there are at most 1,000; everybody else by kind. */
const clientLabel = (owner = "anonymous"): string =>
  keyNameOf(owner) ?? (owner === "admin" ? "admin" : clientOf(owner) === undefined ? "anonymous" : "other");

const breakerValue = { closed: 0, "half-open": 1, open: 2 } as const;

/** Incoming requests, and the outgoing ones that they cause. */
export function createTrafficMetrics(instruments: Instruments) {
  const { timers, counts, levels } = instruments;
  const http = timers("fedway_http_request_seconds", "Duration of HTTP requests", ["route", "method", "status"]);
  const byClient = counts("fedway_client_requests_total", "HTTP requests by client: keys by name", ["client"]);
  const costs = counts("fedway_client_cost_total", "Cost of calls by client: requests, rows, seconds", [
    "client",
    "kind",
  ]);
  const runs = timers("fedway_run_seconds", "Duration of query runs", ["plan", "status"]);
  const plans = counts("fedway_plans_total", "Plans made or taken from the cache", ["cache"]);
  // The 18 series of a histogram are for all endpoints together: a catalogue has thousands.
  const durations = timers("fedway_upstream_seconds", "Duration of exchanges with endpoints", ["outcome"]);
  const exchanges = counts("fedway_upstream_exchanges_total", "Exchanges with endpoints by how they ended", [
    "endpoint",
    "outcome",
  ]);
  const busy = counts("fedway_upstream_busy_seconds_total", "Time of the exchanges with an endpoint", ["endpoint"]);
  const requests = counts("fedway_upstream_requests_total", "HTTP requests to endpoints", ["endpoint"]);
  const bytes = counts("fedway_upstream_bytes_total", "Bytes received from endpoints, as encoded", ["endpoint"]);
  const refuted = counts("fedway_facts_refuted_total", "Endpoints that had what their description denied", [
    "endpoint",
  ]);
  const breaker = levels(
    "fedway_breaker_state",
    "Circuit breaker of an endpoint that has opened before: 0 closed, 1 half-open, 2 open",
    ["endpoint"],
  );
  /** Series whose first label is an endpoint. */
  const series: readonly Pick<Series<unknown>, "retain">[] = [exchanges, busy, requests, bytes, refuted, breaker];
  return {
    series,
    observeRequest({ route, method, status, seconds, owner }: ObservedRequest): void {
      http.of(route, method, String(status)).observe(seconds);
      byClient.of(clientLabel(owner)).inc();
    },
    /** Adds the cost of an owner's call. */
    observeCost(owner: string, cost: Readonly<Record<"requests" | "rows" | "seconds", number>>): void {
      for (const kind of ["requests", "rows", "seconds"] as const) costs.of(clientLabel(owner), kind).inc(cost[kind]);
    },
    /** One finished run. */
    observeRun: (plan: string, status: string, seconds: number): void => runs.of(plan, status).observe(seconds),
    observePlan: (cached: boolean): void => plans.of(cached ? "hit" : "miss").inc(),
    observeExchange({ endpoint, outcome, ms, requests: sent, wireBytes }: ObservedExchange): void {
      durations.of(outcome).observe(ms / 1000);
      exchanges.of(endpoint, outcome).inc();
      busy.of(endpoint).inc(ms / 1000);
      requests.of(endpoint).inc(sent);
      bytes.of(endpoint).inc(wireBytes);
    },
    /** A fact by which the endpoint was left out of plans was wrong. */
    observeRefutedFacts: (endpoint: string): void => refuted.of(endpoint).inc(),
    /** Endpoints outside the catalogue share one name, which then has no state. */
    setBreaker(endpoint: string, state: keyof typeof breakerValue): void {
      if (endpoint !== unlisted) breaker.of(endpoint).set(breakerValue[state]);
    },
    /** Reads the number of queries under way at scrape time. */
    watchRunning: (read: () => number): void => instruments.reading("fedway_runs_running", "Queries under way", read),
  };
}
