/** Rows of the first three questions: is it up, which endpoint, theirs or our network. A query stands for all processes unless it names an instance. */
import { at, graph, j, of, percentile, q, rate, red, share, stat, table } from "./panel.mjs";

export const stateRows = [
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
];
