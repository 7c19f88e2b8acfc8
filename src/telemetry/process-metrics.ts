import { performance } from "node:perf_hooks";
import { collectDefaultMetrics, Counter, Gauge, type Registry } from "prom-client";

/** What a process says of itself. */
export interface BuildInfo {
  readonly version: string;
  /** What this process does: `all`, `web` or `worker`. */
  readonly role: string;
}

/** The process: memory, CPU, event loop, garbage collection, and what was built. */
export function addProcessMetrics(registry: Registry, { version, role }: BuildInfo): void {
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
