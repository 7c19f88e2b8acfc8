// The panels of the dashboard; build-dashboard.mjs lays them out.
const j = 'job="fedway"';
const of = `${j}, instance=~"$instance"`;
const at = `${j}, endpoint=~"$endpoint"`;

/** A query and the legend of its series. */
const q = (expr, legendFormat = "") => ({ expr, legendFormat });
const rate = (metric, labels, by) => `sum by (${by}) (rate(${metric}{${labels}}[$__rate_interval]))`;
const percentile = (share, buckets, by) =>
  `histogram_quantile(${share}, sum by (${by}, le) (rate(${buckets}[$__rate_interval])))`;

const red = {
  mode: "absolute",
  steps: [
    { color: "green", value: null },
    { color: "red", value: 1 },
  ],
};
const share = (limit) => ({
  mode: "absolute",
  steps: [
    { color: "green", value: null },
    { color: "red", value: limit },
  ],
});

const stat = ([title, description], query, { unit = "short", thresholds } = {}) => ({
  kind: "stat",
  title,
  description,
  queries: [query],
  unit,
  thresholds,
});
const graph = ([title, description], queries, unit = "short") => ({
  kind: "timeseries",
  title,
  description,
  queries,
  unit,
});
const table = ([title, description], query, unit = "short") => ({
  kind: "table",
  title,
  description,
  queries: [query],
  unit,
});

