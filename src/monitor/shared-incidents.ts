import type { CatalogEntry } from "../registry/catalog.ts";
import {
  blankRecord,
  closedRecord,
  faultsSince,
  type HealthRecord,
  type HealthRules,
  type OpenIncident,
  probedRecord,
  type SharedIncident,
  sharedRecord,
  withdrawnFaults,
} from "./health-record.ts";
import type { History } from "./history.ts";
import { isSilent } from "./judgement.ts";
import type { Observation, WatchedCatalog } from "./monitor.ts";
import { type HealthRepository, hoursOver } from "./repositories.ts";
import { domainOf, hostOf, hostSubject, networkSubject, partSubject } from "./subjects.ts";
import type { Outbox } from "./watchdog.ts";

/** Sources of shared incidents. */
interface SharedIncidentsOptions {
  readonly catalog: WatchedCatalog;
  readonly records: HealthRepository;
  readonly history: History;
  readonly outbox: Outbox;
  readonly now: () => number;
  /** Milliseconds in which every endpoint has a turn. */
  readonly roundMs: number;
  /** Calls for a probe before its turn. */
  readonly callForProbe: (endpoint: string) => void;
}

/** Share of the domains that fail when a part of them is out of reach. */
const partShare = 0.25;
const askEveryMs = 30_000;
/** Time for the endpoint that opened a shared incident to be written after it. */
const graceMs = 60_000;

/** Incidents of several endpoints out in the network at once: of one host, of a part of the hosts, and of the network that this service is in. */
export type SharedIncidents = ReturnType<typeof createSharedIncidents>;

/**
 * Nothing is kept in this module: the wanted state is worked out from the endpoints' records, which every process has in memory, and the
 * record of the host or the network is brought to that by compare-and-set. So it does not matter which process does it, nor
 * how often, nor what one that crashed has left.
 */
export function createSharedIncidents(options: SharedIncidentsOptions) {
  const { records } = options;
  const judgeNetwork = oneAtATime(createNetworkJudge(options));
  return {
    /** The observation, marked when it was made while the network was lost, as far as that is known now. */
    marked(observation: Observation): Observation {
      if (!isSilent(observation) || observation.maintenance) return observation;
      const network = records.get(networkSubject);
      const wasLost = network?.state === "up" && observation.atMs <= (network.sinceMs ?? 0);
      return network?.open || wasLost ? { ...observation, offline: true } : observation;
    },
    /** Rules for a fault, with the facts beyond the endpoint that decide if an incident opens for it. @throws FedwayError `STORE_FAILED` */
    async rulesFor(entry: CatalogEntry, observation: Observation, rules: HealthRules): Promise<HealthRules> {
      const own = { ...rules, isReachable: (sinceMs: number) => isReachable(domainsNow(options), entry, sinceMs) };
      return { ...own, shared: await join(options, entry, { observation, rules: own }) };
    },
    /** An endpoint has left the incident of this subject, which closes with the last of them. @throws FedwayError `STORE_FAILED` */
    leave: (subject: string): Promise<void> => closeShared(options, subject),
    /** To be called after each probe. @throws FedwayError `STORE_FAILED` */
    async judgeNetwork({ id }: CatalogEntry, observation: Observation): Promise<void> {
      const isLost = records.get(networkSubject)?.open !== undefined;
      if (isLost || (isSilent(observation) && records.get(id)?.open === undefined)) await judgeNetwork();
    },
    /** For what a process that ended has left undone, and for endpoints that left the catalogue. @throws FedwayError `STORE_FAILED` */
    async sweep(): Promise<void> {
      const isRemote = options.catalog.entries.some((entry) => domainOf(entry) !== undefined);
      if (isRemote || records.get(networkSubject)?.open) await judgeNetwork();
      await closeShared(options);
    },
  };
}

/** Runs one after the other; calls that come meanwhile share one more run. */
function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let running = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        running = run();
        return running;
      });
    return next;
  };
}

