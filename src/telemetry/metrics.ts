import { setImmediate as othersTurn } from "node:timers/promises";
import { Registry } from "prom-client";
import { createInstruments } from "./instruments.ts";
import { createMonitorMetrics, type MonitorMetrics } from "./monitor-metrics.ts";
import { addProcessMetrics, type BuildInfo } from "./process-metrics.ts";
import { createTrafficMetrics, type TrafficMetrics, unlisted } from "./traffic-metrics.ts";
import { createWorkMetrics, type WorkMetrics } from "./work-metrics.ts";

/** The registry and every instrument of the service. Labels come from closed sets or are catalogue ids. */
export interface Metrics extends TrafficMetrics, MonitorMetrics, WorkMetrics {
  readonly contentType: string;
  /**
   * All metrics in the Prometheus text format, made metric by metric with turns for others between. Who asks while this
   * is done gets the same text.
   */
  render(): Promise<string>;
  /** Drops the series of an endpoint that has left the catalogue. */
  forgetEndpoint(id: string): void;
  /**
   * Asks at every scrape which endpoints are listed still and forgets the others: an exchange that was under way when
   * its endpoint left reports it once more.
   */
  watchEndpoints(isListed: (id: string) => boolean): void;
}

/** Beside what the process is: the clock of durations, and the longest wait for what is read at a scrape (default 1,000). */
export interface MetricsOptions extends Partial<BuildInfo> {
  readonly now?: () => number;
  readonly patienceMs?: number;
}

const all = (): boolean => true;

/** Creates the instruments on a registry of their own. */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { version = "unknown", role = "all", now = () => performance.now(), patienceMs = 1000 } = options;
  const registry = new Registry();
  const instruments = createInstruments(registry);
  addProcessMetrics(registry, { version, role });
  const { series, ...traffic } = createTrafficMetrics(instruments);
  let isListed: (id: string) => boolean = all;

  let rendering: Promise<string> | undefined;

  const render = async (): Promise<string> => {
    for (const one of series) {
      for (const id of one.firstLabels()) if (id !== unlisted && !isListed(id)) one.forget(id);
    }
    const texts: string[] = [];
    for (const { name } of registry.getMetricsAsArray()) {
      texts.push(await registry.getSingleMetricAsString(name));
      await othersTurn();
    }
    return `${texts.join("\n\n")}\n`;
  };
  const forgetEndpoint = (id: string): void => {
    for (const one of series) one.forget(id);
  };
  return {
    ...traffic,
    ...createMonitorMetrics(instruments),
    ...createWorkMetrics(instruments, { now, patienceMs }),
    contentType: registry.contentType,
    render() {
      rendering ??= render().finally(() => {
        rendering = undefined;
      });
      return rendering;
    },
    forgetEndpoint,
    watchEndpoints(listed) {
      isListed = listed;
    },
  };
}
