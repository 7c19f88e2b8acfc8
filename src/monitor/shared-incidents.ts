import type { Catalog, CatalogEntry } from "../registry/catalog.ts";
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
import { domainsSeen, isBack, isReachable, leastDomains, lossIn, probesOf, toBeAsked } from "./network.ts";
import type { OpenIncident } from "./open-incident.ts";
import type { Announcer } from "./recorder.ts";
import { domainOf, hostOf, hostSubject, networkSubject, partSubject } from "./subjects.ts";

/** Sources of shared incidents. */
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
 * Nothing is kept in this module: the wanted state is worked out from the endpoints' records, which every process has in memory, and the
 * record of the host or the network is brought to that by compare-and-set. So it does not matter which process does it, nor
 * how often, nor what one that crashed has left.
 */
export function createSharedIncidents(options: SharedIncidentsOptions) {
  const { records } = options;
  const judgeNetwork = oneAtATime(createNetworkJudge(options));
  return {
    /** The observation, marked when it was made while the network was lost, as far as that is known now. */
    marked(target: Target, observation: Observation): Observation {
      if (!isSilent(observation) || observation.maintenance || domainOf(target) === undefined) return observation;
      const network = records.get(networkSubject);
      const wasLost = network?.state === "up" && observation.atMs <= (network.sinceMs ?? 0);
      return network?.open || wasLost ? { ...observation, offline: true } : observation;
    },
    /**
     * Rules with the facts beyond the endpoint that decide if an incident opens for it. @throws FedwayError `STORE_FAILED`
     */
    async rulesFor(target: Target, observation: Observation, rules: HealthRules): Promise<HealthRules> {
      if (observation.ok || observation.offline || observation.maintenance) return rules;
      const own = { ...rules, isReachable: (sinceMs: number) => isReachable(seen(options), target, sinceMs) };
      return { ...own, shared: await join(options, target, { observation, rules: own }) };
    },
    /** To be called after each probe. @throws FedwayError `STORE_FAILED` */
    async after(target: Target, observation: Observation, left: string | undefined): Promise<void> {
      if (left !== undefined) await closeShared(options, left);
      if (domainOf(target) === undefined) return;
      const isLost = records.get(networkSubject)?.open !== undefined;
      if (isLost || (isSilent(observation) && records.get(target.id)?.open === undefined)) await judgeNetwork();
    },
    /** For what a process that ended has left undone, and for endpoints that left the catalogue. @throws FedwayError `STORE_FAILED` */
    async sweep(): Promise<void> {
      await judgeNetwork();
      await closeShared(options);
    },
  };
}

const seen = ({ catalog, records, now, roundMs }: SharedIncidentsOptions) =>
  domainsSeen(catalog, records, now() - roundMs);

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
  const { records, announcer, now, callForProbe } = options;
  let askedMs = Number.NEGATIVE_INFINITY;
  const open = async (faults: readonly Observation[]): Promise<void> => {
    const [first] = faults;
    if (first === undefined) return;
    await announcer.change(networkSubject, (record = blankRecord("")) => {
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
    const domains = seen(options);
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
    await history.keep(id, await records.change(id, (one) => one && withdrawnFaults(one, lostMs)));
  }
}

/** Endpoints that fail alike, as the record named `subject` has them. */
interface Group {
  readonly subject: string;
  readonly url: string;
  readonly others: readonly Target[];
  readonly kind?: "network";
  readonly summary?: string;
}

/** Opens or joins the incident of a part of the hosts, or of the endpoint's host, when others there fail alike. */
async function join(
  options: SharedIncidentsOptions,
  target: Target,
  { observation, rules }: { readonly observation: Observation; readonly rules: HealthRules },
): Promise<SharedIncident | undefined> {
  const record = options.records.get(target.id);
  if (hostOf(target) === undefined || record?.url !== target.url || record.open) return undefined;
  const { open } = probedRecord(target.id, { record, observation }, rules);
  if (open === undefined || open.kind === "degraded" || open.reopenedMs !== undefined) return undefined;
  const group = partOf(options, target, { observation, open }) ?? hostGroup(options, target, observation);
  if (group === undefined) return undefined;
  const { subject, url, others, ...about } = group;
  const endpoints = [target, ...others].map(({ id }) => id).toSorted();
  const shared = await options.announcer.change(subject, (known = blankRecord(url)) =>
    sharedRecord(subject, known, { faults: open.led, endpoints, ...about }),
  );
  return shared?.open && { id: shared.open.id, subject };
}

/** The hosts that have answered before, when many of them fall silent at about the same time. */
function partOf(
  options: SharedIncidentsOptions,
  target: Target,
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

const domainCount = (entries: readonly Target[]): number => new Set(entries.map(domainOf)).size;

/** The endpoints of the host whose faults have one cause: they are of one kind, or no answer came in either. */
function hostGroup(options: SharedIncidentsOptions, target: Target, observation: Observation): Group | undefined {
  const host = hostOf(target) ?? "";
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
  { id, url }: Target,
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
  const felt = new Set(all.map(([, { open }]) => open?.subject));
  for (const [subject, { open }] of all) {
    if (open?.endpoints === undefined || felt.has(subject)) continue;
    if (left === undefined ? now() - open.openedMs < graceMs : subject !== left) continue;
    const known = open.endpoints.filter((id) => catalog.byId(id) !== undefined);
    const probed = known.flatMap((id) => records.get(id)?.last?.atMs ?? []);
    const atMs = probed.length === 0 ? now() : Math.max(...probed);
    await close(options, subject, { id: open.id, atMs, by: known.length === 0 ? "removed" : "recovered" });
  }
}

async function close(
  { announcer }: SharedIncidentsOptions,
  subject: string,
  { id, ...end }: { readonly id: string; readonly atMs: number; readonly by: "recovered" | "removed" },
): Promise<void> {
  await announcer.change(subject, (record) => {
    if (record?.open?.id !== id) return undefined;
    return closedRecord(subject, { ...record, state: "up", sinceMs: end.atMs }, end);
  });
}
