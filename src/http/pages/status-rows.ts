import { setImmediate as nextTurn } from "node:timers/promises";
import { type EndpointHealth, type HealthState, healthStates, type HourSummary } from "../../monitor/monitor.ts";
import { choiceOf } from "./catalog-filter.ts";

/** By what the endpoints are ordered. */
export type StatusSort = "name" | "state" | "uptime" | "latency" | "since";
type SortOrder = "asc" | "desc";

/** Filter of the status page. */
export interface StatusFilter {
  readonly sort: StatusSort;
  readonly order: SortOrder;
  readonly state?: HealthState | undefined;
  /** Of a page that is not the first one. */
  readonly cursor?: string | undefined;
}

export const sorts: readonly StatusSort[] = ["name", "state", "uptime", "latency", "since"];

/** The order that is meant when none is named: trouble first, else A to Z. */
export const usualOrder: Readonly<Record<StatusSort, SortOrder>> = {
  name: "asc",
  state: "asc",
  uptime: "asc",
  latency: "desc",
  since: "desc",
};

/** @throws FedwayError `REQUEST_INVALID` */
export function readStatusFilter(query: URLSearchParams): StatusFilter {
  const sort = choiceOf(query, "sort", sorts) ?? "state";
  const order = choiceOf(query, "order", ["asc", "desc"] as const) ?? usualOrder[sort];
  const state = choiceOf(query, "state", healthStates);
  return { sort, order, state, cursor: query.get("cursor") || undefined };
}

/** The page that shows what is asked for. */
export function statusPath({ sort, order, state, cursor }: StatusFilter): string {
  const parameters = new URLSearchParams();
  if (sort !== "state" || order !== "asc") {
    parameters.set("sort", sort);
    parameters.set("order", order);
  }
  if (state !== undefined) parameters.set("state", state);
  if (cursor !== undefined) parameters.set("cursor", cursor);
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

/** Probes of some hours, and the good ones. */
export const probesIn = (hours: readonly HourSummary[]): { readonly probes: number; readonly good: number } => ({
  probes: hours.reduce((sum, { probes }) => sum + probes, 0),
  good: hours.reduce((sum, { good }) => sum + good, 0),
});

/** The figures of one endpoint. */
export function statusRow(health: EndpointHealth, title: string): StatusRow {
  const { hours } = health;
  return { health, title, ...probesIn(hours), latencyMs: medianOf(hours.flatMap(({ p50Ms }) => p50Ms ?? [])) };
}

const severity: Readonly<Record<HealthState, number>> = { down: 0, flapping: 1, degraded: 2, unknown: 3, up: 4 };

const keys: Readonly<Record<Exclude<StatusSort, "name">, (row: StatusRow) => number | undefined>> = {
  state: ({ health }) => severity[health.state],
  uptime: ({ probes, good }) => (probes === 0 ? undefined : good / probes),
  latency: ({ latencyMs }) => latencyMs,
  since: ({ health }) => health.sinceMs,
};

const collator = new Intl.Collator("en", { sensitivity: "base", numeric: true });

const byName = (left: StatusRow, right: StatusRow): number =>
  collator.compare(left.title, right.title) || (left.health.endpoint < right.health.endpoint ? -1 : 1);

interface KeyedRow {
  readonly row: StatusRow;
  readonly key?: number | undefined;
}

/** Rows in the order asked for; those without the figure come last in either, equal ones by name. */
export async function sortedRows(
  rows: readonly StatusRow[],
  { sort, order }: StatusFilter,
): Promise<readonly StatusRow[]> {
  const sign = order === "asc" ? 1 : -1;
  const keyed: readonly KeyedRow[] = rows.map((row) => (sort === "name" ? { row } : { row, key: keys[sort](row) }));
  const byKey = (left: KeyedRow, right: KeyedRow): number => {
    if (sort === "name") return sign * byName(left.row, right.row);
    if (left.key === undefined || right.key === undefined) {
      return Number(left.key === undefined) - Number(right.key === undefined) || byName(left.row, right.row);
    }
    return sign * (left.key - right.key) || byName(left.row, right.row);
  };
  return (await sortedInTurns(keyed, byKey)).map(({ row }) => row);
}

/** Items that are sorted or merged before others have their turn. */
const perTurn = 1_000;

/** A stable sort that lets others have their turn: names of 20,000 endpoints take 0.1 s to compare. */
async function sortedInTurns<Item>(items: readonly Item[], compare: (a: Item, b: Item) => number): Promise<Item[]> {
  if (items.length <= perTurn) return items.toSorted(compare);
  const middle = Math.ceil(items.length / 2);
  const left = await sortedInTurns(items.slice(0, middle), compare);
  const right = await sortedInTurns(items.slice(middle), compare);
  const sorted: Item[] = [];
  let [atLeft, atRight] = [0, 0];
  while (sorted.length < items.length) {
    if (sorted.length % perTurn === 0) await nextTurn();
    const [first, second] = [left[atLeft], right[atRight]];
    const isLeft = second === undefined || (first !== undefined && compare(first, second) <= 0);
    const next = isLeft ? first : second;
    if (next === undefined) break;
    sorted.push(next);
    if (isLeft) atLeft += 1;
    else atRight += 1;
  }
  return sorted;
}
