import type { Catalog, CatalogEntry } from "../registry/catalog/catalog.ts";
import {
  blankRecord,
  closedRecord,
  faultsSince,
  type HealthRecord,
  type HealthRules,
  type SharedIncident,
  sharedRecord,
  withdrawnFaults,
} from "./health-record.ts";
import { probedRecord } from "./probed-record.ts";
import type { HealthRepository } from "./health-repository.ts";
import type { History } from "./history.ts";
import { isSilent } from "./judgement.ts";
import type { Observation } from "./monitor.ts";
import { isBack, isReachable, leastDomains, lossIn, type NetworkView, networkView, toBeAsked } from "./network.ts";
import type { OpenIncident } from "./open-incident.ts";
import type { Announcer } from "./recorder.ts";
import { domainOf, hostOf, hostSubject, networkSubject, partSubject } from "./subjects.ts";

/** What shared incidents are made from. */
interface SharedIncidentsOptions {
  readonly catalog: Pick<Catalog, "entries" | "byId">;
  readonly records: HealthRepository;
  readonly history: Pick<History, "keep">;
  readonly announcer: Announcer;
  readonly now: () => number;
  /** Milliseconds in which every endpoint has a turn. */
  readonly roundMs: number;
  /** Calls for a probe before its turn. */
  readonly callForProbe: (endpoint: string) => void;
}

type Target = Pick<CatalogEntry, "id" | "url">;

/** Share of the domains that fail when a part of them is out of reach. */
const partShare = 0.25;
const askEveryMs = 30_000;
/** Time for the endpoint that opened a shared incident to be written after it. */
const graceMs = 60_000;

/** Incidents of several endpoints at once: of one host, of a part of the hosts, and of the network that this service is in. */
export type SharedIncidents = ReturnType<typeof createSharedIncidents>;

/**
 * Nothing is kept here: what is to be is worked out from the endpoints' records, which every process has in memory, and the
 * record of the host or the network is brought to that by compare-and-set. So it does not matter which process does it, nor
 * how often, nor what one that crashed has left.
 */
export function createSharedIncidents(options: SharedIncidentsOptions) {
  const { catalog, records, now, roundMs } = options;
  const view = (): NetworkView => networkView(catalog.entries, (id) => records.get(id), now() - roundMs);
  const lookAtNetwork = once(createNetworkLook(options, view));
  return {
    /** The observation, marked when it was made while the network was lost, as far as that is known now. */
    marked(target: Target, observation: Observation): Observation {
      if (!isSilent(observation) || observation.maintenance || domainOf(target) === undefined) return observation;
      const network = records.get(networkSubject);
      const wasLost = network?.state === "up" && observation.atMs <= (network.sinceMs ?? 0);
      return network?.open || wasLost ? { ...observation, offline: true } : observation;
    },
    /** What is known beyond the endpoint when an incident may open for it. @throws FedwayError `STORE_FAILED` */
    async rulesFor(target: Target, observation: Observation, rules: HealthRules): Promise<HealthRules> {
      if (observation.ok || observation.offline || observation.maintenance) return rules;
      const own = { ...rules, isReachable: (sinceMs: number) => isReachable(view(), target, sinceMs) };
      return { ...own, shared: await join(options, { target, observation, rules: own }) };
    },
    /** To be called after each probe. @throws FedwayError `STORE_FAILED` */
    async after(target: Target, observation: Observation, left: string | undefined): Promise<void> {
      if (left !== undefined) await closeShared(options, left);
      if (domainOf(target) === undefined) return;
      const isLost = records.get(networkSubject)?.open !== undefined;
      if (isLost || (isSilent(observation) && records.get(target.id)?.open === undefined)) await lookAtNetwork();
    },
    /** For what a process that ended has left undone, and for endpoints that left the catalogue. @throws FedwayError `STORE_FAILED` */
    async sweep(): Promise<void> {
      await lookAtNetwork();
      await closeShared(options);
    },
  };
}

/** Runs one after the other; calls that come meanwhile share one more run. */
function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    const current = run().finally(() => {
      if (running === current) running = undefined;
    });
    running = current;
    return current;
  };
  return () => {
    if (running === undefined) return begin();
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return begin();
      });
    return next;
  };
}

