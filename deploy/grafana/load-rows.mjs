/** Rows of the last two questions: who loads it, will it run out. A query stands for all processes unless it names an instance. */
import { at, graph, j, low, of, percentile, q, rate, share, stat, table } from "./panel.mjs";

export const loadRows = [
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
