import { setImmediate as othersTurn } from "node:timers/promises";
import { Registry, collectDefaultMetrics, Counter, Gauge } from "prom-client";
import { createInstruments } from "./instruments.ts";
import { createMonitorMetrics } from "./monitor-metrics.ts";
import { createResourceMetrics } from "./resource-metrics.ts";
import { createTrafficMetrics, unlisted } from "./traffic-metrics.ts";
import { createWorkMetrics } from "./work-metrics.ts";
import { performance } from "node:perf_hooks";

/** The registry and every instrument of the service. Labels come from closed sets or are catalogue ids. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Beside what the process is: the clock of durations, and the longest wait for what is read at a scrape (default 1,000). */
interface MetricsOptions extends Partial<BuildInfo> {
  readonly now?: () => number;
  readonly patienceMs?: number;
}

const all = (): boolean => true;

/** Creates the instruments on a registry of their own. */
export function createMetrics(options: MetricsOptions = {}) {
  const { version = "unknown", role = "all", now = () => performance.now(), patienceMs = 1000 } = options;
  const registry = new Registry();
  const instruments = createInstruments(registry);
  addProcessMetrics(registry, { version, role });
  const { series, ...traffic } = createTrafficMetrics(instruments);
  let isListed: (id: string) => boolean = all;
  let rendering: Promise<string> | undefined;

  const render = async (): Promise<string> => {
    for (const one of series) one.retain((id) => id === unlisted || isListed(id));
    const texts: string[] = [];
    for (const { name } of registry.getMetricsAsArray()) {
      texts.push(await registry.getSingleMetricAsString(name));
      await othersTurn();
    }
    return `${texts.join("\n\n")}\n`;
  };
  return {
    ...traffic,
    ...createMonitorMetrics(instruments),
    ...createResourceMetrics(instruments),
    ...createWorkMetrics(instruments, { now, patienceMs }),
    contentType: registry.contentType,
    /**
     * All metrics in the Prometheus text format, made metric by metric with turns for others between. Who asks while this
     * is done gets the same text.
     */
    render(): Promise<string> {
      rendering ??= render().finally(() => {
        rendering = undefined;
      });
      return rendering;
    },
    /** Drops the series of an endpoint that has left the catalogue. */
    forgetEndpoint(id: string): void {
      for (const one of series) one.retain((each) => each !== id);
    },
    /**
     * Asks at every scrape which endpoints are listed still and forgets the others: an exchange that was under way when
     * its endpoint left reports it once more.
     */
    watchEndpoints(listed: (id: string) => boolean): void {
      isListed = listed;
    },
  };
}

/** Build and role of a process. */
interface BuildInfo {
  readonly version: string;
  /** Role of this process: `all`, `web` or `worker`. */
  readonly role: string;
}

/** The process: memory, CPU, event loop, garbage collection, and what was built. */
function addProcessMetrics(registry: Registry, { version, role }: BuildInfo): void {
  collectDefaultMetrics({ register: registry });
  const build = new Gauge({
    name: "fedway_build_info",
    help: "1, with the versions of Fedway and Node and the role of the process",
    labelNames: ["version", "node", "role"],
    registers: [registry],
  });
  build.labels(version, process.versions.node, role).set(1);
  // Counted, not divided: a rate is right however many servers scrape, and over any window.
  const loop: Counter<"state"> = new Counter({
    name: "fedway_event_loop_seconds_total",
    help: "Time of the event loop, active and idle",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      const { active, idle } = performance.eventLoopUtilization();
      loop.reset();
      loop.labels("active").inc(active / 1000);
      loop.labels("idle").inc(idle / 1000);
    },
  });
}
