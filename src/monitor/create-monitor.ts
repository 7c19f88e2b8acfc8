import { FedwayError } from "../errors/fedway-error.ts";
import type { Monitor } from "./monitor.ts";
import type { MonitorOptions } from "./monitor-options.ts";
import { createParts } from "./monitor-parts.ts";

/** A monitor that does nothing before it is started. */
export function createMonitor(options: MonitorOptions): Monitor {
  const parts = createParts(options);
  const { catalog, clock, settings } = options;
  const { reader, maintenance, upkeep, witness, listeners, closing } = parts;
  let stopListening: (() => void) | undefined;
  let stopLoops: (() => Promise<void>) | undefined;
  return {
    ...reader,
    kinds: [upkeep.kind],
    schedules: [upkeep.schedule],
    load: () => parts.refresh(),
    async start() {
      await parts.refresh();
      if (closing.signal.aborted) return;
      stopLoops = parts.startLoops();
      if (settings.enabled) stopListening = catalog.onChange?.(() => parts.probeNew());
    },
    witness(report) {
      if (settings.enabled && !closing.signal.aborted) witness.report(report);
    },
    async addMaintenance(window) {
      if (catalog.byId(window.endpoint) === undefined) {
        throw new FedwayError("ENDPOINT_UNKNOWN", `The catalogue has no endpoint "${window.endpoint.slice(0, 64)}".`);
      }
      return maintenance.add(window, clock.now());
    },
    removeMaintenance: (id) => maintenance.remove(id),
    async remove(endpoint) {
      for (const { id } of maintenance.list(clock.now(), endpoint)) await maintenance.remove(id);
      await upkeep.forget(endpoint);
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      stopListening?.();
      closing.abort(new FedwayError("CANCELLED", "The service is shutting down."));
      await stopLoops?.();
      await parts.queue.close();
      await parts.recorder.close();
      listeners.clear();
    },
  };
}
