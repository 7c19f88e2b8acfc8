import type { Catalog, CatalogEntry } from "../registry/catalog/catalog.ts";
import {
  blankRecord,
  closedRecord,
  faultsSince,
  type HealthRecord,
  type HealthRules,
  probedRecord,
  type SharedIncident,
  sharedRecord,
  withdrawnFaults,
} from "./health-record.ts";
import type { HealthRepository } from "./health-repository.ts";
import type { History } from "./history.ts";
import type { Incident, Observation } from "./monitor.ts";
import type { OpenIncident } from "./open-incident.ts";
import { isBack, isReachable, isSilent, lossIn, type NetworkView, networkView, toBeAsked } from "./network.ts";
import type { Announcer } from "./recorder.ts";
import { domainOf, hostOf, hostSubject, networkSubject, subjectOf } from "./subjects.ts";

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

const askEveryMs = 30_000;
/** Time for the endpoint that opened a host's incident to be written after it. */
const graceMs = 60_000;

/** Incidents of several endpoints at once: of one host, and of the network that this service is in. */
export type SharedIncidents = ReturnType<typeof createSharedIncidents>;

/**
 * Nothing is kept here: what is to be is worked out from the endpoints' records, which every process has in memory, and the
 * record of the host or the network is brought to that by compare-and-set. So it does not matter which process does it, nor
 * how often, nor what one that crashed has left.
 */