/** What the dashboard shows, row by row. A query stands for all processes unless it names an instance. */
export const rows = [
  [
    "Now",
    [
      stat(["Processes", "Scraped and answering."], q(`sum(up{${j}})`)),
      stat(["Endpoints up", "Of those whose health is known."], q(`max(fedway_endpoints{${j}, state="up"})`)),
      stat(["Endpoints down", "An incident is open for each."], q(`max(fedway_endpoints{${j}, state="down"})`), {
        thresholds: red,
      }),
      stat(
        ["Health unknown", "Never probed, or not for three intervals."],
        q(`max(fedway_endpoints{${j}, state="unknown"})`),
      ),
      stat(["Last probe", "Time since any process last started probes."], q("job:fedway_monitor_silence:seconds"), {
        unit: "s",
      }),
      stat(["Queries under way", "In all processes."], q(`sum(fedway_runs_running{${of}})`)),
      stat(
        ["Failed runs", "Share of the last 5 minutes; rejected queries are not counted."],
        q("job:fedway_runs_failed:ratio_rate5m"),
        {
          unit: "percentunit",
          thresholds: share(0.1),
        },
      ),
      stat(["5xx", "Share of the requests of the last 5 minutes."], q("job:fedway_http_errors:ratio_rate5m"), {
        unit: "percentunit",
        thresholds: share(0.05),
      }),
    ],
  ],
  [
    "Queries",
    [
      graph(
        ["Runs", "By plan and outcome."],
        [q(rate("fedway_run_seconds_count", of, "plan, status"), "{{plan}} {{status}}")],
        "ops",
      ),
      graph(
        ["Duration of runs", "95th percentile and median, rejected ones left out."],
        [
          q("job_plan:fedway_run_seconds:p95_rate5m", "p95 {{plan}}"),
          q(percentile(0.5, `fedway_run_seconds_bucket{${of}, plan!="rejected"}`, "plan"), "p50 {{plan}}"),
        ],
        "s",
      ),
      graph(
        ["Plans from the cache", "Share of all plans."],
        [q("job:fedway_plan_cache_hits:ratio_rate5m", "hits")],
        "percentunit",
      ),
      graph(
        ["Requests", "By route and status."],
        [q(rate("fedway_http_request_seconds_count", of, "route, status"), "{{route}} {{status}}")],
        "reqps",
      ),
      graph(
        ["Duration of requests", "95th percentile by route."],
        [q("job_route:fedway_http_request_seconds:p95_rate5m", "{{route}}")],
        "s",
      ),
    ],
  ],
  [
    "Endpoints",
    [
      graph(
        ["Queries to endpoints", "The ten that are asked most."],
        [q(`topk(10, ${rate("fedway_upstream_exchanges_total", at, "endpoint")})`, "{{endpoint}}")],
        "ops",
      ),
      graph(
        ["Faults", "Share of the queries to an endpoint, the ten worst."],
        [q(`topk(10, job_endpoint:fedway_upstream_faults:ratio_rate5m{endpoint=~"$endpoint"})`, "{{endpoint}}")],
        "percentunit",
      ),
      graph(
        ["Outcomes", "Of the queries to the chosen endpoints."],
        [q(rate("fedway_upstream_exchanges_total", at, "outcome"), "{{outcome}}")],
        "ops",
      ),
      graph(
        ["Mean duration", "Of the queries to an endpoint, the ten slowest."],
        [q(`topk(10, job_endpoint:fedway_upstream_seconds:mean_rate5m{endpoint=~"$endpoint"})`, "{{endpoint}}")],
        "s",
      ),
      graph(
        ["Duration by outcome", "95th percentile of the queries to all endpoints."],
        [q(percentile(0.95, `fedway_upstream_seconds_bucket{${of}}`, "outcome"), "{{outcome}}")],
        "s",
      ),
      graph(
        ["Requests per query", "More than 1: retries, redirects, other methods."],
        [
          q(
            `${rate("fedway_upstream_requests_total", at, "endpoint")} / (${rate("fedway_upstream_exchanges_total", at, "endpoint")} > 0)`,
            "{{endpoint}}",
          ),
        ],
      ),
      graph(
        ["Bytes received", "As encoded."],
        [q(rate("fedway_upstream_bytes_total", at, "endpoint"), "{{endpoint}}")],
        "Bps",
      ),
      table(
        ["Circuit breakers that are not closed", "1: one trial is under way, 2: open."],
        q(`max by (endpoint) (fedway_breaker_state{${at}}) > 0`, "{{endpoint}}"),
      ),
      table(
        ["Time out", "Share of the queries to an endpoint that time out."],
        q(`job_endpoint:fedway_upstream_timeouts:ratio_rate5m{endpoint=~"$endpoint"} > 0`, "{{endpoint}}"),
        "percentunit",
      ),
    ],
  ],
  [
    "Monitor",
    [
      graph(["Health", "Endpoints by state."], [q(`max by (state) (fedway_endpoints{${j}})`, "{{state}}")]),
      table(
        ["Down now", "Endpoints with an open incident."],
        q(`max by (endpoint) (fedway_endpoint_up{${at}}) == 0`, "{{endpoint}}"),
      ),
      table(
        ["Least available", "Share of the last day in which an endpoint was up, the lowest ten."],
        q(`bottomk(10, job_endpoint:fedway_endpoint_up:avg_1d{endpoint=~"$endpoint"})`, "{{endpoint}}"),
        "percentunit",
      ),
      graph(["Probes", "By what they found."], [q(rate("fedway_probes_total", of, "outcome"), "{{outcome}}")], "ops"),
      graph(
        ["Duration of probes", "95th percentile."],
        [q(percentile(0.95, `fedway_probe_seconds_bucket{${of}}`, "outcome"), "{{outcome}}")],
        "s",
      ),
      graph(
        ["Incidents", "Open now; opened and closed in an hour."],
        [
          q(`max(fedway_incidents_open{${j}})`, "open"),
          q(`sum by (event) (increase(fedway_incidents_total{${j}}[1h]))`, "{{event}}"),
        ],
      ),
    ],
  ],
  [
    "Background work",
    [
      graph(
        ["Jobs", "Runs that ended."],
        [q(rate("fedway_jobs_total", of, "kind, outcome"), "{{kind}} {{outcome}}")],
        "ops",
      ),
      graph(
        ["Open jobs", "Every process tells of the same queue."],
        [q(`max by (kind, state) (fedway_jobs_open{${j}})`, "{{kind}} {{state}}")],
      ),
      graph(
        ["Duration of jobs", "95th percentile."],
        [q(percentile(0.95, `fedway_jobs_seconds_bucket{${of}}`, "kind"), "{{kind}}")],
        "s",
      ),
      graph(
        ["Webhooks", "Deliveries in an hour."],
        [q(`sum by (outcome) (increase(fedway_webhooks_total{${j}}[1h]))`, "{{outcome}}")],
      ),
      graph(
        ["Failures of the store", "In five minutes."],
        [q(`sum by (instance) (increase(fedway_store_failures_total{${of}}[5m]))`, "{{instance}}")],
      ),
    ],
  ],
  [
    "Processes",
    [
      graph(
        ["Event loop", "Share of the time in which it computes."],
        [q(`instance:fedway_event_loop:utilisation_rate5m{instance=~"$instance"}`, "{{instance}}")],
        "percentunit",
      ),
      graph(
        ["Event loop lag", "99th percentile since the scrape before."],
        [q(`nodejs_eventloop_lag_p99_seconds{${of}}`, "{{instance}}")],
        "s",
      ),
      graph(
        ["Memory", "Resident, and the heap in use."],
        [
          q(`process_resident_memory_bytes{${of}}`, "{{instance}} resident"),
          q(`nodejs_heap_size_used_bytes{${of}}`, "{{instance}} heap"),
        ],
        "bytes",
      ),
      graph(["CPU", "Cores."], [q(rate("process_cpu_seconds_total", of, "instance"), "{{instance}}")]),
      graph(
        ["Garbage collection", "Share of the time."],
        [q(rate("nodejs_gc_duration_seconds_sum", of, "instance, kind"), "{{instance}} {{kind}}")],
        "percentunit",
      ),
      table(
        ["Build", "Version, role and Node of every process."],
        q(`fedway_build_info{${of}}`, "{{instance}} {{role}} {{version}}"),
      ),
    ],
  ],
];
