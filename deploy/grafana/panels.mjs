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
const low = (limit) => ({
  mode: "absolute",
  steps: [
    { color: "red", value: null },
    { color: "green", value: limit },
  ],
});
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

/** What the dashboard shows: a row for each of the first five questions. A query stands for all processes unless it names an instance. */
export const rows = [
  [
    "1. Is it up?",
    [
      stat(["Processes", "Scraped and answering."], q(`sum(up{${j}})`)),
      stat(
        ["Failed runs", "Share of the last 5 minutes; rejected queries are not counted."],
        q("job:fedway_runs_failed:ratio_rate5m"),
        { unit: "percentunit", thresholds: share(0.1) },
      ),
      stat(["5xx", "Share of the requests of the last 5 minutes."], q("job:fedway_http_errors:ratio_rate5m"), {
        unit: "percentunit",
        thresholds: share(0.05),
      }),
      stat(
        ["Refused", "Queries and calls refused with SERVICE_BUSY in an hour."],
        q(`sum(increase(fedway_busy_total{${of}}[1h]))`),
        {
          thresholds: red,
        },
      ),
      stat(["Storage", "Processes that cannot store anything now."], q(`sum(fedway_store_writes_failing{${of}})`), {
        thresholds: red,
      }),
      stat(["Queries under way", "In all processes."], q(`sum(fedway_runs_running{${of}})`)),
      stat(
        ["Open incidents", "Of endpoints, and of this service's network."],
        q(`sum(max by (kind) (fedway_incidents_open{${j}}))`),
      ),
      stat(["Last probe", "Time since any process last started probes."], q("job:fedway_monitor_silence:seconds"), {
        unit: "s",
      }),
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
        ["Requests", "By status."],
        [q(rate("fedway_http_request_seconds_count", of, "status"), "{{status}}")],
        "reqps",
      ),
    ],
  ],
  [
    "2. Which endpoint?",
    [
      graph(["Health", "Endpoints by state."], [q(`max by (state) (fedway_endpoints{${j}})`, "{{state}}")]),
      table(
        ["Not up now", "0: down, 0.5: degraded or flapping."],
        q(`max by (endpoint) (fedway_endpoint_up{${at}}) < 1`, "{{endpoint}}"),
      ),
      table(
        ["Least available", "Share of the last day in which an endpoint was up, the lowest ten."],
        q(`bottomk(10, job_endpoint:fedway_endpoint_up:avg_1d{endpoint=~"$endpoint"})`, "{{endpoint}}"),
        "percentunit",
      ),
      graph(
        ["Faults", "Share of the queries to an endpoint, the ten worst."],
        [q(`topk(10, job_endpoint:fedway_upstream_faults:ratio_rate5m{endpoint=~"$endpoint"})`, "{{endpoint}}")],
        "percentunit",
      ),
      table(
        ["Time out", "Share of the queries to an endpoint that time out."],
        q(`job_endpoint:fedway_upstream_timeouts:ratio_rate5m{endpoint=~"$endpoint"} > 0`, "{{endpoint}}"),
        "percentunit",
      ),
      table(
        ["Circuit breakers that are not closed", "1: one trial is under way, 2: open."],
        q(`max by (endpoint) (fedway_breaker_state{${at}}) > 0`, "{{endpoint}}"),
      ),
      graph(
        ["Mean duration", "Of the queries to an endpoint, the ten slowest."],
        [q(`topk(10, job_endpoint:fedway_upstream_seconds:mean_rate5m{endpoint=~"$endpoint"})`, "{{endpoint}}")],
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
      table(
        ["Descriptions that were wrong", "How often in a day an endpoint had what its description denied."],
        q(`sum by (endpoint) (increase(fedway_facts_refuted_total{${at}}[1d])) > 0`, "{{endpoint}}"),
      ),
    ],
  ],
  [
    "3. Theirs, or our network?",
    [
      stat(
        ["Network", "1 while this service cannot reach the network: its probes then say nothing of endpoints."],
        q(`max(fedway_network_lost{${j}})`),
        {
          thresholds: red,
        },
      ),
      stat(
        ["Endpoints down", "Share of all: many at once are seldom their own fault."],
        q("job:fedway_endpoints_down:ratio"),
        {
          unit: "percentunit",
          thresholds: share(0.3),
        },
      ),
      stat(
        ["Health unknown", "Share of all: never probed, or not for three intervals."],
        q("job:fedway_endpoints_unknown:ratio"),
        {
          unit: "percentunit",
          thresholds: share(0.2),
        },
      ),
      stat(
        ["Endpoints with faults", "To which more than a tenth of the queries of the last 5 minutes failed."],
        q(`count(job_endpoint:fedway_upstream_faults:ratio_rate5m > 0.1) or vector(0)`),
      ),
      graph(
        ["Outcomes", "Of the queries to the chosen endpoints. dns, connect and tls of many at once point to our side."],
        [q(rate("fedway_upstream_exchanges_total", at, "outcome"), "{{outcome}}")],
        "ops",
      ),
      graph(
        ["Duration by outcome", "95th percentile of the queries to all endpoints."],
        [q(percentile(0.95, `fedway_upstream_seconds_bucket{${of}}`, "outcome"), "{{outcome}}")],
        "s",
      ),
      graph(["Probes", "By what they found."], [q(rate("fedway_probes_total", of, "outcome"), "{{outcome}}")], "ops"),
      graph(
        ["Duration of probes", "95th percentile."],
        [q(percentile(0.95, `fedway_probe_seconds_bucket{${of}}`, "outcome"), "{{outcome}}")],
        "s",
      ),
      graph(
        ["Incidents", "Open now; opened, closed and reminded of in an hour."],
        [
          q(`max by (kind) (fedway_incidents_open{${j}})`, "{{kind}}"),
          q(`sum by (event) (increase(fedway_incidents_total{${j}}[1h]))`, "{{event}}"),
        ],
      ),
    ],
  ],
  [
    "4. Who loads it?",
    [
      graph(
        ["Requests by client", "Keys by name; the ten with the most."],
        [q(`topk(10, ${rate("fedway_client_requests_total", of, "client")})`, "{{client}}")],
        "reqps",
      ),
      graph(
        ["Calls under way by client", "Seconds of calls in a second; the ten with the most."],
        [
          q(
            `topk(10, sum by (client) (rate(fedway_client_cost_total{${of}, kind="seconds"}[$__rate_interval])))`,
            "{{client}}",
          ),
        ],
      ),
      graph(
        ["Requests to endpoints by client", "The ten with the most."],
        [
          q(
            `topk(10, sum by (client) (rate(fedway_client_cost_total{${of}, kind="requests"}[$__rate_interval])))`,
            "{{client}}",
          ),
        ],
        "reqps",
      ),
      graph(
        ["Requests by route", "What is asked for."],
        [q(rate("fedway_http_request_seconds_count", of, "route"), "{{route}}")],
        "reqps",
      ),
      graph(
        ["Duration of requests", "95th percentile by route."],
        [q("job_route:fedway_http_request_seconds:p95_rate5m", "{{route}}")],
        "s",
      ),
      graph(
        ["Slow queries", "In an hour, of those that took FEDWAY_SLOW_QUERY_MS or longer; the log has them."],
        [q(`sum by (instance) (increase(fedway_slow_queries_total{${of}}[1h]))`, "{{instance}}")],
      ),
      graph(
        ["Plans from the cache", "Share of all plans."],
        [q("job:fedway_plan_cache_hits:ratio_rate5m", "hits")],
        "percentunit",
      ),
      graph(
        ["Queries to endpoints", "The ten that are asked most."],
        [q(`topk(10, ${rate("fedway_upstream_exchanges_total", at, "endpoint")})`, "{{endpoint}}")],
        "ops",
      ),
      graph(
        ["Bytes received", "From endpoints, as encoded."],
        [q(rate("fedway_upstream_bytes_total", at, "endpoint"), "{{endpoint}}")],
        "Bps",
      ),
      graph(
        ["Jobs", "Runs that ended."],
        [q(rate("fedway_jobs_total", of, "kind, outcome"), "{{kind}} {{outcome}}")],
        "ops",
      ),
    ],
  ],
  [
    "5. Will it run out?",
    [
      stat(
        ["Places taken", "Calls under way of those that may be, in the fullest process."],
        q("max(instance:fedway_calls:taken)"),
        {
          unit: "percentunit",
          thresholds: share(0.9),
        },
      ),
      stat(
        ["Evaluations taken", "Of those that may run at once, in the fullest process."],
        q("max(instance:fedway_evaluations:taken)"),
        {
          unit: "percentunit",
          thresholds: share(0.9),
        },
      ),
      stat(
        ["Memory left", "Of a container's limit, or of the machine; the least."],
        q("min(instance:fedway_memory:left)"),
        {
          unit: "percentunit",
          thresholds: low(0.1),
        },
      ),
      stat(["Disk left", "Of the data folder's disk; the least."], q("min(instance:fedway_disk:left)"), {
        unit: "percentunit",
        thresholds: low(0.1),
      }),
      stat(
        ["Jobs waiting", "Every process shows the same queue."],
        q(`max(sum by (instance) (fedway_jobs_open{${j}, state="waiting"})) or vector(0)`),
      ),
      graph(
        ["Calls", "Under way and waiting, and how many may be under way."],
        [q(`sum by (state) (fedway_calls{${of}})`, "{{state}}"), q(`sum(fedway_calls_places{${of}})`, "places")],
      ),
      graph(
        ["Wait for a place", "Of calls that were not let in at once, 95th percentile; refused ones beside it."],
        [
          q(
            `histogram_quantile(0.95, sum by (le) (rate(fedway_calls_wait_seconds_bucket{${of}}[$__rate_interval])))`,
            "p95 wait, s",
          ),
          q(`sum(rate(fedway_busy_total{${of}}[$__rate_interval]))`, "refused a second"),
        ],
      ),
      graph(
        ["Evaluations", "Of federated queries, under way and waiting, and how many may run."],
        [
          q(`sum by (state) (fedway_evaluations{${of}})`, "{{state}}"),
          q(`sum(fedway_evaluations_places{${of}})`, "places"),
        ],
      ),
      graph(
        ["Memory", "Of the service with its threads, of its child processes by script, and the heap in use."],
        [
          q(`process_resident_memory_bytes{${of}}`, "{{instance}} service"),
          q(`fedway_child_resident_bytes{${of}}`, "{{instance}} {{script}}"),
          q(`nodejs_heap_size_used_bytes{${of}}`, "{{instance}} heap"),
        ],
        "bytes",
      ),
      graph(
        ["Memory left", "Before the limit of the container, or of the machine."],
        [q(`fedway_memory_available_bytes{${of}}`, "{{instance}}")],
        "bytes",
      ),
      graph(
        ["Child processes", "By script; evaluators that ended without being asked to in an hour."],
        [
          q(`sum by (script) (fedway_child_processes{${of}})`, "{{script}}"),
          q(`sum by (reason) (increase(fedway_evaluator_ends_total{${of}}[1h]))`, "ended: {{reason}}"),
        ],
      ),
      graph(
        ["Disk left", "Of the data folder's disk."],
        [q(`fedway_disk_bytes{${of}, state="free"}`, "{{instance}}")],
        "bytes",
      ),
      graph(
        ["Failures of the store", "In five minutes."],
        [q(`sum by (instance) (increase(fedway_store_failures_total{${of}}[5m]))`, "{{instance}}")],
      ),
      graph(
        ["Open jobs", "Every process shows the same queue."],
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
        ["Event loop", "Share of the time in which it computes."],
        [q(`instance:fedway_event_loop:utilisation_rate5m{instance=~"$instance"}`, "{{instance}}")],
        "percentunit",
      ),
      graph(
        ["Event loop lag", "99th percentile since the scrape before."],
        [q(`nodejs_eventloop_lag_p99_seconds{${of}}`, "{{instance}}")],
        "s",
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
