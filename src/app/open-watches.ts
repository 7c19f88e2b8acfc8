import { systemClock } from "../clock.ts";
import type { Repair } from "../errors/fedway-error.ts";
import type { QueryService } from "../query/query-service.ts";
import { createWatches, type Watches, type WatchesOptions } from "../watch/create-watches.ts";
import type { Diagnosis } from "./open-diagnosis.ts";
import type { openMonitoring } from "./open-monitoring.ts";
import type { Foundation, Registry } from "./open-registry.ts";

/** Parts that watches need. */
interface WatchParts extends Pick<Foundation, "config" | "state" | "jobs">, Pick<Diagnosis, "explainer" | "check"> {
  readonly registry: Pick<Registry, "catalog" | "finder">;
  readonly monitoring: Pick<ReturnType<typeof openMonitoring>, "monitor" | "isCutOff">;
  readonly queries: QueryService;
}

/** The watched queries, judged by what the monitor knows of their endpoints. */
export function openWatches(parts: WatchParts): Watches {
  const { config, state, jobs, registry, monitoring, queries } = parts;
  const { everyMs, incidentAfter } = config.monitor;
  return createWatches({
    ...registry,
    queries,
    jobs,
    store: state.store,
    monitor: monitoring.monitor,
    troubleOf: troubleOf(monitoring),
    mend: mending(parts),
    now: systemClock.now,
    confirmMs: Math.max(1_800_000, (everyMs * (incidentAfter + 1)) / 2),
  });
}

/** Watches the queries of FEDWAY_WATCH. @throws FedwayError `CONFIG_INVALID` when a folder cannot be read */
export async function followFolders(
  parts: Pick<Foundation, "config" | "log"> & { readonly watches: Watches },
): Promise<void> {
  const { config, log, watches } = parts;
  const problems = await watches.follow(config.monitor.watch, config.publicUrl);
  for (const problem of problems) log.warn(problem, "a query is not watched");
}

/** Incidents of the endpoint itself say enough; a probe that failed may be the first of one. */
const troubleOf =
  ({ monitor, isCutOff }: WatchParts["monitoring"]): WatchesOptions["troubleOf"] =>
  (id) => {
    if (isCutOff(id)) return "The network cannot be reached.";
    const { state, last, maintenanceUntilMs } = monitor.health(id) ?? { state: "unknown" };
    if (maintenanceUntilMs !== undefined) return `${id} is in maintenance.`;
    if (state !== "up" && state !== "degraded") return `${id} is ${state}.`;
    return last?.ok === false ? `The latest probe of ${id} failed.` : undefined;
  };

/** A repair that the diagnosis of an empty answer found to have solutions, else an offer of the query's check. */
const mending =
  ({ explainer, check }: WatchParts): WatchesOptions["mend"] =>
  async ({ query, endpoint, federation }, signal) => {
    const asked = { query, endpoint, federation, owner: "watch" };
    try {
      const { problem } = await explainer.explain(asked, { signal, owner: "watch" });
      if (problem?.repairs?.length) return mended(query, problem.repairs) ?? problem.next;
      return (await check.check(asked, { signal })).suggested;
    } catch {
      // A finding without a repair is a finding still.
      return undefined;
    }
  };

/** The query with all repairs; undefined where it is not certain which part of it is meant. */
function mended(query: string, repairs: readonly Repair[]): string | undefined {
  let text = query;
  for (const { before, after } of repairs) {
    const [head, tail, more] = text.split(before);
    if (before === "" || tail === undefined || more !== undefined) return undefined;
    text = `${head}${after}${tail}`;
  }
  return text;
}
