import type { FaultKind } from "../errors/fedway-error.ts";
import { hourSummaries, type Hours } from "./hours.ts";
import type { IncidentKind, Observation } from "./monitor.ts";
import { itemAt } from "../values.ts";

/**
 * Faults in which no answer came. They count as alike: when a network is lost, the resolver's cache and the connections that
 * are open decide which of them an endpoint shows.
 */
const silentFaults: ReadonlySet<FaultKind> = new Set(["dns", "connect", "tls", "timeout", "reset"]);

/** Faults of a host or of the way to it, in which no request got a sensible answer. */
export const transportFaults: ReadonlySet<string> = new Set([...silentFaults, "http-5xx"]);

/** Nothing came from the host: what an endpoint that is gone and a lost network have in common. A 504 is an answer. */
export const isSilent = ({ fault, status }: Observation): boolean =>
  fault !== undefined && status === undefined && silentFaults.has(fault);

/**
 * The latest turns of an endpoint, oldest first: `g` good, `b` bad, `d` bad and part of an incident that is over. They are
 * the window that an endpoint is judged by beside the faults in a row: six hours, where it is probed every fifteen minutes.
 */
export type RecentTurns = string;

/** Turns of the window. */
const window = 24;
/** Good turns in a row that end flapping; bad ones after which the endpoint is down. */
export const calmTurns = window / 2;
/** Bad turns that make an endpoint degraded, at least; and their share. */
const leastBad = 6;
const badShare = 1 / 3;
/** Falls from good to bad in the window that make an endpoint flapping, and the share of good turns since the first. */
const leastFalls = 3;
const goodShare = 0.2;
/** Least hours with good turns of a day that counts for the usual time. */
const wholeDay = 20;
const mostDays = 7;
const leastDays = 2;
/** Hours that are compared with the usual ones. */
const comparedHours = 3;
/** Nothing faster than this is slow by its own history. */
const leastSlowMs = 500;
const dayHours = 24;

/** The window with one turn more. */
export const withRecent = (recent: RecentTurns, ok: boolean): RecentTurns => (recent + (ok ? "g" : "b")).slice(-window);

/** The window after the end of an incident: its faults are dealt with. */
export const settledTurns = (recent: RecentTurns): RecentTurns => recent.replaceAll("b", "d");

/** An incident has ended within the window. */
export const hasSettled = (recent: RecentTurns): boolean => recent.includes("d");

/** The window without its latest faults. */
export const withoutLatest = (recent: RecentTurns, faults: number): RecentTurns =>
  recent.slice(0, recent.length - Math.min(faults, runOf(recent)));

const count = (recent: RecentTurns, letter: string): number => recent.split(letter).length - 1;

/** Bad turns at the end. */
const runOf = (recent: RecentTurns): number =>
  recent.length - 1 - Math.max(recent.lastIndexOf("g"), recent.lastIndexOf("d"));

/** Good turns in a row that end a fault: as many as were bad, or half the calm where it has come and gone before. */
export function goodAfter(recent: RecentTurns): number {
  const [run = ""] = /(?<!b)b+(?=g*$)/u.exec(recent) ?? [];
  return recent.split("gb").length > 2 ? calmTurns / 2 : Math.min(run.length, calmTurns / 3);
}

/** Says how many turns of the window failed. */
export const shareText = (recent: RecentTurns): string =>
  `${recent.length - count(recent, "g")} of the latest ${recent.length} probes failed.`;

/** A third of the turns is bad, though never enough of them in a row. */
export const isPartial = (recent: RecentTurns): boolean =>
  count(recent, "b") >= Math.max(leastBad, recent.length * badShare);

/** Present kind of an open incident, by the window: an incident may change its kind, and stays one incident. */
export function kindNow(kind: IncidentKind, recent: RecentTurns, incidentAfter: number): IncidentKind {
  const run = runOf(recent);
  if (run >= calmTurns) return "down";
  const since = recent.slice(recent.search(/[bd]/u));
  const comesAndGoes = /[bd]/u.test(recent) && count(since, "g") >= goodShare * since.length;
  const falls = (recent.match(/g[bd]/gu) ?? []).length;
  if (kind === "down") return comesAndGoes && falls >= leastFalls ? "flapping" : "down";
  if (kind === "flapping" || run < incidentAfter) return kind;
  return falls >= leastFalls ? "flapping" : "down";
}

/** Limits of slowness. */
export interface SlowRules {
  /** Milliseconds that are slow regardless of the usual time. */
  readonly slowMs: number;
  /** How many times its usual time an endpoint takes when it is slow. */
  readonly slowFactor: number;
}

/** The slowest hours of the latest days, oldest first: a slow night that is usual is no trouble. */
export type Peaks = readonly number[];

/** The peaks with that of the day which the latest turn has ended. */
export function withDay(peaks: Peaks, hours: Hours, before: Hours): Peaks {
  const [now, last] = [hours.running?.h ?? 0, before.running?.h ?? Number.POSITIVE_INFINITY];
  const day = Math.floor(last / dayHours);
  if (Math.floor(now / dayHours) <= day) return peaks;
  const medians = hourSummaries(hours, now * 3_600_000)
    .filter(({ fromMs }) => Math.floor(fromMs / 3_600_000 / dayHours) === day)
    .flatMap(({ p50Ms }) => p50Ms ?? []);
  return medians.length < wholeDay ? peaks : [...peaks, Math.max(...medians)].slice(-mostDays);
}

/** How slow an endpoint is, in words; undefined when it is not. @param isSlow it was, so that it takes more to be not */
export function slowText(
  hours: Hours,
  peaks: Peaks,
  rules: SlowRules & { readonly isSlow: boolean },
): string | undefined {
  const { slowMs, slowFactor, isSlow } = rules;
  const now = (hours.running?.h ?? 0) * 3_600_000;
  const medians = hourSummaries({ past: hours.past }, now).flatMap(({ fromMs, p50Ms }) =>
    p50Ms === undefined || fromMs < now - 2 * comparedHours * 3_600_000 ? [] : p50Ms,
  );
  const ms = medians.length < comparedHours ? 0 : middleOf(medians.slice(-comparedHours));
  const usual = peaks.length < leastDays ? Number.POSITIVE_INFINITY : middleOf(peaks);
  const limit = Math.min(slowMs, Math.max(leastSlowMs, slowFactor * usual)) * (isSlow ? 2 / 3 : 1);
  if (ms < limit) return undefined;
  const than = Number.isFinite(usual) ? `; ${Math.round(usual)} ms are usual in its slowest hours` : "";
  return `Half of its good probes take ${Math.round(ms)} ms or more${than}.`;
}

/** The median, of two the greater one. */
const middleOf = (values: readonly number[]): number =>
  itemAt(
    values.toSorted((left, right) => left - right),
    Math.floor(values.length / 2),
  );
