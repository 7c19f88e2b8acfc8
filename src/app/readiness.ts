import type { ExampleFederation } from "../hosting/examples/example-federation.ts";
import type { Catalog } from "../registry/catalog/catalog.ts";
import type { MonitorReader } from "../monitor/monitor.ts";
import type { SharedFolder } from "../shards/service/shared-folder.ts";
import type { StateWatch } from "../store/watch-state.ts";

/** What readiness is told from. */
export interface ReadinessParts {
  readonly catalog: Pick<Catalog, "entries" | "problems">;
  readonly examples: Pick<ExampleFederation, "size"> | undefined;
  readonly closing: boolean;
  readonly stateWatch: Pick<StateWatch, "lostAtMs" | "failingSinceMs"> | undefined;
  /** Only where several processes share the state. */
  readonly shards?: Pick<SharedFolder, "problem"> | undefined;
  readonly monitor: Pick<MonitorReader, "heartbeat">;
}

interface Check {
  readonly ok: boolean;
  readonly detail: string;
}

/**
 * Whether queries can be answered now. A store that fails does not stop them, neither does a monitor that is silent, nor a
 * data folder in which shards cannot be built: all are told and change nothing.
 */
export function readiness(parts: ReadinessParts): {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, Check>>;
} {
  const { catalog, examples, closing, stateWatch, shards, monitor } = parts;
  const checks = {
    service: { ok: !closing, detail: closing ? "shutting down" : "running" },
    catalogue: { ok: true, detail: `${catalog.entries.length} endpoints, ${catalog.problems.length} files left out` },
    examples: { ok: true, detail: examples ? `${examples.size} hosted` : "off" },
    state: stateCheck(stateWatch),
    ...(shards && { shards: shardsCheck(shards) }),
    monitor: monitorCheck(monitor),
  };
  return { ready: !closing, checks };
}

const iso = (ms: number): string => new Date(ms).toISOString();

function stateCheck(watch: ReadinessParts["stateWatch"]): Check {
  if (watch?.failingSinceMs !== undefined) {
    return {
      ok: false,
      detail: `cannot be reached since ${iso(watch.failingSinceMs)}; queries are answered all the same`,
    };
  }
  if (watch?.lostAtMs !== undefined) {
    return { ok: true, detail: `was lost at ${iso(watch.lostAtMs)}: what was changed over the API before is gone` };
  }
  // Nobody watches a data folder: what is not known is not said to be well.
  return { ok: true, detail: watch === undefined ? "in the data folder" : "shared, and there" };
}

const shardsCheck = ({ problem }: Pick<SharedFolder, "problem">): Check => ({
  ok: problem === undefined,
  detail: problem ?? "the data folder is that of all processes",
});

function monitorCheck(monitor: ReadinessParts["monitor"]): Check {
  const { enabled, alive, lastMs } = monitor.heartbeat();
  if (!enabled) return { ok: true, detail: "off" };
  const last = lastMs === undefined ? "has not probed yet" : `last probed at ${iso(lastMs)}`;
  return { ok: alive || lastMs === undefined, detail: last };
}
