import { isDeepStrictEqual } from "node:util";
import { unknownId } from "../errors/unknown-id.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import { blankRecord, closedRecord, type HealthRecord, incidentAt, withIncident } from "./health-record.ts";
import type { Finding, NamedFinding, WatchedCatalog } from "./monitor.ts";
import type { HealthRepository } from "./repositories.ts";
import { findingName, hostOf, isShared } from "./subjects.ts";
import type { Outbox } from "./watchdog.ts";

interface FindingsOptions {
  readonly catalog: WatchedCatalog;
  readonly records: HealthRepository;
  readonly outbox: Outbox;
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
}

const mostOpen = 2_000;
const dayMs = 24 * 3_600_000;
const mostEvidence = 20;
const mostText = 300;
const mostRepair = 4_000;

/** Incidents that others than the prober report; each is a record among those of the endpoints. */
export function createFindings({ catalog, records, outbox, now, onFault }: FindingsOptions) {
  const isFull = (): boolean => {
    const open = Array.from(records.entries()).filter(([name, record]) => name.includes("~") && record.open);
    return open.length >= mostOpen;
  };
  const close = async (name: string, atMs: number): Promise<void> => {
    await outbox.change(name, (record) => record?.open && closedRecord(name, record, { atMs, by: "recovered" }));
  };
  const report = async (finding: Finding): Promise<void> => {
    const { endpoint } = finding;
    const entry = catalog.byId(endpoint);
    if (entry === undefined && !isShared(endpoint)) throw unknownId("endpoint", endpoint, catalog);
    const name = findingName(finding);
    if (records.get(name)?.open === undefined && isFull()) {
      onFault(new Error(`${mostOpen} reported incidents are open; one more of ${endpoint} is left out.`));
      return;
    }
    // What stands for a host in an endpoint's place has no URL.
    const url = entry?.url ?? "";
    await outbox.change(name, (record = blankRecord(url)) => reportedRecord(name, record, finding));
  };
  return {
    /**
     * Opens the incident of a finding, or goes on with it; the same again changes nothing.
     * @throws FedwayError `ENDPOINT_UNKNOWN`, `STORE_FAILED`
     */
    report,
    /** Closes its incident, if it is open. @throws FedwayError `STORE_FAILED` */
    clear: (named: NamedFinding): Promise<void> => close(findingName(named), named.atMs),
    /** One incident a host when its certificate ends soon, until it has another one. @throws FedwayError `STORE_FAILED` */
    async certificate(
      entry: CatalogEntry,
      { endMs, days }: { readonly endMs: number; readonly days: number },
    ): Promise<void> {
      const atMs = Math.floor(now());
      const host = hostOf(entry);
      const first = host === undefined ? undefined : catalog.entries.find((one) => hostOf(one) === host);
      const named = { endpoint: (first ?? entry).id, kind: "certificate", key: "tls", atMs } as const;
      const name = findingName(named);
      if (endMs - atMs > days * dayMs) return records.get(name)?.open && close(name, atMs);
      const summary = `The certificate of ${URL.parse(entry.url)?.host ?? entry.url} ends at ${new Date(endMs).toISOString()}.`;
      await report({ ...named, summary, evidence: [] });
    },
  };
}

/** The record of a finding with its open incident, continued with its present facts. */
function reportedRecord(name: string, record: HealthRecord, finding: Finding): HealthRecord {
  const { atMs, kind } = finding;
  const seen = finding.evidence.slice(0, mostEvidence);
  const details = {
    summary: finding.summary.slice(0, mostText).toWellFormed(),
    notes: seen.filter((item) => typeof item === "string").map((text) => text.slice(0, mostText).toWellFormed()),
    repair: finding.repair?.slice(0, mostRepair).toWellFormed(),
    led: seen.filter((item) => typeof item !== "string"),
  };
  const { open } = record;
  if (open) {
    const continued = { ...open, ...details };
    return isDeepStrictEqual(continued, open) ? record : { ...record, open: continued };
  }
  return withIncident(name, record, { ...incidentAt(name, atMs), kind, ...details });
}
