import type { EndpointHealth, HealthState } from "../../monitor/monitor.ts";
import { choiceOf } from "./catalog-wish.ts";

/** By what the endpoints are ordered. */
export type StatusSort = "name" | "state" | "uptime" | "latency" | "since";
export type SortOrder = "asc" | "desc";

/** What a person wants of the status page. */
export interface StatusWish {
  readonly sort: StatusSort;
  readonly order: SortOrder;
  readonly state?: HealthState;
}

export const sorts: readonly StatusSort[] = ["name", "state", "uptime", "latency", "since"];
export const healthStates: readonly HealthState[] = ["up", "down", "unknown"];

/** The order that is meant when none is named: trouble first, else A to Z. */
export const usualOrder: Readonly<Record<StatusSort, SortOrder>> = {
  name: "asc",
  state: "asc",
  uptime: "asc",
  latency: "desc",
  since: "desc",
};

/** @throws FedwayError `REQUEST_INVALID` */
export function readStatusWish(query: URLSearchParams): StatusWish {
  const sort = choiceOf(query, "sort", sorts) ?? "name";
  const order = choiceOf(query, "order", ["asc", "desc"] as const) ?? usualOrder[sort];
  const state = choiceOf(query, "state", healthStates);
  return { sort, order, ...(state !== undefined && { state }) };
}

/** The page that shows what is wished. */
export function statusPath({ sort, order, state }: StatusWish): string {
  const parameters = new URLSearchParams();
  if (sort !== "name" || order !== "asc") {
    parameters.set("sort", sort);
    parameters.set("order", order);
  }
  if (state !== undefined) parameters.set("state", state);
  return parameters.size === 0 ? "/status" : `/status?${parameters.toString()}`;
}

/** One endpoint of the status page. */
export interface StatusRow {
  readonly health: EndpointHealth;
  readonly title: string;
  /** Probes of the last 24 hours and the running one. */
  readonly probes: number;
  readonly good: number;
  /** Median of the hours' medians; undefined when no probe was good. */
  readonly latencyMs: number | undefined;
}

function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  const lower = sorted[middle - 1];
  return sorted.length % 2 === 1 || upper === undefined || lower === undefined ? upper : (lower + upper) / 2;
}

/** The figures of one endpoint. */
export function statusRow(health: EndpointHealth, title: string): StatusRow {
  let probes = 0;
  let good = 0;
  const medians: number[] = [];
  for (const hour of health.hours) {
    probes += hour.probes;
    good += hour.good;
    if (hour.p50Ms !== undefined) medians.push(hour.p50Ms);
  }
  return { health, title, probes, good, latencyMs: medianOf(medians) };
}

const severity: Readonly<Record<HealthState, number>> = { down: 0, unknown: 1, up: 2 };

const keys: Readonly<Record<Exclude<StatusSort, "name">, (row: StatusRow) => number | undefined>> = {
  state: ({ health }) => severity[health.state],
  uptime: ({ probes, good }) => (probes === 0 ? undefined : good / probes),
  latency: ({ latencyMs }) => latencyMs,
  since: ({ health }) => health.sinceMs,
};

const collator = new Intl.Collator("en", { sensitivity: "base", numeric: true });

const byName = (left: StatusRow, right: StatusRow): number =>
  collator.compare(left.title, right.title) || (left.health.endpoint < right.health.endpoint ? -1 : 1);

/** Rows in the wished order; those without the figure come last in either, equal ones by name. */
export function sortedRows(rows: readonly StatusRow[], { sort, order }: StatusWish): readonly StatusRow[] {
  const sign = order === "asc" ? 1 : -1;
  if (sort === "name") return rows.toSorted((left, right) => sign * byName(left, right));
  const keyed = rows.map((row) => ({ row, key: keys[sort](row) }));
  return keyed
    .toSorted((left, right) => {
      if (left.key === undefined || right.key === undefined) {
        return Number(left.key === undefined) - Number(right.key === undefined) || byName(left.row, right.row);
      }
      return sign * (left.key - right.key) || byName(left.row, right.row);
    })
    .map(({ row }) => row);
}
