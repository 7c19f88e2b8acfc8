import type { FaultKind } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog/catalog.ts";
import type { HealthRecord } from "./health-record.ts";
import type { Observation } from "./monitor.ts";
import { domainOf } from "./subjects.ts";

/**
 * Faults in which no answer came. They count as alike: when a network is lost, the resolver's cache and the connections that
 * are open decide which of them an endpoint shows.
 */
const silentFaults: ReadonlySet<FaultKind> = new Set(["dns", "connect", "tls", "timeout", "reset"]);

/** Faults of a host or of the way to it, in which no sensible answer came whatever was asked. */
export const transportFaults: ReadonlySet<string> = new Set([...silentFaults, "http-5xx"]);

/** Nothing came from the host: what an endpoint that is gone and a lost network have in common. A 504 is an answer. */
export const isSilent = ({ fault, status }: Observation): boolean =>
  fault !== undefined && status === undefined && silentFaults.has(fault);

/** Domains without which nothing is said of the network: of fewer, all may well be down at once. */
const leastDomains = 4;
/**
 * Domains that a verdict takes, or all where there are fewer. Of 12 unrelated hosts each of which is dead with a probability
 * of 0.3, ten or more are with 0.0002; that is a first start with a bad catalogue. Hosts that have answered before fail
 * by themselves in one probe of fifty at most: 10^-15.
 */
const mostNeeded = 12;
/** Share of them that must fail. Not all: what is nearby, or has its name in a cache, may answer still. */
const lostShare = 0.8;
/** Share of them that must answer again; far from the other, so that a network that half works is not reported again and again. */
const backShare = 0.5;
/** Faults of different domains in a row, none answering between, after which others are asked without waiting for their turns. */
const suspicious = 3;

/** The latest probe of the endpoints of a domain. */
interface Outcome {
  readonly endpoint: string;
  readonly domain: string;
  /** Absent: none in the latest interval. */
  readonly probe?: Observation | undefined;
}

type Probed = Outcome & { readonly probe: Observation };

/** What endpoints of unrelated hosts have shown in the latest interval. */
export interface NetworkView {
  /** One a domain, but for domains that were failing before that. */
  readonly domains: readonly Outcome[];
  /** Those with a probe, newest first. */
  readonly probed: readonly Probed[];
}

/** What the latest interval shows. @param fromMs its beginning: what has failed since before says nothing of the network now */
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
  const probed = all.filter((one): one is Probed => one.probe !== undefined);
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

/**
 * The faults that show that this service has lost its network, oldest first: those of the longest latest time in which a
 * large share of unrelated hosts gave no answer. Undefined when there is no such time, or too few hosts to tell.
 * @param afterMs nothing up to this moment counts
 */
export function lossIn({ domains, probed }: NetworkView, afterMs: number): readonly Observation[] | undefined {
  if (domains.length < leastDomains) return undefined;
  const needed = Math.min(mostNeeded, domains.length);
  const faults: Observation[] = [];
  let lost = 0;
  let looked = 0;
  for (const { probe } of probed) {
    if (probe.atMs <= afterMs || probe.offline) continue;
    looked += 1;
    if (isSilent(probe)) faults.push(probe);
    if (looked >= needed && faults.length >= lostShare * looked) lost = faults.length;
  }
  return lost === 0 ? undefined : faults.slice(0, lost).toReversed();
}

/** Whether a network that was lost at this moment is there again: of the latest hosts asked since, half answer. */
export function isBack({ domains, probed }: NetworkView, lostMs: number): boolean {
  if (domains.length < leastDomains) return true;
  const latest = probed.filter(({ probe }) => probe.atMs >= lostMs).slice(0, mostNeeded);
  const answered = latest.filter(({ probe }) => !isSilent(probe)).length;
  return latest.length >= leastDomains && answered >= backShare * latest.length;
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

/**
 * Endpoints to be asked before their turn, as the latest probes speak for a change of the network: one a domain whose latest
 * probe speaks against it, those first that were asked longest ago. None while nothing speaks for it.
 */
export function toBeAsked({ domains, probed }: NetworkView, isLost: boolean): readonly string[] {
  if (domains.length < leastDomains) return [];
  const latest = probed.slice(0, isLost ? 1 : suspicious);
  const isChange = isLost
    ? latest.some(({ probe }) => !isSilent(probe))
    : latest.length === Math.min(suspicious, domains.length) &&
      latest.every(({ probe }) => isSilent(probe) && !probe.offline);
  if (!isChange) return [];
  const others = domains.filter(({ probe }) => probe === undefined || isSilent(probe) === isLost || probe.offline);
  return others
    .toSorted((left, right) => (left.probe?.atMs ?? 0) - (right.probe?.atMs ?? 0))
    .slice(0, mostNeeded)
    .map(({ endpoint }) => endpoint);
}
