import type { CatalogEntry } from "../registry/catalog/catalog.ts";
import type { HealthRecord } from "./health-record.ts";
import { isSilent } from "./judgement.ts";
import type { Observation } from "./monitor.ts";
import { domainOf } from "./subjects.ts";

/** Domains without which nothing is said of the network: of fewer, all may well be down at once. */
export const leastDomains = 4;
/** The window: the latest probe of each domain in the latest round, or of this number of domains. */
const mostDomains = 64;
/** Probes of the window that a verdict takes, or all where there are fewer domains. */
const mostNeeded = 12;
/** Share that fails when the network is lost. Not all: what is nearby, or has its name in a cache, may answer still. */
const lostShare = 0.8;
/** Share that answers when it is back; far from the other, so that a network that half works is not reported again and again. */
const backShare = 1 / 3;
/** Faults of different domains in a row, none answering between, after which others are asked without waiting for their turns. */
const suspicious = 3;

/** The latest probe of the endpoints of a domain. */
interface Outcome {
  readonly endpoint: string;
  readonly domain: string;
  /** Absent: none in the latest round. */
  readonly probe?: Observation | undefined;
}

/** What unrelated hosts have shown in the latest round: one outcome a domain; those with a probe, newest first. */
export interface NetworkView {
  readonly domains: readonly Outcome[];
  readonly probed: readonly (Outcome & { readonly probe: Observation })[];
}

/** The window of now. Domains that have failed since before it say nothing of the network. */
export function networkView(
  entries: readonly CatalogEntry[],
  recordOf: (id: string) => HealthRecord | undefined,
  fromMs: number,
): NetworkView {
  const domains = new Map<string, Outcome>();
  for (const entry of entries) {
    const domain = domainOf(entry);
    const record = recordOf(entry.id);
    const known = record?.url === entry.url ? record : undefined;
    if (domain === undefined || hasFailedSince(known, fromMs)) continue;
    const outcome = { endpoint: entry.id, domain, probe: outcomeOf(known?.last, fromMs) };
    if (isNewer(outcome, domains.get(domain))) domains.set(domain, outcome);
  }
  const all = [...domains.values()];
  const probed = all.flatMap(({ probe, ...rest }) => (probe === undefined ? [] : [{ ...rest, probe }]));
  return { domains: all, probed: probed.toSorted((left, right) => right.probe.atMs - left.probe.atMs) };
}

const isNewer = ({ probe }: Outcome, before: Outcome | undefined): boolean =>
  before === undefined || (probe?.atMs ?? 0) > (before.probe?.atMs ?? 0);

function outcomeOf(last: Observation | undefined, fromMs: number): Observation | undefined {
  if (last === undefined || last.atMs < fromMs || (last.maintenance && !last.ok)) return undefined;
  return last;
}

/** An endpoint that has failed without an answer since before a moment. */
function hasFailedSince(record: HealthRecord | undefined, fromMs: number): boolean {
  if (record?.last === undefined || !isSilent(record.last)) return false;
  return (record.open?.startedMs ?? record.trail[0]?.atMs ?? fromMs) < fromMs;
}

/** The faults of the window that show that the network is lost, oldest first. @param afterMs nothing up to this moment counts */
export function lossIn({ domains, probed }: NetworkView, afterMs: number): readonly Observation[] {
  const seen = probed
    .slice(0, mostDomains)
    .flatMap(({ probe }) => (probe.atMs > afterMs && !probe.offline ? [probe] : []));
  const silent = seen.filter(isSilent);
  const isLost = seen.length >= Math.min(mostNeeded, domains.length) && silent.length >= lostShare * seen.length;
  if (domains.length < leastDomains || !isLost) return [];
  // Faults from before the latest answer may have been others', where enough came after it.
  const answeredMs = seen.find((probe) => !isSilent(probe))?.atMs ?? 0;
  const since = silent.filter(({ atMs }) => atMs > answeredMs);
  return (since.length >= suspicious ? since : silent).toReversed();
}

/** Whether a network that was lost at this moment is there again. */
export function isBack({ domains, probed }: NetworkView, lostMs: number): boolean {
  if (domains.length < leastDomains) return true;
  const seen = probed.filter(({ probe }) => probe.atMs >= lostMs).slice(0, mostDomains);
  const answered = seen.filter(({ probe }) => !isSilent(probe)).length;
  return seen.length >= leastDomains && answered >= backShare * seen.length;
}

/**
 * Whether a fault is believed to be the endpoint's: a host of another domain has answered since its first one, and the latest
 * of the others do not speak for a lost network, which a verdict would follow on soon. True with too few to tell.
 */
export function isReachable(
  { domains, probed }: NetworkView,
  entry: Pick<CatalogEntry, "url">,
  sinceMs: number,
): boolean {
  const own = domainOf(entry);
  if (domains.length < leastDomains || own === undefined) return true;
  const others = probed.filter(({ domain }) => domain !== own);
  // This fault is one of those that make suspicious, and not seen yet.
  if (others.slice(0, suspicious - 1).every(({ probe }) => isSilent(probe))) return false;
  return others.some(({ probe }) => probe.atMs > sinceMs && !isSilent(probe));
}

/** Endpoints to be asked before their turn as the network may have changed: one a domain, the oldest probe first. */
export function toBeAsked({ domains, probed }: NetworkView, isLost: boolean): readonly string[] {
  if (domains.length < leastDomains) return [];
  const latest = probed.slice(0, isLost ? 1 : suspicious);
  const isChange = isLost
    ? latest.some(({ probe }) => !isSilent(probe))
    : latest.length === Math.min(suspicious, domains.length) &&
      latest.every(({ probe }) => isSilent(probe) && !probe.offline);
  if (!isChange) return [];
  return domains
    .filter(({ probe }) => probe === undefined || isSilent(probe) === isLost || probe.offline)
    .toSorted((left, right) => (left.probe?.atMs ?? 0) - (right.probe?.atMs ?? 0))
    .slice(0, mostDomains)
    .map(({ endpoint }) => endpoint);
}
