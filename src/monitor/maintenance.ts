import { randomUUID } from "node:crypto";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Store } from "../store/store.ts";
import type { MaintenanceWindow } from "./monitor.ts";
import { parseRecord } from "./tally.ts";

/** Maintenance windows: in the store, and in memory as this process last saw them. */
export interface MaintenanceBook {
  /** The end of the window that holds at this moment; of several the latest. From memory. */
  untilMs(endpoint: string, atMs: number): number | undefined;
  /** Those that have not ended, soonest first. From memory. */
  list(nowMs: number, endpoint?: string): readonly MaintenanceWindow[];
  /** @throws FedwayError `REQUEST_INVALID`, `STORE_FAILED` */
  add(window: Omit<MaintenanceWindow, "id">, nowMs: number): Promise<MaintenanceWindow>;
  /** @throws FedwayError `STORE_FAILED` */
  remove(id: string): Promise<boolean>;
  /** Takes in what other processes have written. @throws FedwayError `STORE_FAILED` */
  refresh(): Promise<void>;
}

const prefix = "monitor/maintenance/";
const mostReason = 300;
const mostWindows = 100;
const longestMs = 366 * 24 * 3_600_000;
const pageSize = 1_000;

/** The book over a store; empty until it is refreshed. */
export function createMaintenanceBook(store: Pick<Store, "put" | "delete" | "list">): MaintenanceBook {
  let windows: ReadonlyMap<string, MaintenanceWindow> = new Map();
  const list = (nowMs: number, endpoint?: string): readonly MaintenanceWindow[] =>
    [...windows.values()]
      .filter((window) => window.toMs > nowMs && (endpoint === undefined || window.endpoint === endpoint))
      .toSorted((left, right) => left.fromMs - right.fromMs);
  return {
    untilMs(endpoint, atMs) {
      if (windows.size === 0) return undefined;
      const holding = [...windows.values()].filter(
        (window) => window.endpoint === endpoint && window.fromMs <= atMs && atMs < window.toMs,
      );
      return holding.length === 0 ? undefined : Math.max(...holding.map(({ toMs }) => toMs));
    },
    list,
    async add(given, nowMs) {
      check(given, nowMs);
      if (list(nowMs, given.endpoint).length >= mostWindows) {
        refuse(`The endpoint has ${mostWindows} maintenance windows already.`);
      }
      const { endpoint, fromMs, toMs, reason } = given;
      const window = { id: randomUUID(), endpoint, fromMs, toMs, ...(reason !== undefined && { reason }) };
      await store.put(prefix + window.id, JSON.stringify(window), { ttlMs: Math.max(1, toMs - nowMs) });
      windows = new Map([...windows, [window.id, window]]);
      return window;
    },
    async remove(id) {
      if (!/^[0-9a-f-]{36}$/u.test(id)) return false;
      const removed = await store.delete(prefix + id);
      windows = new Map([...windows].filter(([other]) => other !== id));
      return removed;
    },
    async refresh() {
      const before = windows;
      const found = await listed(store);
      // A window that was added or removed here meanwhile is not in what was listed; the next time it is.
      if (windows === before) windows = found;
    },
  };
}

async function listed(store: Pick<Store, "list">): Promise<ReadonlyMap<string, MaintenanceWindow>> {
  const found = new Map<string, MaintenanceWindow>();
  for (let after: string | undefined; ; ) {
    const page = await store.list(prefix, { limit: pageSize, ...(after !== undefined && { after }) });
    for (const { value } of page) {
      const window = parseRecord(value);
      if (window !== undefined && isWindow(window)) found.set(window.id, window);
    }
    after = page.at(-1)?.key;
    if (page.length < pageSize) return found;
  }
}

const isWindow = (
  value: Partial<Record<string, unknown>>,
): value is Partial<Record<string, unknown>> & MaintenanceWindow =>
  typeof value["id"] === "string" &&
  typeof value["endpoint"] === "string" &&
  typeof value["fromMs"] === "number" &&
  typeof value["toMs"] === "number";

function refuse(message: string): never {
  throw new FedwayError("REQUEST_INVALID", message);
}

function check({ fromMs, toMs, reason }: Omit<MaintenanceWindow, "id">, nowMs: number): void {
  if (!Number.isSafeInteger(fromMs) || !Number.isSafeInteger(toMs)) {
    refuse("A maintenance window begins and ends at whole milliseconds since the epoch.");
  }
  if (toMs <= fromMs || toMs <= nowMs) refuse("A maintenance window ends after its beginning, and in the future.");
  if (toMs - fromMs > longestMs || toMs - nowMs > 2 * longestMs) {
    refuse("A maintenance window lasts at most a year and ends within two.");
  }
  if (reason !== undefined && (reason.length > mostReason || !reason.isWellFormed())) {
    refuse(`The reason of a maintenance window has at most ${mostReason} characters.`);
  }
}
