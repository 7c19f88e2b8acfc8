import { type Static, Type } from "typebox";
import type { MonitorReader } from "../monitor/monitor.ts";
import type { Catalog } from "../registry/catalog.ts";
import { view } from "./schemas.ts";

/** Inputs of the readiness check. */
export interface ReadinessParts {
  readonly catalog: Pick<Catalog, "entries" | "problems">;
  /** Those that are hosted; undefined: none are to be. */
  readonly examples: { readonly size: number } | undefined;
  readonly closing: boolean;
  /** Only where several processes share the state. */
  readonly stateWatch:
    | {
        readonly lostAtMs: number | undefined;
        readonly failingSinceMs: number | undefined;
        readonly eviction: "unknown" | { readonly detail: string } | undefined;
      }
    | undefined;
  /** Since when nothing can be stored, and why; undefined while it can. */
  readonly writeFault?: { readonly sinceMs: number; readonly reason: string } | undefined;
  /** Nothing of shards is loaded. */
  readonly shardsOff: boolean;
  readonly monitor: Pick<MonitorReader, "heartbeat">;
}

const Check = Type.Object({ ok: Type.Boolean(), detail: Type.Optional(Type.String()) });
type Check = Static<typeof Check>;

/** Readiness for queries, with one entry for each check. */
export const Readiness = view("Readiness", { ready: Type.Boolean(), checks: Type.Record(Type.String(), Check) });
export type Readiness = Static<typeof Readiness>;

/**
 * Readiness for queries. A store that fails does not stop them, neither does a monitor that is silent, nor a
 * network that cannot be reached: all are shown and change nothing. A Redis that evicts what it has acknowledged does.
 */
export function readiness(parts: ReadinessParts): Readiness {
  const { catalog, examples, closing, shardsOff, monitor } = parts;
  const checks = {
    service: { ok: !closing, detail: closing ? "shutting down" : "running" },
    catalogue: { ok: true, detail: `${catalog.entries.length} endpoints, ${catalog.problems.length} files left out` },
    examples: { ok: true, detail: examples ? `${examples.size} hosted` : "off" },
    state: stateCheck(parts),
    ...(shardsOff && { shards: { ok: true, detail: "off" } }),
    monitor: monitorCheck(monitor),
    network: networkCheck(monitor),
  };
  return { ready: !closing && typeof parts.stateWatch?.eviction !== "object", checks };
}

const iso = (ms: number): string => new Date(ms).toISOString();

function stateCheck({ stateWatch: watch, writeFault }: ReadinessParts): Check {
  if (watch?.failingSinceMs !== undefined) {
    const since = iso(watch.failingSinceMs);
    return { ok: false, detail: `cannot be reached since ${since}; queries are answered all the same` };
  }
  if (writeFault !== undefined) {
    const { sinceMs, reason } = writeFault;
    return { ok: false, detail: `writes fail since ${iso(sinceMs)}: ${reason} Queries are answered all the same` };
  }
  const { eviction } = watch ?? {};
  if (typeof eviction === "object") return { ok: false, detail: eviction.detail };
  if (watch?.lostAtMs !== undefined) {
    return { ok: true, detail: `was lost at ${iso(watch.lostAtMs)}: earlier changes over the API are gone` };
  }
  // A data folder is not watched: an unknown state is not called good.
  if (watch === undefined) return { ok: true, detail: "in the data folder" };
  const unasked = eviction === "unknown" ? "; Redis does not say whether it evicts (maxmemory-policy)" : "";
  return { ok: true, detail: `shared, and there${unasked}` };
}

function monitorCheck(monitor: ReadinessParts["monitor"]): Check {
  const { enabled, alive, lastMs } = monitor.heartbeat();
  if (!enabled) return { ok: true, detail: "off" };
  const last = lastMs === undefined ? "has not probed yet" : `last probed at ${iso(lastMs)}`;
  return { ok: alive || lastMs === undefined, detail: last };
}

/** All replicas share the network: were they not ready without it, hosted endpoints could not be asked either. */
function networkCheck(monitor: ReadinessParts["monitor"]): Check {
  const { enabled, offline } = monitor.heartbeat();
  if (offline === undefined) return { ok: true, detail: enabled ? "no loss seen" : "not watched" };
  const since = iso(offline.sinceMs);
  return {
    ok: false,
    detail: `cannot be reached since ${since}; hosted endpoints are answered, others most likely not`,
  };
}