/** Opens and closes the incident of the network, and has others asked where it may have changed. */
function createNetworkLook(options: SharedIncidentsOptions, view: () => NetworkView): () => Promise<void> {
  const { records, now, callForProbe } = options;
  let askedMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const seen = view();
    const known = records.get(networkSubject);
    if (known?.open === undefined) await openNetwork(options, seen, known?.sinceMs ?? 0);
    else await closeNetwork(options, seen, known.open);
    const lostMs = records.get(networkSubject)?.open?.startedMs;
    if (lostMs !== undefined) await withdraw(options, lostMs);
    if (Math.abs(now() - askedMs) < askEveryMs) return;
    const asked = toBeAsked(seen, lostMs !== undefined);
    if (asked.length > 0) askedMs = now();
    for (const endpoint of asked) callForProbe(endpoint);
  };
}

async function openNetwork({ announcer }: SharedIncidentsOptions, seen: NetworkView, closedMs: number): Promise<void> {
  const faults = lossIn(seen, closedMs);
  const [first] = faults;
  if (first === undefined) return;
  await announcer.change(networkSubject, (record = blankRecord("")) => {
    // Another process has opened it, or has seen its end already.
    if (record.open || (record.sinceMs ?? 0) >= first.atMs) return undefined;
    return sharedRecord(networkSubject, record, { faults, kind: "network" });
  });
}

async function closeNetwork(options: SharedIncidentsOptions, seen: NetworkView, open: OpenIncident): Promise<void> {
  if (!isBack(seen, open.startedMs)) return;
  const atMs = seen.probed.find(({ probe }) => !isSilent(probe))?.probe.atMs ?? options.now();
  await close(options, { subject: networkSubject, id: open.id, atMs, by: "recovered" });
}

/** Faults that came before the loss was seen count no more. */
async function withdraw({ records, catalog, history }: SharedIncidentsOptions, lostMs: number): Promise<void> {
  // Entries as the catalogue has them: of a copy, the domain is looked up anew.
  for (const entry of catalog.entries) {
    const { id } = entry;
    const record = records.get(id);
    if (record === undefined || domainOf(entry) === undefined || faultsSince(record, lostMs).length === 0) continue;
    await history.keep(id, await records.change(id, (one) => one && withdrawnFaults(one, lostMs)));
  }
}

interface Opening {
  readonly target: Target;
  readonly observation: Observation;
  readonly rules: HealthRules;
}

/** Opens or joins the incident of a part of the hosts, or of the endpoint's host, when others there fail alike. */
async function join(options: SharedIncidentsOptions, opening: Opening): Promise<SharedIncident | undefined> {
  const { records } = options;
  const { target, observation, rules } = opening;
  const host = hostOf(target);
  const record = records.get(target.id);
  if (host === undefined || record === undefined || record.url !== target.url || record.open) return undefined;
  const open = probedRecord(target.id, { record, observation }, rules).open;
  if (open === undefined || open.kind === "degraded") return undefined;
  const subject = hostSubject(host);
  return (
    (await joinPart(options, opening, open)) ??
    joinWith(options, { subject, url: new URL(target.url).origin, open, target }, (entry) => {
      const last = hostOf(entry) === host ? failing(options, entry, subject) : undefined;
      return last !== undefined && isAlike(last, observation);
    })
  );
}

/** Two faults have one cause when they are of one kind, or no answer came in either. */
const isAlike = (left: Observation, right: Observation): boolean =>
  left.fault === right.fault || (isSilent(left) && isSilent(right));

/** An endpoint that fails now, and whose fault is not that of an older incident than the one of this subject. */
function failing(
  { records, now, roundMs }: SharedIncidentsOptions,
  { id, url }: Target,
  subject: string,
): Observation | undefined {
  const record = records.get(id);
  const { last, open } = record ?? {};
  const isOwn = open !== undefined && open.subject !== subject;
  if (record?.url !== url || last === undefined || last.offline || last.maintenance || isOwn) return undefined;
  return last.ok || last.atMs < now() - roundMs ? undefined : last;
}