/** Opens and closes the incident of the network, and has others asked where it may have changed. */
function createNetworkJudge(options: SharedIncidentsOptions): () => Promise<void> {
  const { records, outbox, now, callForProbe } = options;
  let askedMs = Number.NEGATIVE_INFINITY;
  const open = async (faults: readonly Observation[]): Promise<void> => {
    const [first] = faults;
    if (first === undefined) return;
    await outbox.change(networkSubject, (record = blankRecord("")) => {
      // Another process has opened it, or has seen its end already.
      if (record.open || (record.sinceMs ?? 0) >= first.atMs) return undefined;
      return sharedRecord(networkSubject, record, { faults, kind: "network" });
    });
  };
  const ask = (endpoints: readonly string[]): void => {
    if (endpoints.length === 0 || Math.abs(now() - askedMs) < askEveryMs) return;
    askedMs = now();
    for (const endpoint of endpoints) callForProbe(endpoint);
  };
  return async () => {
    const domains = domainsNow(options);
    const network = records.get(networkSubject);
    const answeredMs = probesOf(domains).find((probe) => !isSilent(probe))?.atMs ?? now();
    if (network?.open === undefined) await open(lossIn(domains, network?.sinceMs ?? 0));
    else if (isBack(domains, network.open.startedMs)) {
      await close(options, networkSubject, { id: network.open.id, atMs: answeredMs, by: "recovered" });
    }
    const lostMs = records.get(networkSubject)?.open?.startedMs;
    if (lostMs !== undefined) await withdraw(options, lostMs);
    ask(toBeAsked(domains, lostMs !== undefined));
  };
}

/** Faults that came before the loss was seen count no more. */
async function withdraw({ records, catalog, history }: SharedIncidentsOptions, lostMs: number): Promise<void> {
  // Entries as the catalogue has them: of a copy, the domain is looked up anew.
  for (const entry of catalog.entries) {
    const { id } = entry;
    const record = records.get(id);
    if (record === undefined || domainOf(entry) === undefined || faultsSince(record, lostMs).length === 0) continue;
    const changed = await records.change(id, (one) => one && withdrawnFaults(one, lostMs));
    const past = hoursOver(changed);
    if (past) await history.keep(id, past);
  }
}

/** Endpoints that fail alike, as the record named `subject` has them. */
interface Group {
  readonly subject: string;
  readonly url: string;
  readonly others: readonly CatalogEntry[];
  readonly kind?: "network";
  readonly summary?: string;
}

/** Opens or joins the incident of a part of the hosts, or of the endpoint's host, when others there fail alike. */
async function join(
  options: SharedIncidentsOptions,
  entry: CatalogEntry,
  { observation, rules }: { readonly observation: Observation; readonly rules: HealthRules },
): Promise<SharedIncident | undefined> {
  const record = options.records.get(entry.id);
  if (record?.url !== entry.url || record.open) return undefined;
  const { open } = probedRecord(entry.id, { record, observation }, rules);
  if (open === undefined || open.kind === "degraded" || open.reopenedMs !== undefined) return undefined;
  const group = partOf(options, entry, { observation, open }) ?? hostGroup(options, entry, observation);
  if (group === undefined) return undefined;
  const { subject, url, others, ...about } = group;
  const endpoints = [entry, ...others].map(({ id }) => id).toSorted();
  const shared = await options.outbox.change(subject, (known = blankRecord(url)) =>
    sharedRecord(subject, known, { faults: open.led, endpoints, ...about }),
  );
  return shared?.open && { id: shared.open.id, subject };
}

/** The hosts that have answered before, when many of them fall silent at about the same time. */
function partOf(
  options: SharedIncidentsOptions,
  target: CatalogEntry,
  { observation, open }: { readonly observation: Observation; readonly open: OpenIncident },
): Group | undefined {
  const { catalog, records, roundMs } = options;
  if (!isSilent(observation) || !hasAnswered(records.get(target.id))) return undefined;
  const live = catalog.entries.filter((entry) => {
    const own = records.get(entry.id)?.open;
    return domainOf(entry) !== undefined && (own === undefined || own.subject === partSubject);
  });
  const others = live.filter((entry) => {
    const last = hasAnswered(records.get(entry.id)) ? faultOf(options, entry, partSubject) : undefined;
    return entry.id !== target.id && last !== undefined && isSilent(last);
  });
  const [silent, all] = [domainCount([target, ...others]), domainCount(live)];
  const part = records.get(partSubject)?.open;
  const isLater = part !== undefined && open.startedMs - part.startedMs <= 2 * roundMs;
  if (!isLater && (silent < leastDomains || silent < partShare * all)) return undefined;
  const summary = `${silent} of ${all} hosts cannot be reached from this service; the others answer.`;
  return { subject: partSubject, url: "", others, kind: "network", summary };
}

const hasAnswered = (record: HealthRecord | undefined): boolean =>
  record !== undefined && [...record.past, record.running].some((hour) => (hour?.good ?? 0) > 0);

const domainCount = (entries: readonly CatalogEntry[]): number => new Set(entries.map(domainOf)).size;

