import type { Instruments, Series } from "./instruments.ts";

/** What the HTTP shell tells of one request. */
export interface ObservedRequest {
  /** The route's template. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

/** What `outbound` tells of one exchange. */
export interface ObservedExchange {
  /** A catalogue id, or `unlisted`. */
  readonly endpoint: string;
  readonly outcome: string;
  readonly ms: number;
  readonly wireBytes: number;
  readonly requests: number;
}

/** State of a circuit breaker. */
export type BreakerState = "closed" | "half-open" | "open";

/** Requests that come in, and what they make go out. */
export interface TrafficMetrics {
  /** One finished HTTP request. */
  observeRequest(request: ObservedRequest): void;
  /** One finished run. */
  observeRun(plan: string, status: string, seconds: number): void;
  observePlan(cached: boolean): void;
  /** One exchange with an endpoint. */
  observeExchange(exchange: ObservedExchange): void;
  /** Endpoints outside the catalogue share one name, which then has no state. */
  setBreaker(endpoint: string, state: BreakerState): void;
  /** Reads the number of queries under way at scrape time. */
  watchRunning(read: () => number): void;
}

/** Series whose first label is an endpoint. */
export type EndpointSeries = Pick<Series<unknown>, "firstLabels" | "forget">;

/** Name of all endpoints that are not in the catalogue. */
export const unlisted = "unlisted";

const breakerValue: Record<BreakerState, number> = { closed: 0, "half-open": 1, open: 2 };

/** The instruments of traffic. */
export function createTrafficMetrics(instruments: Instruments): TrafficMetrics & { readonly series: EndpointSeries[] } {
  const { timers, counts, levels } = instruments;
  const http = timers({
    name: "fedway_http_request_seconds",
    help: "Duration of HTTP requests",
    labels: ["route", "method", "status"],
  });
  const runs = timers({ name: "fedway_run_seconds", help: "Duration of query runs", labels: ["plan", "status"] });
  const plans = counts({ name: "fedway_plans_total", help: "Plans made or taken from the cache", labels: ["cache"] });
  // The 18 series of a histogram are for all endpoints together: a catalogue has thousands.
  const durations = timers({
    name: "fedway_upstream_seconds",
    help: "Duration of exchanges with endpoints",
    labels: ["outcome"],
  });
  const exchanges = counts({
    name: "fedway_upstream_exchanges_total",
    help: "Exchanges with endpoints by how they ended",
    labels: ["endpoint", "outcome"],
  });
  const busy = counts({
    name: "fedway_upstream_busy_seconds_total",
    help: "Time of the exchanges with an endpoint",
    labels: ["endpoint"],
  });
  const requests = counts({
    name: "fedway_upstream_requests_total",
    help: "HTTP requests to endpoints",
    labels: ["endpoint"],
  });
  const bytes = counts({
    name: "fedway_upstream_bytes_total",
    help: "Bytes received from endpoints, as encoded",
    labels: ["endpoint"],
  });
  const breaker = levels({
    name: "fedway_breaker_state",
    help: "Circuit breaker of an endpoint that has opened before: 0 closed, 1 half-open, 2 open",
    labels: ["endpoint"],
  });
  return {
    series: [exchanges, busy, requests, bytes, breaker],
    observeRequest: ({ route, method, status, seconds }) => http.of(route, method, String(status)).observe(seconds),
    observeRun: (plan, status, seconds) => runs.of(plan, status).observe(seconds),
    observePlan: (cached) => plans.of(cached ? "hit" : "miss").inc(),
    observeExchange({ endpoint, outcome, ms, requests: sent, wireBytes }) {
      durations.of(outcome).observe(ms / 1000);
      exchanges.of(endpoint, outcome).inc();
      busy.of(endpoint).inc(ms / 1000);
      requests.of(endpoint).inc(sent);
      bytes.of(endpoint).inc(wireBytes);
    },
    setBreaker(endpoint, state) {
      if (endpoint !== unlisted) breaker.of(endpoint).set(breakerValue[state]);
    },
    watchRunning: (read) => instruments.reading({ name: "fedway_runs_running", help: "Queries under way" }, read),
  };
}