export function createSharedIncidents(options: SharedIncidentsOptions) {
  const { records, catalog, now, roundMs } = options;
  const view = (): NetworkView => networkView(catalog.entries, (id) => records.get(id), now() - roundMs);
  const lookAtNetwork = once(createNetworkLook(options, view));
  return {
    /** The observation, marked when it was made while the network was lost, as far as that is known now. */
    marked(target: Target, observation: Observation): Observation {
      if (observation.ok || observation.maintenance || domainOf(target) === undefined) return observation;
      const network = records.get(networkSubject);
      const wasLost = isSilent(observation) && observation.atMs <= (network?.sinceMs ?? 0);
      return network?.open || (network?.state === "up" && wasLost) ? { ...observation, offline: true } : observation;
    },
    /**
     * What is known beyond the endpoint when an incident may open for it. @throws FedwayError `STORE_FAILED`
     */
    async rulesFor(target: Target, observation: Observation, rules: HealthRules): Promise<HealthRules> {
      if (observation.ok || observation.offline || observation.maintenance) return rules;
      const own = { ...rules, isReachable: (sinceMs: number) => isReachable(view(), target, sinceMs) };
      return { ...own, shared: await joinHost(options, { target, observation, rules: own }) };
    },
    /** To be called after each probe. @throws FedwayError `STORE_FAILED` */
    async after(target: Target, observation: Observation, left: string | undefined): Promise<void> {
      if (left !== undefined) await closeHosts(options, left);
      if (domainOf(target) === undefined) return;
      const isLost = records.get(networkSubject)?.open !== undefined;
      if (isLost || (isSilent(observation) && records.get(target.id)?.open === undefined)) await lookAtNetwork();
    },
    /** For what a process that ended has left undone, and for endpoints that left the catalogue. @throws FedwayError `STORE_FAILED` */
    async sweep(): Promise<void> {
      await lookAtNetwork();
      await closeHosts(options);
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

/** Opens and closes the incident of the network. */
function createNetworkLook(options: SharedIncidentsOptions, view: () => NetworkView): () => Promise<void> {
  const { records, now, callForProbe } = options;
  let askedMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const seen = view();
    const known = records.get(networkSubject);
    if (known?.open === undefined) await openNetwork(options, seen);
    else if (isBack(seen, known.open.startedMs)) await closeNetwork(options, seen, known.open.id);
    const lostMs = records.get(networkSubject)?.open?.startedMs;
    if (lostMs !== undefined) await withdraw(options, lostMs);
    if (Math.abs(now() - askedMs) < askEveryMs) return;
    const asked = toBeAsked(seen, lostMs !== undefined);
    if (asked.length > 0) askedMs = now();
    for (const endpoint of asked) callForProbe(endpoint);
  };
}

async function openNetwork(options: SharedIncidentsOptions, seen: NetworkView): Promise<void> {
  const closedMs = options.records.get(networkSubject)?.sinceMs ?? 0;
  const faults = lossIn(seen, closedMs);
  const [first] = faults ?? [];
  if (faults === undefined || first === undefined) return;
  await options.announcer.change(networkSubject, (record = blankRecord("")) => {
    // Another process has opened it, or has seen its end already.
    if (record.open || (record.sinceMs ?? 0) >= first.atMs) return undefined;
    return sharedRecord(networkSubject, record, { faults });
  });
}

async function closeNetwork(options: SharedIncidentsOptions, { probed }: NetworkView, id: string): Promise<void> {
  const atMs = probed.find(({ probe }) => !isSilent(probe))?.probe.atMs ?? options.now();
  await options.announcer.change(networkSubject, (record) => {
    if (record?.open?.id !== id) return undefined;
    return closedRecord(networkSubject, { ...record, state: "up", sinceMs: atMs }, { atMs, by: "recovered" });
  });
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

/** Opens or joins the incident of the host, when one opens for the endpoint and others there fail alike. */
async function joinHost(options: SharedIncidentsOptions, opening: Opening): Promise<SharedIncident | undefined> {
  const { records, now, roundMs, catalog } = options;
  const { target, observation, rules } = opening;
  const host = hostOf(target);
  const record = records.get(target.id);
  if (host === undefined || record === undefined || record.url !== target.url || record.open) return undefined;
  const opened = probedRecord(target.id, { record, observation }, rules).open;
  if (opened === undefined) return undefined;
  const subject = hostSubject(host);
  const fails = (one: HealthRecord | undefined): boolean =>
    one?.last !== undefined && one.last.atMs >= now() - roundMs && isAlike(one.last, observation);
  const others = catalog.entries.filter((entry) => {
    const one = records.get(entry.id);
    const isOwn = one?.open !== undefined && one.open.subject !== subject;
    return entry.id !== target.id && hostOf(entry) === host && !isOwn && one?.url === entry.url && fails(one);
  });
  if (others.length === 0) return undefined;
  const endpoints = [target, ...others].map(({ id }) => id).toSorted();
  const shared = await options.announcer.change(subject, (known = blankRecord(new URL(target.url).origin)) =>
    sharedRecord(subject, known, { faults: opened.led, endpoints }),
  );
  return shared?.open && { id: shared.open.id, subject };
}

/** Two faults have one cause when they are of one kind, or no answer came in either. */
const isAlike = (left: Observation, right: Observation): boolean =>
  !left.ok && !left.offline && !left.maintenance && (left.fault === right.fault || (isSilent(left) && isSilent(right)));

/** Closes the incidents of hosts none of whose endpoints is down any more: of one that was just left, or of any. */
async function closeHosts(options: SharedIncidentsOptions, left?: string): Promise<void> {
  const { records, now } = options;
  const all = Array.from(records.entries());
  const felt = new Set(all.map(([, { open }]) => open?.subject));
  const isOver = (subject: string, { openedMs }: OpenIncident): boolean =>
    left === undefined ? now() - openedMs >= graceMs : subject === left;
  for (const [subject, { open }] of all) {
    if (open === undefined || subjectOf({ endpoint: subject }).kind !== "host" || felt.has(subject)) continue;
    if (isOver(subject, open)) await closeHost(options, subject, open);
  }
}

async function closeHost(options: SharedIncidentsOptions, subject: string, open: OpenIncident): Promise<void> {
  const { records, catalog, now } = options;
  const left = (open.endpoints ?? []).filter((id) => catalog.byId(id) !== undefined);
  const by: Incident["closedBy"] = left.length === 0 ? "removed" : "recovered";
  const probed = left.flatMap((id) => records.get(id)?.last?.atMs ?? []);
  const atMs = probed.length === 0 ? now() : Math.max(...probed);
  await options.announcer.change(subject, (one) => {
    if (one?.open?.id !== open.id) return undefined;
    return closedRecord(subject, { ...one, state: "up", sinceMs: atMs }, { atMs, by });
  });
}
