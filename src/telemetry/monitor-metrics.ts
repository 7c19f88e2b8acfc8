import type { Instruments } from "./instruments.ts";

/** Events of the monitor; its `MonitorEvent` fits. */
type ObservedMonitorEvent =
  | { readonly kind: "probed"; readonly endpoint: string; readonly observation: ObservedProbe }
  | { readonly kind: "incident-opened" | "incident-closed" | "incident-reminder" };

/** One look at an endpoint. */
interface ObservedProbe {
  readonly ok: boolean;
  readonly ms: number;
  readonly fault?: string | undefined;
  readonly source: "turn" | "early";
  readonly maintenance?: true | undefined;
  readonly offline?: true | undefined;
}

/** Present state of the endpoints; the registry's `MonitorReader` fits. */
interface WatchedMonitor {
  all(): readonly {
    readonly endpoint: string;
    readonly state: (typeof states)[number];
  }[];
  openByKind(): Readonly<Partial<Record<(typeof kinds)[number], number>>>;
  heartbeat(): { readonly enabled: boolean; readonly lastMs?: number | undefined; readonly offline?: unknown };
}

const kinds = ["down", "degraded", "flapping", "network", "certificate", "drift"] as const;
const states = ["up", "degraded", "flapping", "down", "unknown"] as const;

/** Probes, and their findings. */
export function createMonitorMetrics(instruments: Instruments) {
  const probes = instruments.counts("fedway_probes_total", "Probes of endpoints by what they found", ["outcome"]);
  const durations = instruments.timers("fedway_probe_seconds", "Duration of probes", ["outcome"]);
  const incidents = instruments.counts(
    "fedway_incidents_total",
    "Incidents that this process opened, closed or sent a reminder of",
    ["event"],
  );
  for (const event of ["opened", "closed", "reminder"]) incidents.of(event).inc(0);

  return {
    /** Probes within a maintenance window count as such. */
    observeMonitor(event: ObservedMonitorEvent): void {
      if (event.kind !== "probed") {
        incidents.of(event.kind.slice("incident-".length)).inc();
        return;
      }
      const { ok, ms, fault, maintenance, offline } = event.observation;
      const outcome = maintenance ? "maintenance" : offline ? "offline" : ok ? "ok" : (fault ?? "unknown");
      probes.of(outcome).inc();
      durations.of(ok ? "ok" : "fault").observe(ms / 1000);
    },
    /** Reads health and heartbeat at scrape time; `everyMs` is the time between two probes of an endpoint. */
    watchMonitor: (monitor: WatchedMonitor, everyMs: number): void => watch(instruments, monitor, everyMs),
  };
}

function watch({ reading, readings }: Instruments, monitor: WatchedMonitor, everyMs: number): void {
  readings(
    [
      "fedway_endpoint_up",
      "1 when an endpoint is up, 0.5 when it is degraded or flapping, 0 when it is down, absent when that is not known",
      ["endpoint"],
    ],
    () =>
      monitor
        .all()
        .filter(({ state }) => state !== "unknown")
        .map(({ endpoint, state }) => ({ labels: [endpoint], value: state === "up" ? 1 : state === "down" ? 0 : 0.5 })),
  );
  readings(["fedway_endpoints", "Endpoints of the catalogue by health", ["state"]], () => {
    const all = monitor.all();
    return states.map((name) => ({ labels: [name], value: all.filter(({ state }) => state === name).length }));
  });
  readings(["fedway_incidents_open", "Incidents that are open by kind", ["kind"]], () => {
    const open = monitor.openByKind();
    return kinds.map((kind) => ({ labels: [kind], value: open[kind] ?? 0 }));
  });
  reading("fedway_network_lost", "1 while this service cannot reach the network, 0 otherwise", () =>
    Number(monitor.heartbeat().offline !== undefined),
  );
  reading("fedway_monitor_enabled", "1 when endpoints are to be probed", () => (monitor.heartbeat().enabled ? 1 : 0));
  reading(
    "fedway_monitor_beat_timestamp_seconds",
    "When any process last started probes, seconds since the epoch; absent when none ever did",
    () => {
      const { lastMs } = monitor.heartbeat();
      return lastMs === undefined ? undefined : lastMs / 1000;
    },
  );
  reading("fedway_monitor_interval_seconds", "Time between two probes of an endpoint", () => everyMs / 1000);
}
