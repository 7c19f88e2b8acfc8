import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";

/** Metrics of a process in which everything happens. */
export interface SampleMetrics {
  readonly metrics: Metrics;
  /** Lets everything happen once more. */
  step(): Promise<void>;
}

const outcomes = ["ok", "partial", "timeout", "http-5xx"];

/** One of everything that passes through the service. */
function traffic(metrics: Metrics): void {
  for (const status of [200, 400, 500, 502]) {
    metrics.observeRequest({ route: "/sparql", method: "POST", status, seconds: 0.02 });
  }
  for (const [plan, status] of [
    ["direct", "ok"],
    ["federated", "failed"],
    ["federated", "partial"],
    ["rejected", "failed"],
  ] as const) {
    metrics.observeRun(plan, status, 0.1);
  }
  for (const cached of [true, false]) metrics.observePlan(cached);
  for (const outcome of outcomes) {
    metrics.observeExchange({ endpoint: "alpha", outcome, ms: 120, wireBytes: 4000, requests: 1 });
  }
  metrics.setBreaker("alpha", "closed");
  metrics.setBreaker("beta", "open");
  metrics.observeRefutedFacts("alpha");
}

/** Creates them with a value in every instrument. */
export async function createSampleMetrics(): Promise<SampleMetrics> {
  const metrics = createMetrics({ version: "1.2.3", role: "all" });
  const describe = metrics.measureJob("describe-endpoint", async (ok: boolean, _context: { signal: AbortSignal }) => {
    if (!ok) throw new Error("the endpoint is gone");
  });
  const context = { signal: new AbortController().signal };
  metrics.watchRunning(() => 3);
  metrics.watchMonitor(
    {
      all: () => [
        { endpoint: "alpha", state: "up" },
        { endpoint: "beta", state: "down" },
        { endpoint: "gamma", state: "unknown" },
      ],
      openByKind: () => ({ down: 1, certificate: 2 }),
      heartbeat: () => ({ enabled: true, lastMs: Date.now() }),
    },
    900_000,
  );
  const places = { running: 2, waiting: 1, places: 4 };
  metrics.watchPlaces("fedway_calls", "Calls", () => places);
  metrics.watchPlaces("fedway_evaluations", "Evaluations", () => places);
  metrics.watchChildren(() => [{ script: "evaluator", residentBytes: 100e6 }]);
  metrics.watchDisk("/");
  metrics.watchWrites(() => false);
  metrics.watchJobs(async (state) => (state === "waiting" ? [{ kind: "describe-endpoint" }] : []));
  const step = async (): Promise<void> => {
    traffic(metrics);
    const probe = { ms: 80, source: "turn" } as const;
    metrics.observeMonitor({ kind: "probed", endpoint: "alpha", observation: { ok: true, ...probe } });
    metrics.observeMonitor({ kind: "probed", endpoint: "beta", observation: { ok: false, fault: "dns", ...probe } });
    metrics.observeMonitor({ kind: "incident-opened" });
    metrics.observeMonitor({ kind: "incident-closed" });
    await describe(true, context);
    await describe(false, context).catch(() => {});
    for (const outcome of ["delivered", "failed", "dead"] as const) metrics.observeWebhook(outcome);
    metrics.observeStoreFailure();
    metrics.observeBusy();
    metrics.observeWait(40);
    metrics.observeSlow();
    metrics.observeCost("anonymous", { requests: 3, rows: 100, seconds: 0.2 });
    metrics.observeEvaluatorEnd("memory");
  };
  await step();
  return { metrics, step };
}

/** Names of the metrics in a scrape, those of a histogram's parts included. */
export function metricNames(scrape: string): ReadonlySet<string> {
  const types = [...scrape.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    types.flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}
