import type { Instruments } from "./instruments.ts";

/** What happened in the monitor; its `MonitorEvent` fits. */
export type ObservedMonitorEvent =
  | { readonly kind: "probed"; readonly endpoint: string; readonly observation: ObservedProbe }
  | { readonly kind: "incident-opened" | "incident-closed" };

/** One look at an endpoint. */
export interface ObservedProbe {
  readonly ok: boolean;
  readonly ms: number;
  readonly fault?: string;
  readonly source: "turn" | "early" | "traffic";
  readonly maintenance?: true;
}

/** What is known of the endpoints now; the registry's `MonitorReader` fits. */
export interface WatchedMonitor {
  all(): readonly {
    readonly endpoint: string;
    readonly state: "up" | "down" | "unknown";
    readonly incident?: string;
  }[];
  heartbeat(): { readonly enabled: boolean; readonly lastMs?: number };
}

/** Probes, and what they have found. */
export interface MonitorMetrics {
  /** Traffic is no probe and is left out; probes within a maintenance window count as such. */
  observeMonitor(event: ObservedMonitorEvent): void;
  /** Reads health and heartbeat at scrape time; `everyMs` is the time between two probes of an endpoint. */
  watchMonitor(monitor: WatchedMonitor, everyMs: number): void;
}

const states = ["up", "down", "unknown"] as const;

/** The instruments of the monitor. */
export function createMonitorMetrics(instruments: Instruments): MonitorMetrics {
  const probes = instruments.counts({
    name: "fedway_probes_total",
    help: "Probes of endpoints by what they found",
    labels: ["outcome"],
  });
  const durations = instruments.timers({
    name: "fedway_probe_seconds",
    help: "Duration of probes",
    labels: ["outcome"],
  });
  const incidents = instruments.counts({
    name: "fedway_incidents_total",
    help: "Incidents that this process opened or closed",
    labels: ["event"],
  });
  for (const event of ["opened", "closed"]) incidents.of(event).inc(0);

  return {
    observeMonitor(event) {
      if (event.kind !== "probed") {
        incidents.of(event.kind === "incident-opened" ? "opened" : "closed").inc();
        return;
      }
      const { ok, ms, fault, source, maintenance } = event.observation;
      if (source === "traffic") return;
      const outcome = maintenance ? "maintenance" : ok ? "ok" : (fault ?? "unknown");
      probes.of(outcome).inc();
      durations.of(ok ? "ok" : "fault").observe(ms / 1000);
    },
    watchMonitor: (monitor, everyMs) => watch(instruments, monitor, everyMs),
  };
}

function watch({ reading, readings }: Instruments, monitor: WatchedMonitor, everyMs: number): void {
  readings(
    {
      name: "fedway_endpoint_up",
      help: "1 when an endpoint is up, 0 when it is down, absent when that is not known",
      labels: ["endpoint"],
    },
    () =>
      monitor
        .all()
        .filter(({ state }) => state !== "unknown")
        .map(({ endpoint, state }) => ({ labels: [endpoint], value: state === "up" ? 1 : 0 })),
  );
  readings({ name: "fedway_endpoints", help: "Endpoints of the catalogue by health", labels: ["state"] }, () => {
    const all = monitor.all();
    return states.map((name) => ({ labels: [name], value: all.filter(({ state }) => state === name).length }));
  });
  reading(
    { name: "fedway_incidents_open", help: "Incidents that are open" },
    () => monitor.all().filter(({ incident }) => incident !== undefined).length,
  );
  reading({ name: "fedway_monitor_enabled", help: "1 when endpoints are to be probed" }, () =>
    monitor.heartbeat().enabled ? 1 : 0,
  );
  reading(
    {
      name: "fedway_monitor_beat_timestamp_seconds",
      help: "When any process last started probes, seconds since the epoch; absent when none ever did",
    },
    () => {
      const { lastMs } = monitor.heartbeat();
      return lastMs === undefined ? undefined : lastMs / 1000;
    },
  );
  reading(
    { name: "fedway_monitor_interval_seconds", help: "Time between two probes of an endpoint" },
    () => everyMs / 1000,
  );
}