/** The endpoints of the host whose faults have one cause: they are of one kind, or no answer came in either. */
function hostGroup(options: SharedIncidentsOptions, target: CatalogEntry, observation: Observation): Group | undefined {
  const host = hostOf(target);
  if (host === undefined) return undefined;
  const subject = hostSubject(host);
  const others = options.catalog.entries.filter((entry) => {
    if (entry.id === target.id || hostOf(entry) !== host) return false;
    const last = faultOf(options, entry, subject);
    return last !== undefined && (last.fault === observation.fault || (isSilent(last) && isSilent(observation)));
  });
  return others.length === 0 ? undefined : { subject, url: new URL(target.url).origin, others };
}

/** The fault of an endpoint that fails now, unless it is that of an older incident than the one of this subject. */
function faultOf(
  { records, now, roundMs }: SharedIncidentsOptions,
  { id, url }: CatalogEntry,
  subject: string,
): Observation | undefined {
  const record = records.get(id);
  const { last, open } = record ?? {};
  const isOwn = open !== undefined && open.subject !== subject;
  if (record?.url !== url || last === undefined || last.offline || last.maintenance || isOwn) return undefined;
  return last.ok || last.atMs < now() - roundMs ? undefined : last;
}

/** Closes shared incidents that no endpoint is down of any more: the one that was just left, or any. */
async function closeShared(options: SharedIncidentsOptions, left?: string): Promise<void> {
  const { records, catalog, now } = options;
  const all = Array.from(records.entries());
  const shared = all.filter(([, { open }]) => open?.endpoints !== undefined);
  if (shared.length === 0) return;
  const felt = new Set(all.map(([, { open }]) => open?.subject));
  for (const [subject, { open }] of shared) {
    if (open?.endpoints === undefined || felt.has(subject)) continue;
    if (left === undefined ? now() - open.openedMs < graceMs : subject !== left) continue;
    const known = open.endpoints.filter((id) => catalog.byId(id) !== undefined);
    const probed = known.flatMap((id) => records.get(id)?.last?.atMs ?? []);
    const atMs = probed.length === 0 ? now() : Math.max(...probed);
    await close(options, subject, { id: open.id, atMs, by: known.length === 0 ? "removed" : "recovered" });
  }
}

async function close(
  { outbox }: SharedIncidentsOptions,
  subject: string,
  { id, ...end }: { readonly id: string; readonly atMs: number; readonly by: "recovered" | "removed" },
): Promise<void> {
  await outbox.change(subject, (record) => {
    if (record?.open?.id !== id) return undefined;
    return closedRecord(subject, { ...record, state: "up", sinceMs: end.atMs }, end);
  });
}

/** Domains without which nothing is said of the network: of fewer, all may well be down at once. */
const leastDomains = 4;
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
function domainsNow({ catalog, records, now, roundMs }: SharedIncidentsOptions): readonly Seen[] {
  const fromMs = now() - roundMs;
  const domains = new Map<string, Seen>();
  for (const entry of catalog.entries) {
    const domain = domainOf(entry);
    if (domain === undefined) continue;
    const found = records.get(entry.id);
    const record = found?.url === entry.url ? found : undefined;
    if (hasFailedSince(record, fromMs)) continue;
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

const probesOf = (domains: readonly Seen[]): readonly Observation[] => domains.flatMap(({ probe }) => probe ?? []);

/** An endpoint that has failed without an answer since before a moment. */
function hasFailedSince(record: HealthRecord | undefined, fromMs: number): boolean {
  if (record?.last === undefined || !isSilent(record.last)) return false;
  return (record.open?.startedMs ?? record.trail[0]?.atMs ?? fromMs) < fromMs;
}

/** The faults that show that the network is lost, oldest first; none when it is not. Nothing up to `afterMs` counts. */
function lossIn(domains: readonly Seen[], afterMs: number): readonly Observation[] {
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
function isBack(domains: readonly Seen[], lostMs: number): boolean {
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
function isReachable(domains: readonly Seen[], entry: CatalogEntry, sinceMs: number): boolean {
  const own = domainOf(entry);
  if (domains.length < leastDomains || own === undefined) return true;
  const others = probesOf(domains.filter(({ domain }) => domain !== own));
  // This fault is one of those that make suspicious, and not seen yet.
  if (others.slice(0, suspicious - 1).every(isSilent)) return false;
  return others.some((probe) => probe.atMs > sinceMs && !isSilent(probe));
}

/** Endpoints to be asked before their turn as the network may have changed: one a domain, the oldest probe first. */
function toBeAsked(domains: readonly Seen[], isLost: boolean): readonly string[] {
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
