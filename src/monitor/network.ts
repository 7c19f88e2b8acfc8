import type { Catalog, CatalogEntry } from "../registry/catalog.ts";
import type { HealthRecord } from "./health-record.ts";
import type { HealthRepository } from "./health-repository.ts";
import { isSilent } from "./judgement.ts";
import type { Observation } from "./monitor.ts";
import { domainOf } from "./subjects.ts";

/** Domains without which nothing is said of the network: of fewer, all may well be down at once. */
export const leastDomains = 4;
/** The window: the latest probe of each domain in the latest round, or of this number of domains. */
const mostDomains = 64;
/** Probes of the window that a verdict takes, or all where there are fewer domains. */
const mostNeeded = 12;
/** Share that fails when the network is lost. Not all: nearby hosts, and names in a cache, may still answer. */
const lostShare = 0.8;
/** Share that answers when it is back; far from the other, so that a network that half works is not reported again and again. */
const backShare = 1 / 3;
/** Faults of different domains in a row, none answering between, after which others are asked without waiting for their turns. */
const suspicious = 3;

/** A domain with the latest probe of its endpoints in the latest round. */
interface Seen {
  readonly endpoint: string;
  readonly domain: string;
  readonly probe?: Observation | undefined;
}

/** The window of now, newest probe first. Domains that have failed since before it say nothing of the network. */
export function domainsSeen(
  catalog: Pick<Catalog, "entries">,
  records: Pick<HealthRepository, "get">,
  fromMs: number,
): readonly Seen[] {
  const domains = new Map<string, Seen>();
  for (const entry of catalog.entries) {
    const domain = domainOf(entry);
    const found = records.get(entry.id);
    const record = found?.url === entry.url ? found : undefined;
    if (domain === undefined || hasFailedSince(record, fromMs)) continue;
    const seen = { endpoint: entry.id, domain, probe: usefulProbe(record, fromMs) };
    const known = domains.get(domain);
    if (known === undefined || seenMs(seen) > seenMs(known)) domains.set(domain, seen);
  }
  return [...domains.values()].toSorted((left, right) => seenMs(right) - seenMs(left));
}

function usefulProbe(record: HealthRecord | undefined, fromMs: number): Observation | undefined {
  const { last } = record ?? {};
  return last !== undefined && last.atMs >= fromMs && (last.ok || !last.maintenance) ? last : undefined;
}

const seenMs = ({ probe }: Seen): number => probe?.atMs ?? 0;

export const probesOf = (seen: readonly Seen[]): readonly Observation[] => seen.flatMap(({ probe }) => probe ?? []);

/** An endpoint that has failed without an answer since before a moment. */
function hasFailedSince(record: HealthRecord | undefined, fromMs: number): boolean {
  if (record?.last === undefined || !isSilent(record.last)) return false;
  return (record.open?.startedMs ?? record.trail[0]?.atMs ?? fromMs) < fromMs;
}

/** The faults that show that the network is lost, oldest first; none when it is not. Nothing up to `afterMs` counts. */
export function lossIn(domains: readonly Seen[], afterMs: number): readonly Observation[] {
  const probes = probesOf(domains)
    .slice(0, mostDomains)
    .filter(({ atMs, offline }) => atMs > afterMs && !offline);
  const silent = probes.filter(isSilent);
  const isLost = probes.length >= Math.min(mostNeeded, domains.length) && silent.length >= lostShare * probes.length;
  if (domains.length < leastDomains || !isLost) return [];
  // Faults from before the latest answer may have been others', where enough came after it.
  const answeredMs = probes.find((probe) => !isSilent(probe))?.atMs ?? 0;
  const since = silent.filter(({ atMs }) => atMs > answeredMs);
  return (since.length >= suspicious ? since : silent).toReversed();
}

/** True if a network that was lost at this moment works again. */
export function isBack(domains: readonly Seen[], lostMs: number): boolean {
  if (domains.length < leastDomains) return true;
  const since = probesOf(domains)
    .filter(({ atMs }) => atMs >= lostMs)
    .slice(0, mostDomains);
  return since.length >= leastDomains && since.filter((probe) => !isSilent(probe)).length >= backShare * since.length;
}

/**
 * True if a fault counts as the endpoint's own: a host of another domain has answered since its first one, and the latest
 * of the others do not speak for a lost network, which a verdict would follow on soon. True with too few to tell.
 */
export function isReachable(domains: readonly Seen[], target: Pick<CatalogEntry, "url">, sinceMs: number): boolean {
  const own = domainOf(target);
  if (domains.length < leastDomains || own === undefined) return true;
  const others = probesOf(domains.filter(({ domain }) => domain !== own));
  // This fault is one of those that make suspicious, and not seen yet.
  if (others.slice(0, suspicious - 1).every(isSilent)) return false;
  return others.some((probe) => probe.atMs > sinceMs && !isSilent(probe));
}

/** Endpoints to be asked before their turn as the network may have changed: one a domain, the oldest probe first. */
export function toBeAsked(domains: readonly Seen[], isLost: boolean): readonly string[] {
  if (domains.length < leastDomains) return [];
  const latest = probesOf(domains).slice(0, isLost ? 1 : suspicious);
  const isChange = isLost
    ? latest.some((probe) => !isSilent(probe))
    : latest.length === Math.min(suspicious, domains.length) && latest.every((one) => isSilent(one) && !one.offline);
  if (!isChange) return [];
  return domains
    .filter(({ probe }) => probe === undefined || isSilent(probe) === isLost || probe.offline)
    .toReversed()
    .slice(0, mostDomains)
    .map(({ endpoint }) => endpoint);
}
