import { FedwayError } from "../errors/fedway-error.ts";
import type { Store } from "../store/store.ts";
import type { Catalog, CatalogEntry } from "../registry/catalog/catalog.ts";
import type { Incident, MonitorReader } from "./monitor.ts";
import { parseRecord } from "./observation-text.ts";
import {
  buildSnapshot,
  figuresOf,
  judgeSnapshot,
  type Snapshot,
  type SnapshotFigures,
  type SnapshotRecord,
} from "./snapshot.ts";

/** What publishing works with. */
export interface PublishOptions {
  readonly catalog: Pick<Catalog, "entries">;
  readonly monitor: Pick<MonitorReader, "availability" | "heartbeat" | "health" | "incident" | "score">;
  readonly store: Pick<Store, "get" | "put">;
  readonly clock: { now(): number };
  /** Of Fedway. */
  readonly version: string;
  /** Without a trailing slash. */
  readonly publicUrl: string;
}

const key = "monitor/snapshot";
/** Endpoints whose records are read at once. */
const together = 16;

/**
 * The snapshot of now, remembered as the one that the next is compared with. With `reviewed` it is published whatever
 * it looks like, as somebody has looked at it.
 * @throws FedwayError `SNAPSHOT_IMPLAUSIBLE`, `STORE_FAILED`
 */
export async function publishSnapshot(
  options: PublishOptions,
  { reviewed }: { readonly reviewed: boolean },
): Promise<Snapshot> {
  const { catalog, clock, monitor, publicUrl, store, version } = options;
  const records: SnapshotRecord[] = [];
  const { entries } = catalog;
  for (let index = 0; index < entries.length; index += together) {
    records.push(
      ...(await Promise.all(entries.slice(index, index + together).map((entry) => recordOf(entry, monitor)))),
    );
  }
  const heartbeat = monitor.heartbeat();
  const snapshot = buildSnapshot({ version, publicUrl, nowMs: clock.now(), heartbeat, records });
  const previous = await store.get(key);
  const reasons = judgeSnapshot(snapshot, previous && figures(previous.value));
  if (reasons.length > 0 && !reviewed) {
    throw new FedwayError("SNAPSHOT_IMPLAUSIBLE", `The snapshot is not plausible. ${reasons.join(" ")}`, {
      next: "Review the state of the endpoints and of the monitor, then repeat with reviewed.",
    });
  }
  await store.put(key, JSON.stringify(figuresOf(snapshot)));
  return snapshot;
}

async function recordOf(entry: CatalogEntry, monitor: PublishOptions["monitor"]): Promise<SnapshotRecord> {
  const { id } = entry;
  const [availability, score, incident] = await Promise.all([
    monitor.availability(id),
    monitor.score(id),
    openIncident(id, monitor),
  ]);
  const health = availability?.health ?? monitor.health(id);
  return { entry, health, windows: availability?.windows ?? [], incident, score };
}

async function openIncident(endpoint: string, monitor: PublishOptions["monitor"]): Promise<Incident | undefined> {
  const id = monitor.health(endpoint)?.incident;
  return id === undefined ? undefined : monitor.incident(id);
}

/** Undefined when they cannot be read: then there is nothing to compare with. */
function figures(text: string): SnapshotFigures | undefined {
  const { endpoints, generated, up } = parseRecord(text) ?? {};
  if (typeof endpoints !== "number" || typeof generated !== "string" || !Array.isArray(up)) return undefined;
  return { endpoints, generated, up: up.filter((id: unknown) => typeof id === "string") };
}