const hasAnswered = ({ past, running }: HealthRecord): boolean =>
  [...past, running].some((hour) => (hour?.good ?? 0) > 0);

const domainsOf = (entries: readonly Target[]): number => new Set(entries.map(domainOf)).size;

/** The incident of a part of the hosts that have answered before, when many of them fall silent at about the same time. */
async function joinPart(
  options: SharedIncidentsOptions,
  { target, observation }: Opening,
  open: OpenIncident,
): Promise<SharedIncident | undefined> {
  const { catalog, records, roundMs } = options;
  if (!isSilent(observation)) return undefined;
  const answered = ({ id }: Target): boolean => hasAnswered(records.get(id) ?? blankRecord(""));
  const fails = (entry: Target): boolean => {
    const last = answered(entry) ? failing(options, entry, partSubject) : undefined;
    return last !== undefined && isSilent(last);
  };
  const isLive = (entry: Target): boolean => {
    const own = records.get(entry.id)?.open;
    return domainOf(entry) !== undefined && (own === undefined || own.subject === partSubject);
  };
  const live = catalog.entries.filter(isLive);
  const [silent, all] = [domainsOf(live.filter((entry) => entry.id === target.id || fails(entry))), domainsOf(live)];
  const part = records.get(partSubject)?.open;
  const isLater = part !== undefined && open.startedMs - part.startedMs <= 2 * roundMs;
  if (!answered(target) || (!isLater && (silent < leastDomains || silent < partShare * all))) return undefined;
  const summary = `${silent} of ${all} hosts cannot be reached from this service; the others answer.`;
  return joinWith(options, { subject: partSubject, url: "", open, target, summary }, fails);
}

interface Joining {
  readonly subject: string;
  readonly url: string;
  readonly open: OpenIncident;
  readonly target: Target;
  readonly summary?: string;
}

/** The incident under this subject with the endpoint and all those that fit; undefined when none does and none is open. */
async function joinWith(
  { catalog, records, announcer }: SharedIncidentsOptions,
  { subject, url, open, target, summary }: Joining,
  fits: (entry: Target) => boolean,
): Promise<SharedIncident | undefined> {
  const others = catalog.entries.filter((entry) => entry.id !== target.id && fits(entry));
  if (others.length === 0 && (summary === undefined || records.get(subject)?.open === undefined)) return undefined;
  const endpoints = [target, ...others].map(({ id }) => id).toSorted();
  const about = summary === undefined ? {} : { kind: "network" as const, summary };
  const shared = await announcer.change(subject, (known = blankRecord(url)) =>
    sharedRecord(subject, known, { faults: open.led, endpoints, ...about }),
  );
  return shared?.open && { id: shared.open.id, subject };
}

/** Closes shared incidents that no endpoint is down of any more: the one that was just left, or any. */
async function closeShared(options: SharedIncidentsOptions, left?: string): Promise<void> {
  const { records, catalog, now } = options;
  const all = Array.from(records.entries());
  const felt = new Set(all.map(([, { open }]) => open?.subject));
  for (const [subject, { open }] of all) {
    if (open?.endpoints === undefined || felt.has(subject)) continue;
    if (left === undefined ? now() - open.openedMs < graceMs : subject !== left) continue;
    const known = open.endpoints.filter((id) => catalog.byId(id) !== undefined);
    const probed = known.flatMap((id) => records.get(id)?.last?.atMs ?? []);
    const atMs = probed.length === 0 ? now() : Math.max(...probed);
    await close(options, { subject, id: open.id, atMs, by: known.length === 0 ? "removed" : "recovered" });
  }
}

interface Closing {
  readonly subject: string;
  readonly id: string;
  readonly atMs: number;
  readonly by: "recovered" | "removed";
}

async function close({ announcer }: SharedIncidentsOptions, { subject, id, atMs, by }: Closing): Promise<void> {
  await announcer.change(subject, (record) => {
    if (record?.open?.id !== id) return undefined;
    return closedRecord(subject, { ...record, state: "up", sinceMs: atMs }, { atMs, by });
  });
}
