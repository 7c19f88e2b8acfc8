import { randomUUID } from "node:crypto";
import { Type } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";
import { createCollection } from "../store/collection.ts";
import { Mirror } from "../store/mirror.ts";
import type { Store } from "../store/store.ts";
import { MaintenanceWindow } from "./monitor.ts";

/** Maintenance windows, in the store and in memory. */
export type MaintenanceRepository = ReturnType<typeof createMaintenance>;

/** A window to be added. */
export type NewMaintenance = Omit<MaintenanceWindow, "id">;

const schema = Type.Unsafe<MaintenanceWindow>(MaintenanceWindow);
const mostReason = 300;
const mostWindows = 100;
const longestMs = 366 * 24 * 3_600_000;

/** The windows over a store; none until they are refreshed. */
export function createMaintenance(store: Store) {
  const mirror = new Mirror(
    createCollection({ store, prefix: "monitor/maintenance/", schema, lost: "The maintenance window does not count." }),
  );
  const windows = (endpoint: string | undefined): readonly MaintenanceWindow[] =>
    Array.from(mirror.entries(), ([, window]) => window).filter(
      (window) => endpoint === undefined || window.endpoint === endpoint,
    );
  const holding = (atMs: number): ReadonlyMap<string, number> => {
    const ends = new Map<string, number>();
    for (const [, { endpoint, fromMs, toMs }] of mirror.entries()) {
      if (fromMs <= atMs && atMs < toMs) ends.set(endpoint, Math.max(toMs, ends.get(endpoint) ?? toMs));
    }
    return ends;
  };
  const list = (nowMs: number, endpoint?: string): readonly MaintenanceWindow[] =>
    windows(endpoint)
      .filter(({ toMs }) => toMs > nowMs)
      .toSorted((left, right) => left.fromMs - right.fromMs);
  return {
    mirror,
    /** Ends of the windows that hold at this moment, by endpoint; of several the latest. From memory. */
    holding,
    /** The end for one endpoint. From memory. */
    untilMs: (endpoint: string, atMs: number): number | undefined => holding(atMs).get(endpoint),
    /** Those that have not ended, soonest first. From memory. */
    list,
    /** @throws FedwayError `REQUEST_INVALID`, `STORE_FAILED` */
    async add(given: NewMaintenance, nowMs: number): Promise<MaintenanceWindow> {
      check(given, nowMs);
      if (list(nowMs, given.endpoint).length >= mostWindows) {
        refuse(
          `The endpoint has ${mostWindows} maintenance windows already.`,
          "DELETE /api/maintenance/{id} removes one.",
        );
      }
      const window = { ...given, id: randomUUID() };
      await mirror.put(window.id, window, { ttlMs: Math.max(1, given.toMs - nowMs) });
      return window;
    },
    /** False when there is no such window. @throws FedwayError `STORE_FAILED` */
    remove: async (id: string): Promise<boolean> => /^[0-9a-f-]{36}$/u.test(id) && mirror.delete(id),
  };
}

function refuse(message: string, next = "Send an end in the future, at most a year after the beginning."): never {
  throw new FedwayError("REQUEST_INVALID", message, { next });
}

function check({ fromMs, toMs, reason }: NewMaintenance, nowMs: number): void {
  if (!Number.isSafeInteger(fromMs) || !Number.isSafeInteger(toMs)) {
    refuse("A maintenance window begins and ends at whole milliseconds since the epoch.");
  }
  if (toMs <= fromMs || toMs <= nowMs) refuse("A maintenance window ends after its beginning, and in the future.");
  if (toMs - fromMs > longestMs || toMs - nowMs > 2 * longestMs) {
    refuse("A maintenance window lasts at most a year and ends within two.");
  }
  if (reason !== undefined && (reason.length > mostReason || !reason.isWellFormed())) {
    refuse(`The reason of a maintenance window has at most ${mostReason} characters.`, "Send a shorter reason.");
  }
}
