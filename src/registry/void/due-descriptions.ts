import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import type { JobKind, JobSchedule } from "../../jobs/job-queue.ts";
import type { CatalogEntry, EditableCatalog } from "../catalog/catalog.ts";
import type { DescriptionService } from "./description-service.ts";

interface DueOptions {
  readonly catalog: Pick<EditableCatalog, "byId" | "entries" | "document" | "onChange">;
  readonly descriptions: Pick<DescriptionService, "request" | "lastRun">;
  /** Whether a URL is of this process or of the operator's own network. */
  readonly isOwn: (url: string) => boolean;
  /** Whether an endpoint is to be left alone now: it is down, in maintenance, or its breaker is open. */
  readonly isResting: (entry: CatalogEntry) => boolean;
  readonly clock: Pick<Clock, "now">;
  /** Milliseconds after which a description proves nothing any more; 0: none ever does. */
  readonly maxAgeMs: number;
  readonly onFault: (error: unknown) => void;
}

const kindName = "describe-due";
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const weekMs = 7 * dayMs;
/** Unfinished work is gone on with after as long as it has taken so far, within these bounds. */
const [shortestWaitMs, longestWaitMs] = [10 * minuteMs, dayMs];
const mostEntries = 10_000;

/** Has endpoints described that nobody asked to describe. */
export type DueDescriptions = ReturnType<typeof createDueDescriptions>;

/**
 * Has endpoints described automatically. Hosted endpoints, those of the operator's own network and those that were registered over
 * the API are described when they come, and again before their facts are too old. Public endpoints of catalogue files are described when a query has
 * used them, and at most once a week. A description that is under way in any process is not asked for again.
 */
export function createDueDescriptions(options: DueOptions) {
  const { catalog, descriptions, isOwn, isResting, clock, maxAgeMs, onFault } = options;
  /** Entries that were looked at, and until when they need not be again. */
  const settled = new LRUCache<string, { readonly entry: CatalogEntry; readonly untilMs: number }>({
    max: mostEntries,
  });
  const waiting = new Set<string>();
  let working: Promise<void> | undefined;
  let isOpen = false;
  let ignore = (): void => {};

  const isRegistered = ({ id, url }: CatalogEntry): boolean =>
    isOwn(url) || catalog.document("endpoint", id)?.origin === "api";

  /** When an endpoint may be described next, and from when on unfinished work is too old, in milliseconds since the epoch. */
  const dueMs = async (entry: CatalogEntry): Promise<{ readonly at: number; readonly anew: number }> => {
    const last = await descriptions.lastRun(entry.id);
    if (last === undefined) return { at: 0, anew: 0 };
    const { finishedMs, startedMs, unfinished } = last;
    const anew = startedMs + (6 / 7) * (maxAgeMs || weekMs);
    if (!isRegistered(entry)) return { at: Math.max(finishedMs + weekMs, anew), anew };
    const changedMs = Date.parse(catalog.document("endpoint", entry.id)?.changedAt ?? "");
    if (startedMs < changedMs) return { at: 0, anew: 0 };
    const waitMs = Math.min(Math.max(finishedMs - startedMs, shortestWaitMs), longestWaitMs);
    return { at: unfinished ? finishedMs + waitMs : anew, anew };
  };

  const isSettled = (entry: CatalogEntry): boolean => {
    const known = settled.get(entry.id);
    return known?.entry === entry && known.untilMs > clock.now();
  };

  /** Has an endpoint described if that is due; says whether it was. */
  async function look(entry: CatalogEntry): Promise<boolean> {
    if (entry.interface !== "sparql" || isSettled(entry) || isResting(entry)) return false;
    const { id, url } = entry;
    const { at, anew } = await dueMs(entry);
    const now = clock.now();
    settled.set(id, { entry, untilMs: at <= now ? now + shortestWaitMs : at });
    if (at <= now) await descriptions.request(id, { priority: -1, again: anew <= now, isPolite: !isOwn(url) });
    return at <= now;
  }

  async function work(): Promise<void> {
    for (const id of waiting) {
      waiting.delete(id);
      const entry = catalog.byId(id);
      if (entry !== undefined && isOpen) await look(entry).catch(onFault);
    }
    working = undefined;
  }

  const add = (entries: readonly CatalogEntry[]): void => {
    if (!isOpen) return;
    for (const entry of entries) if (!isSettled(entry) && waiting.size < mostEntries) waiting.add(entry.id);
    // With nothing waiting it would end before it is noted as under way, and be noted for ever.
    if (waiting.size > 0) working ??= work();
  };
  const kind: JobKind = {
    name: kindName,
    validate: () => undefined,
    async run(_payload, { signal }) {
      const requested: string[] = [];
      for (const entry of catalog.entries) {
        if (!signal.aborted && isRegistered(entry) && (await look(entry))) requested.push(entry.id);
      }
      return { requested: requested.length };
    },
  };
  const schedule: JobSchedule = { name: kindName, kind: kindName, payload: {}, everyMs: minuteMs };
  return {
    kind,
    /** Looks for endpoints whose descriptions are due; one process of several does. */
    schedule,
    /** A query has asked these endpoints, by catalogue id. */
    used: (ids: readonly string[]): void => add(ids.flatMap((id) => catalog.byId(id) ?? [])),
    /** The facts of an endpoint were found to be wrong: describes it anew, a public one not before its time. */
    async renew(id: string): Promise<void> {
      const entry = catalog.byId(id);
      if (entry !== undefined && isRegistered(entry)) await descriptions.request(id, { again: true });
    },
    /** From now on, looks at entries when they come, change or are used. Not before the queue is started. */
    start(): void {
      isOpen = true;
      ignore = catalog.onChange(() => add(catalog.entries.filter(isRegistered)));
    },
    async close(): Promise<void> {
      isOpen = false;
      ignore();
      await working;
    },
  };
}
