import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

/** The registry and every instrument of the service. Labels come from closed sets or are catalogue ids. */
export interface Metrics {
  readonly contentType: string;
  /** All metrics in the Prometheus text format. */
  render(): Promise<string>;
  /** One finished HTTP request; `route` is the route's template. */
  observeRequest(request: ObservedRequest): void;
  /** One finished run. */
  observeRun(plan: string, status: string, seconds: number): void;
  observePlan(cached: boolean): void;
  /** One exchange with an endpoint; `endpoint` is a catalogue id or `unlisted`. */
  observeExchange(exchange: ObservedExchange): void;
  setBreaker(endpoint: string, state: BreakerState): void;
  /** Reads the number of queries under way at scrape time. */
  watchRunning(read: () => number): void;
}

/** What the HTTP shell tells of one request. */
export interface ObservedRequest {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

/** What the transport tells of one exchange. */
export interface ObservedExchange {
  readonly endpoint: string;
  readonly outcome: string;
  readonly ms: number;
  readonly wireBytes: number;
  readonly requests: number;
}

/** State of a circuit breaker. */
export type BreakerState = "closed" | "half-open" | "open";

const breakerValue: Record<BreakerState, number> = { closed: 0, "half-open": 1, open: 2 };
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Creates the instruments on a registry of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const histogram = (name: string, help: string, labelNames: readonly string[]) =>
    new Histogram({ name, help, labelNames: [...labelNames], buckets: seconds, registers });
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });

  const http = histogram("fedway_http_request_seconds", "Duration of HTTP requests", ["route", "method", "status"]);
  const runs = histogram("fedway_run_seconds", "Duration of query runs", ["plan", "status"]);
  const plans = counter("fedway_plans_total", "Plans made or taken from the cache", ["cache"]);
  const exchanges = histogram("fedway_upstream_seconds", "Duration of exchanges with endpoints", [
    "endpoint",
    "outcome",
  ]);
  const requests = counter("fedway_upstream_requests_total", "HTTP requests to endpoints", ["endpoint"]);
  const bytes = counter("fedway_upstream_bytes_total", "Bytes received from endpoints, as encoded", ["endpoint"]);
  const breaker = new Gauge({
    name: "fedway_breaker_state",
    help: "Circuit breaker of an endpoint: 0 closed, 1 half-open, 2 open",
    labelNames: ["endpoint"],
    registers,
  });

  const httpOf = children((labels) => http.labels(...labels));
  const runsOf = children((labels) => runs.labels(...labels));
  const plansOf = children((labels) => plans.labels(...labels));
  const exchangesOf = children((labels) => exchanges.labels(...labels));
  const requestsOf = children((labels) => requests.labels(...labels));
  const bytesOf = children((labels) => bytes.labels(...labels));

  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    observeRequest: ({ route, method, status, seconds: duration }) =>
      httpOf(route, method, String(status)).observe(duration),
    observeRun: (plan, status, duration) => runsOf(plan, status).observe(duration),
    observePlan: (cached) => plansOf(cached ? "hit" : "miss").inc(),
    observeExchange({ endpoint, outcome, ms, requests: sent, wireBytes }) {
      exchangesOf(endpoint, outcome).observe(ms / 1000);
      requestsOf(endpoint).inc(sent);
      bytesOf(endpoint).inc(wireBytes);
    },
    setBreaker: (endpoint, state) => breaker.labels(endpoint).set(breakerValue[state]),
    watchRunning(read) {
      const gauge: Gauge = new Gauge({
        name: "fedway_runs_running",
        help: "Queries under way",
        registers: [],
        collect: () => gauge.set(read()),
      });
      registry.registerMetric(gauge);
    },
  };
}

/** A metric's child for each combination of labels, kept: looking one up costs more than counting in it. */
function children<T>(make: (labels: string[]) => T): (...labels: string[]) => T {
  const known = new Map<string, T>();
  return (...labels) => {
    const key = labels.join("\n");
    const child = known.get(key) ?? make(labels);
    known.set(key, child);
    return child;
  };
}
