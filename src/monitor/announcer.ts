import type { Store } from "../store/store.ts";
import type { HealthBook } from "./health-book.ts";
import type { HealthRecord, IncidentNotice } from "./health-record.ts";
import type { IncidentBook } from "./incident-book.ts";

/**
 * Writes and tells of incidents that have opened or closed. They wait in the outbox of the endpoint's record, which is
 * written in the same step as the change itself, and leave it when everything is done: nothing is lost with a process, and
 * what was told may be told again.
 */
export interface Announcer {
  /** Empties the outbox of an endpoint. @throws what the store or `tell` throws; the notices then stay */
  settle(endpoint: string): Promise<void>;
  /** Does so for those that another process, or an earlier try, has left behind. */
  settleOld(): Promise<void>;
}

/** What an announcer works with. */
export interface AnnouncerOptions {
  readonly book: HealthBook;
  readonly incidents: Pick<IncidentBook, "write">;
  readonly store: Pick<Store, "acquire">;
  readonly owner: string;
  readonly now: () => number;
  /** Takes a notice over for good, at least once; told again, it is the same notice. */
  readonly tell: ((notice: IncidentNotice) => Promise<void>) | undefined;
  /** No other process works on the store: what is left behind is nobody else's. */
  readonly soleOwner: boolean;
  readonly onFault: (error: unknown) => void;
}

/** Time that whoever made a notice, or tries to tell it, gets for that. */
const patienceMs = 30_000;

/** When the change happened. */
const atMs = ({ incident }: IncidentNotice): number => incident.closedMs ?? incident.openedMs;

const nameOf = ({ kind, incident }: IncidentNotice): string => `${kind} ${incident.id}`;

/** An announcer over the outboxes of a book. */
export function createAnnouncer(options: AnnouncerOptions): Announcer {
  const { book, incidents, store, owner, now, tell, soleOwner, onFault } = options;
  const underWay = new Set<string>();
  const settle = async (endpoint: string): Promise<void> => {
    if (underWay.has(endpoint)) return;
    underWay.add(endpoint);
    try {
      for (let notices = outboxOf(book, endpoint); notices.length > 0; notices = outboxOf(book, endpoint)) {
        for (const notice of notices) {
          await incidents.write(notice.incident);
          await tell?.(notice);
        }
        await book.change(endpoint, (record) => record && withoutNotices(record, notices));
      }
    } finally {
      underWay.delete(endpoint);
    }
  };
  return {
    settle,
    async settleOld() {
      const nowMs = now();
      const isOld = (notice: IncidentNotice): boolean => soleOwner || Math.abs(nowMs - atMs(notice)) >= patienceMs;
      for (const endpoint of book.withNotices()) {
        if (!outboxOf(book, endpoint).some(isOld)) continue;
        try {
          const free = soleOwner || (await store.acquire(`monitor/settle/${endpoint}`, owner, patienceMs));
          if (free) await settle(endpoint);
        } catch (error) {
          onFault(error);
        }
      }
    },
  };
}

const outboxOf = (book: HealthBook, endpoint: string): readonly IncidentNotice[] => book.get(endpoint)?.outbox ?? [];

function withoutNotices(record: HealthRecord, notices: readonly IncidentNotice[]): HealthRecord | undefined {
  const told = new Set(notices.map(nameOf));
  const outbox = record.outbox.filter((notice) => !told.has(nameOf(notice)));
  return outbox.length === record.outbox.length ? undefined : { ...record, outbox };
}
